import type { EndReason } from "../record/probe.js";
import type { Environment } from "./environment.js";
import type { Session } from "./session.js";
import { UserChangedError } from "./user-changed-error.js";

/**
 * Returns the client's `fetch`: a request that meets the end of the session waits until the user
 * has signed in again.
 *
 * @param navigate navigates to the login instead of waiting; undefined: waits
 */
export function waitingFetch(
  session: Session<object>,
  env: Environment,
  navigate: (() => Promise<unknown>) | undefined,
) {
  let hasWarned = false;

  /** @param copy what to send after the user has signed in again; absent: returns the 401 */
  const send = async (request: Request, copy?: Request): Promise<Response> => {
    const generation = session.generation();
    const account = session.account();
    const response = await env.fetch(request);
    if (response.status !== 401) return response;
    const body = (await response
      .clone()
      .json()
      .catch(() => null)) as Unauthenticated | null;
    if (!body?.login_url && !hasWarned) {
      hasWarned = true;
      env.console.warn(`401 has no login_url: ${request.url}`);
    }
    // The guard names our login without a query. One with a query asks for more than a sign-in, and
    // another API names another login.
    if (env.location.origin + (body?.login_url as string) !== `${session.mount}login/`)
      return response;

    // The user may have signed in since the request was sent.
    if (generation !== session.generation() && session.getState().status !== "signed-out")
      await session.probe();
    else session.ended(body?.reason);
    if (!copy) return response;
    if (navigate && session.getState().status === "signed-out") await navigate();
    await signedIn(session, copy.signal);
    if (account && account !== session.account()) {
      throw new UserChangedError("Another user signed in.");
    }
    return send(copy);
  };

  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new env.Request(input, init);
    if (new URL(request.url).origin !== env.location.origin) {
      throw new TypeError(`${request.url} is on another origin.`);
    }
    request.headers.set("X-Idpauth", "1");
    return send(request, request.clone());
  };
}

/** The body of the guard's 401, unless it is another's. */
interface Unauthenticated {
  readonly reason?: EndReason;
  readonly login_url?: string;
}

/** Resolves when the user is signed in. Rejects when the signal aborts. */
function signedIn(session: Session<object>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (signal.aborted) reject(signal.reason as Error);
      else if (session.getState().status === "signed-in") resolve();
      else return;
      stop();
    };
    const stop = session.subscribe(check);
    signal.addEventListener("abort", check);
    check();
  });
}
