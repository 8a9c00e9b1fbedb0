import type { SignInOptions, SignOutOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import type { SessionState } from "./session-state.js";
import type { Session } from "./session.js";
import { SignInError } from "./sign-in-error.js";

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
    return new Promise((resolve, reject) => {
      /** Of the user who was signed in before. */
      let account: string | null = null;
      // Of a signed-out user any sign-in counts, even if the window cannot report it.
      let counts = false;
      const settle = (failure?: string) => {
        const state = session.getState();
        account ??= state.account;
        counts ||= state.status === "signed-out";
        if (failure) reject(new SignInError(failure));
        else if (counts && state.status === "signed-in") resolve(state);
        else return;
        stop();
        env.removeEventListener("focus", watch);
      };
      const stop = session.subscribe(() => settle());
      // A provider's page with Cross-Origin-Opener-Policy makes the window look closed.
      const watch = () => {
        if (opened.closed)
          void session.refresh().then((next) => {
            // Another user has signed in, and the window was closed before it could report it.
            counts ||= next.account !== account;
            settle();
            if (next.status.startsWith("signed")) settle("cancelled");
          });
      };
      session.listen("focus", watch);
      session.attempts.set(attempt, (failure) => {
        settle(failure);
        counts = true;
        // The probe that the report has started.
        void session.refresh().then(() => settle());
      });
      settle();
    });
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
