import type { EndReason } from "../record/probe.js";
import type { FetchOptions } from "./client-interface.js";
import type { Environment } from "./environment.js";
import type { stepUpWith } from "./navigation.js";
import type { Session } from "./session.js";
import { UserChangedError } from "./user-changed-error.js";

/** What helps a request that gets a 401. */
interface Logins {
  readonly stepUp: ReturnType<typeof stepUpWith>;
  /** Navigates to the login instead of waiting; false: waits. */
  readonly navigate: false | (() => Promise<unknown>);
}

/**
 * Returns the client's `fetch`: a request that meets the end of the session waits until the user
 * has signed in again, and one that asks for it, for a step-up.
 */
export function waitingFetch(
  session: Session<object>,
  env: Environment,
  { stepUp, navigate }: Logins,
) {
  let hasWarned = false;

  /** A request that may not wait for what it needs gets the 401. */
  const send = async (
    request: Request,
    mayWait: boolean,
    mayStepUp: boolean | undefined,
  ): Promise<Response> => {
    const copy = request.clone();
    // Ends the wait. The request that is then sent rejects with the signal's reason.
    const aborted = new Promise((resolve) => copy.signal.addEventListener("abort", resolve));
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
      env.console.warn(`No login_url: ${request.url}`);
    }
    // The guard names our login without a query. One with a query asks for more than a sign-in, and
    // another API names another login.
    const [login, query] = (env.location.origin + (body?.login_url as string)).split("?");
    if (login !== `${session.mount}login/`) return response;
    if (query) {
      if (!mayStepUp) return response;
      const result = await Promise.race([stepUp(query), aborted]);
      return result === "done" || copy.signal.aborted ? send(copy, mayWait, false) : response;
    }

    // The user may have signed in since the request was sent.
    if (generation !== session.generation() && session.getState().status !== "signed-out")
      await session.probe();
    else session.ended(body?.reason);
    if (!mayWait) return response;
    if (navigate && session.getState().status === "signed-out") await navigate();
    await Promise.race([signedIn(session), aborted]);
    if (account && account !== session.account()) {
      throw new UserChangedError("Another user");
    }
    return send(copy, false, mayStepUp);
  };

  return async (input: RequestInfo | URL, init?: FetchOptions): Promise<Response> => {
    const request = new env.Request(input, init);
    if (!request.url.startsWith(`${env.location.origin}/`)) {
      throw new TypeError(`Another origin: ${request.url}`);
    }
    request.headers.set("X-Idpauth", "1");
    return send(request, true, init?.stepUp);
  };
}

/** The body of the guard's 401, unless it is another's. */
interface Unauthenticated {
  readonly reason?: EndReason;
  readonly login_url?: string;
}

/** Resolves when the user is signed in. */
function signedIn({ getState, subscribe }: Session<object>): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (getState().status !== "signed-in") return;
      stop();
      resolve();
    };
    const stop = subscribe(check);
    check();
  });
}
