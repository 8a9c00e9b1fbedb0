import type { EndReason } from "../record/end-reason.js";
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
    const generation = session.tab().generation;
    const account = session.tab().account;
    const checkUser = () => {
      if (account && account !== session.tab().account) throw new UserChangedError("Another user");
    };
    const response = await env.fetch(request);
    if (response.status !== 401) return response;
    const body = (await response
      .clone()
      .json()
      .catch(() => null)) as Unauthenticated | null;
    if (!body?.login_url && !hasWarned) {
      env.console.warn(`No login_url: ${request.url}`);
      hasWarned = true;
    }
    // Another API names another login.
    const [login, query] = (env.location.origin + (body?.login_url as string)).split("?");
    if (login !== `${session.mount}login/`) return response;
    const params = Object.fromEntries(new URLSearchParams(query));
    // The login of a signed-out user has a query, too, if the guard requires a provider.
    const isStepUp = Boolean(query) && body?.authenticated !== false;
    if (isStepUp) {
      if (!mayStepUp) return response;
      checkUser();
      const result = await Promise.race([stepUp(params), aborted]);
      if (result !== "done" && !copy.signal.aborted) return response;
    } else {
      // The user may have signed in since the request was sent.
      if (generation === session.tab().generation || session.getState().status === "signed-out")
        session.ended(body?.reason);
      else await session.probe();
      if (!mayWait) return response;
      if (session.getState().status === "signed-out") {
        const signedIn = new Promise((resolve) => session.waiting.set(params, resolve));
        if (navigate) void navigate();
        await Promise.race([signedIn, aborted]);
        session.waiting.delete(params);
      }
    }
    checkUser();
    return send(copy, isStepUp && mayWait, !isStepUp && mayStepUp);
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
  /** False: the user is signed out. Each demand for a step-up says true. */
  readonly authenticated?: boolean;
  readonly reason?: EndReason;
  readonly login_url?: string;
}
