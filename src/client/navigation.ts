import type { SignInOptions, SignOutOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import type { SessionState } from "./session-state.js";
import type { Session } from "./session.js";
import { SignInError } from "./sign-in-error.js";
import { signedIn } from "./waiting-requests.js";

/** A promise that the page does not outlive. */
const pending = () => new Promise<never>(() => {});

export function signInWith<ClientData extends object>(
  session: Session<ClientData>,
  env: Environment,
) {
  return async ({ returnTo, params, popup }: SignInOptions = {}): Promise<
    SessionState<ClientData>
  > => {
    const { href } = env.location;
    const login = (page: string) =>
      `${session.mount}login/?${new URLSearchParams({
        ...params,
        scheme: "PRESERVE_ORIGIN_QP",
        origin_url: new URL(page, href).href,
      }).toString()}`;
    if (!popup) {
      env.location.assign(login(returnTo ?? href));
      return pending();
    }
    const attempt = env.crypto.getRandomValues(new Uint32Array(4)).join("-");
    const opened = env.open(
      login(`${session.mount}popup?attempt=${attempt}`),
      "_blank",
      "popup,width=500,height=700",
    );
    if (!opened) throw new Error("Blocked: needs a click.");
    // A page of the provider must not be able to navigate this page.
    opened.opener = null;
    const { status } = session.getState();
    const failed = new AbortController();
    await new Promise<void>((resolve) => {
      const end = (failure?: string) => {
        if (failure) failed.abort(new SignInError(failure));
        resolve();
      };
      // Any sign-in of a signed-out user counts, even if the window cannot report it.
      if (status === "signed-out") resolve();
      session.attempts.set(attempt, end);
      // A provider's page with Cross-Origin-Opener-Policy makes the window look closed.
      session.listen("focus", () => {
        if (opened.closed)
          void session.refresh().then((next) => {
            if (next.status === status) end("cancelled");
          });
      });
    });
    return signedIn(session, failed.signal);
  };
}

export function signOutWith(session: Session<object>, env: Environment) {
  return async ({ everywhere }: SignOutOptions = {}): Promise<never> => {
    if (everywhere) {
      const init = {
        method: "POST",
        body: new URLSearchParams({ end: "others" }),
        headers: { Accept: "application/json" },
      };
      const { ok, status } = await env.fetch(`${session.mount}sessions`, init);
      if (!ok) throw new Error(`Not ended: ${status}. Check IDP_SESSIONS_PAGE.`);
    }
    session.leave();
    env.location.assign(`${session.mount}logout/`);
    return pending();
  };
}
