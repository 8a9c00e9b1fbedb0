import type { SignInOptions, SignOutOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import type { Session } from "./session.js";
import type { SessionState } from "./session-state.js";

/** A promise that the page does not outlive. */
const pending = () => new Promise<never>(() => {});

export function signInWith<ClientData extends object>(session: Session<ClientData>, env: Environment) {
  return async ({ returnTo, params, popup }: SignInOptions = {}): Promise<SessionState<ClientData>> => {
    const { href } = env.location;
    const login = (own: Record<string, string>) => `${session.mount}login/?${new URLSearchParams({ ...params, ...own }).toString()}`;
    if (!popup) {
      env.location.assign(login({ scheme: "PRESERVE_ORIGIN_QP", origin_url: new URL(returnTo ?? href, href).href }));
      return pending();
    }
    const attempt = env.crypto.getRandomValues(new BigUint64Array(2)).join("-");
    const opened = env.open(login({ response: "popup", attempt }), "_blank", "popup,width=500,height=700");
    if (!opened) throw new Error("The window was blocked: call signIn in a click handler.");
    // A page of the provider must not be able to navigate this page.
    opened.opener = null;
    const wasSignedIn = session.getState().status === "signed-in";
    return new Promise((resolve) => {
      const check = () => {
        const state = session.getState();
        if (state.status !== "signed-in") return;
        stop();
        resolve(state);
      };
      // Without the popup's hint, any sign-in counts; a user who is signed in already is only known by the hint.
      const stop = session.subscribe(() => wasSignedIn || check());
      session.onAttempt(attempt, check);
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
      if (!ok) throw new Error(`The other sessions did not end: status ${status}. Check IDP_SESSIONS_PAGE.`);
    }
    session.leave();
    env.location.assign(`${session.mount}logout/`);
    return pending();
  };
}
