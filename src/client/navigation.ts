import type { SignInOptions, SignOutOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import type { Session } from "./session.js";
import type { SessionState } from "./session-state.js";

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
    const login = (own: Record<string, string>) =>
      `${session.mount}login/?${new URLSearchParams({ ...params, ...own }).toString()}`;
    if (!popup) {
      env.location.assign(
        login({ scheme: "PRESERVE_ORIGIN_QP", origin_url: new URL(returnTo ?? href, href).href }),
      );
      return pending();
    }
    const attempt = env.crypto.getRandomValues(new BigUint64Array(2)).join("-");
    const opened = env.open(
      login({ response: "popup", attempt }),
      "_blank",
      "popup,width=500,height=700",
    );
    if (!opened) throw new Error("Blocked: needs a click.");
    // A page of the provider must not be able to navigate this page.
    opened.opener = null;
    return new Promise((resolve) => {
      // Without the popup's hint, any sign-in of a signed-out user counts.
      let counts = session.getState().status === "signed-out";
      const check = () => {
        const state = session.getState();
        if (!counts || state.status !== "signed-in") return;
        stop();
        resolve(state);
      };
      const stop = session.subscribe(check);
      session.onAttempt(attempt, () => {
        counts = true;
        check();
      });
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
