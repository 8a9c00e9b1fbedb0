import type { ClientState } from "../record/client-state.js";
import type { SessionState } from "./session-state.js";

/** Options of `createClient`. */
export interface ClientOptions<ClientData extends object = Record<string, unknown>> {
  /** The public path of idpauth, with a slash at both ends. Default `/idpauth/`. */
  readonly mountPath?: string;
  /**
   * The state with which the server rendered the page: the result of `auth.clientState`. Without it,
   * or with null, the client starts as `loading`.
   */
  readonly initialState?: ClientState<ClientData> | null;
  /** Seconds between two probes while the page is visible. Default 60. */
  readonly probeInterval?: number;
  /**
   * Counts clicks, touches and keys as activity of the user, at most once a minute and only while
   * the page is visible. Default false.
   */
  readonly trackActivity?: boolean;
  /**
   * Opens the event stream of the server while the page is visible; the server needs `IDP_EVENTS`.
   * Default false.
   */
  readonly events?: boolean;
  /**
   * What `fetch` does if the user is signed out: `"wait"` (default) until the user has signed in
   * again, or `"navigate"` to the login at once.
   */
  readonly whenSignedOut?: "wait" | "navigate";
  /**
   * Called when another user than before has signed in: remove what the page shows of the earlier
   * user.
   */
  readonly onUserChange?: (state: SessionState<ClientData>) => void;
}

/** Options of `signIn`. */
export interface SignInOptions {
  /**
   * The page to return to: a path or URL of this origin. Default: the address of this page, with
   * query and fragment. Not with `popup`.
   */
  readonly returnTo?: string;
  /**
   * Further parameters of the login: `provider`, `max_age`, `acr_values`, `select_account`, and those
   * that `IDP_LOGIN_PARAMS` names. Default of `provider`: that of the page's last session, if the
   * page knew one. Empty: as a login without `provider`, so that the user can choose.
   */
  readonly params?: Readonly<Record<string, string>>;
  /**
   * True: signs in in a new window, so that this page keeps its forms. Call it in the handler of a
   * click. Default false.
   */
  readonly popup?: boolean;
}

/** Options of `stepUp`: what the route's guard requires. */
export interface StepUpOptions {
  /** How long ago the user may have authenticated at the provider, in seconds. */
  readonly maxAge?: number;
  /** Authentication context classes of the provider, one of which the user must meet. */
  readonly acr?: string | readonly string[];
}

/**
 * How a step-up ended: `done`, the same user has authenticated again; `failed`, the provider or
 * idpauth refused, or another user is signed in; `cancelled`, the user refused or closed the
 * window; `blocked`, the browser did not open the window.
 */
export type StepUpResult = "done" | "failed" | "cancelled" | "blocked";

/** Options of `fetch`: those of the browser's, and one more. */
export interface FetchOptions extends RequestInit {
  /**
   * True: if the route requires a step-up, the request waits for it in a new window, as `stepUp`
   * does, and is repeated once. If the step-up isn't `done`, `fetch` returns the 401. Default false.
   */
  readonly stepUp?: boolean;
}

/** Options of `signOut`. */
export interface SignOutOptions {
  /**
   * True: also ends the user's other sessions; the server needs `IDP_SESSIONS_PAGE`. Default false.
   */
  readonly everywhere?: boolean;
}

/** The session as the browser sees it, shared by all tabs. Its functions need no `this`. */
export interface Client<ClientData extends object = Record<string, unknown>> {
  /** Returns the present state: the same object until the state changes. */
  getState(): SessionState<ClientData>;
  /**
   * Returns the state that the client started with, always the same object: what a server renders,
   * and what a page hydrates from.
   */
  getInitialState(): SessionState<ClientData>;
  /** Calls the listener with each new state. @returns a function that removes the listener */
  subscribe(listener: (state: SessionState<ClientData>) => void): () => void;
  /**
   * Asks the server for the state now, for example because an event stream of the page says that
   * the session has ended. It doesn't count as activity. Never rejects: an outage is the state
   * `unavailable`.
   */
  refresh(): Promise<SessionState<ClientData>>;
  /** As `refresh`, and counts as activity of the user: the idle timeout begins anew. */
  keepAlive(): Promise<SessionState<ClientData>>;
  /**
   * Navigates to the login; the promise then stays pending. With `popup` it resolves when the user
   * has signed in.
   *
   * @throws SignInError with `popup`, if the login ends without a sign-in, or the browser does not
   *   open the window
   */
  signIn(options?: SignInOptions): Promise<SessionState<ClientData>>;
  /**
   * Has the user authenticate again, in a new window, so that this page keeps its forms. Call it in
   * the handler of a click. Several at once share one window. Never rejects, and never navigates.
   */
  stepUp(options: StepUpOptions): Promise<StepUpResult>;
  /**
   * Navigates to the logout; the promise then stays pending.
   *
   * @throws Error with `everywhere`, if the other sessions could not be ended. The user then stays
   *   signed in
   */
  signOut(options?: SignOutOptions): Promise<never>;
  /**
   * Sends a request to the application's own origin, with the header `X-Idpauth: 1`. If idpauth
   * responds that the user is signed out, the request waits and is repeated once after the same
   * user has signed in again. `signal` ends the wait, too.
   *
   * @throws TypeError the address is on another origin, or the network fails
   * @throws UserChangedError another user has signed in; the request was not repeated
   */
  fetch(input: RequestInfo | URL, init?: FetchOptions): Promise<Response>;
  /** Stops the timers, listeners and the event stream. Logins in other windows count as cancelled. */
  close(): void;
}
