import type { SignInOptions, SignOutOptions, StepUpResult } from "./client-interface.js";
import type { Environment } from "./environment.js";
import type { SessionState } from "./session-state.js";
import type { LoginParameters, Session } from "./session.js";
import { SignInError } from "./sign-in-error.js";

/** A promise that the page does not outlive. */
const pending = () => new Promise<never>(() => {});

/** Parameters of a login that say themselves where it goes: the session's provider may be another. */
const CHOICES = ["provider", "iss", "api"];

/** The address of a login that leads back to a page: at the session's provider, if it is known. */
function loginUrl(session: Session<object>, page: string | URL, params?: LoginParameters): string {
  const own = { scheme: "PRESERVE_ORIGIN_QP", origin_url: page };
  const all = Object.assign({}, ...session.waiting.keys(), params, own) as Record<string, string>;
  const provider = session.tab().provider;
  if (provider && !CHOICES.some((name) => name in all)) all["provider"] = provider;
  // Empty: the user chooses.
  if (!all["provider"]) delete all["provider"];
  return `${session.mount}login/?${String(new URLSearchParams(all))}`;
}

/**
 * Returns what opens a login in a new window. The result is the state after the sign-in, `blocked`
 * if the browser does not open the window, or the code with which the login failed.
 */
export function popupOf<ClientData extends object>(session: Session<ClientData>, env: Environment) {
  return (params?: LoginParameters): Promise<SessionState<ClientData> | string> =>
    new Promise((resolve) => {
      const attempt = env.crypto.getRandomValues(new Uint32Array(4)).join("-");
      const opened =
        session.isVisible() &&
        env.open(
          loginUrl(session, `${session.mount}popup?attempt=${attempt}`, params),
          "_blank",
          "width=500,height=700",
        );
      if (!opened) {
        resolve("blocked");
        return;
      }
      // A page of the provider must not be able to navigate this page.
      opened.opener = null;
      /** Of the user who was signed in before. */
      let account: string | null = null;
      // Of a signed-out user any sign-in counts, even if the window cannot report it.
      let counts = false;
      let isGone = false;
      const settle = (result: SessionState<ClientData> | string) => {
        resolve(result);
        stop();
        session.attempts.delete(attempt);
        env.removeEventListener("focus", watch);
      };
      const update = () => {
        const state = session.getState();
        account ??= state.account;
        // Another user may have signed in, and the window was closed before it could report it.
        counts ||= state.status === "signed-out" || (isGone && state.account !== account);
        if (counts && state.status === "signed-in") settle(state);
        else if (isGone && state.status.startsWith("signed")) settle("cancelled");
      };
      const stop = session.subscribe(update);
      const check = () => void session.refresh().then(update);
      // A provider's page with Cross-Origin-Opener-Policy makes the window look closed.
      const watch = () => {
        isGone = opened.closed;
        if (isGone) check();
      };
      session.listen("focus", watch);
      session.attempts.set(attempt, (failure) => {
        counts = true;
        if (failure) settle(failure);
        // The probe that the report has started.
        else check();
      });
      update();
    });
}

export function signInWith<ClientData extends object>(
  session: Session<ClientData>,
  env: Environment,
  openPopup: ReturnType<typeof popupOf<ClientData>>,
) {
  return async ({ returnTo, params, popup }: SignInOptions = {}): Promise<
    SessionState<ClientData>
  > => {
    if (!popup) {
      const { href } = env.location;
      env.location.assign(loginUrl(session, new URL(returnTo ?? href, href), params));
      return pending();
    }
    const result = await openPopup(params);
    if (typeof result === "string") throw new SignInError(result);
    return result;
  };
}

/** Returns the step-up in a new window. Two at once share the window. */
export function stepUpWith(
  session: Session<object>,
  openPopup: ReturnType<typeof popupOf<object>>,
) {
  let running: Promise<StepUpResult> | undefined;
  const open = async (params: LoginParameters): Promise<StepUpResult> => {
    const account = session.tab().account;
    const result = await openPopup(params);
    if (result === "blocked" || result === "cancelled") return result;
    return typeof result === "string" || (account && account !== result.account)
      ? "failed"
      : "done";
  };
  return (params: LoginParameters) =>
    (running ??= open(params).finally(() => (running = undefined)));
}

export function signOutWith(session: Session<object>, env: Environment) {
  return async ({ everywhere }: SignOutOptions = {}): Promise<never> => {
    if (everywhere) {
      const { ok, status } = await env.fetch(`${session.mount}sessions`, {
        method: "POST",
        body: new URLSearchParams({ end: "others" }),
        headers: { Accept: "application/json" },
      });
      if (!ok) throw new Error(`Check IDP_SESSIONS_PAGE: ${status}`);
    }
    session.leave();
    env.location.assign(`${session.mount}logout/`);
    return pending();
  };
}
