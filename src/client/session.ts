import type { EndReason } from "../record/probe.js";
import type { ClientOptions } from "./client-interface.js";
import type { Channel, Environment, Stream } from "./environment.js";
import { requestState } from "./probe.js";
import type { SessionState } from "./session-state.js";
import { isSame, LOADING, signedOut, stateOf } from "./states.js";
import type { Hint } from "./tab-messages.js";

/** Milliseconds within which browsers probe whose streams have ended without a reason. */
const SPREAD_MS = 5_000;

/** Milliseconds of the longest timer: 23 days. A longer timer than 25 days runs at once. */
const LONGEST_TIMER_MS = 2e9;

/** Milliseconds after which a page that becomes visible or gets the focus asks again. */
const FRESH_MS = 2_000;

/**
 * Milliseconds between two probes of a page that signs out, for two seconds. The response of the
 * logout can take longer than the logout.
 */
const WATCH_MS = 100;

/** The parameters of a login. */
export type LoginParameters = Readonly<Record<string, string | number>>;

/** The state of this tab: when it asks the server, and what it tells the other tabs. */
export interface Session<ClientData extends object> {
  /** The URL of idpauth's endpoints, with a slash at the end. */
  readonly mount: string;
  getInitialState(): SessionState<ClientData>;
  getState(): SessionState<ClientData>;
  /**
   * The account of the last user of this page, who may have signed out; null if the page knew none.
   */
  account(): string | null;
  subscribe(listener: (state: SessionState<ClientData>) => void): () => void;
  /** Sends a probe. A response to an earlier probe changes nothing from now on. */
  probe(slide?: boolean): Promise<SessionState<ClientData>>;
  /** A number that each probe and each end of the session changes. */
  generation(): number;
  /** Takes over what the server said in a response other than a probe. */
  ended(reason: EndReason | null | undefined): void;
  /**
   * What hears that a user has signed in, by the parameters of the login that it waits for, such as
   * the provider that a guard requires.
   */
  readonly waiting: Map<LoginParameters, (value?: unknown) => void>;
  /**
   * Tells the other tabs of the sign-out as soon as the server has signed the user out, or the
   * browser leaves this page.
   */
  leave(): void;
  /** Waits for the running probe, else sends one. */
  refresh(): Promise<SessionState<ClientData>>;
  /**
   * By attempt, what hears of the end of that login in another window: of its failure, or undefined
   * after a sign-in. The probe that then asks the server is on its way.
   */
  readonly attempts: Map<unknown, (failure: string | undefined) => void>;
  /** @param capture also hears what an element of the page stops */
  listen(
    type: string,
    listener: (event: { readonly persisted?: boolean }) => void,
    capture?: boolean,
  ): void;
  isVisible(): boolean;
  /** Ends everything. The logins in other windows have failed. */
  close(): void;
}

export function startSession<ClientData extends object>(
  options: ClientOptions<ClientData>,
  env: Environment,
): Session<ClientData> {
  type State = SessionState<ClientData>;
  const { mountPath = "/idpauth/", probeInterval = 60, initialState: details } = options;
  // A page on a server has neither.
  const isBrowser = Boolean(env.document);
  const mount = (isBrowser ? env.location.origin : "") + mountPath;
  const initialState: State = Object.freeze(details ? stateOf(details, env.Date.now()) : LOADING);
  const listeners = new Set<(state: State) => void>();
  const attempts: Session<ClientData>["attempts"] = new Map();
  const waiting: Session<ClientData>["waiting"] = new Map();
  const closing = new AbortController();

  let state = initialState;
  let { account } = state;
  let generation = 0;
  let running: Promise<State> | undefined;
  let failures = 0;
  let timer: number | undefined;
  /** When the next probe is due, in milliseconds. 0: at once. */
  let due = 0;
  /** When the server, or another tab, last said what the state is. */
  let heardAt = 0;
  let isLeaving = false;
  /** Whether the user has signed out in a tab, and nobody has signed in since. */
  let left: boolean | undefined;
  /** How many more probes watch for the end of a session that this page ends. */
  let watches = 0;
  let channel: Channel | undefined;
  let stream: Stream | undefined;

  const isVisible = () => env.document.visibilityState === "visible" && !closing.signal.aborted;
  const isSettled = () => state.status.startsWith("signed");

  const change = (next: State, isNews?: boolean) => {
    if (!isNews && isSame(next, state)) return;
    state = Object.freeze(next);
    const before = account;
    account = state.account ?? before;
    if (state.status === "signed-in") for (const resume of waiting.values()) resume();
    for (const listener of [...listeners]) notify(listener);
    if (before && account !== before && options.onUserChange) notify(options.onUserChange);
  };
  const notify = (listener: (state: State) => void) => {
    try {
      listener(state);
    } catch (error) {
      env.reportError(error);
    }
  };

  const updateStream = () => {
    const isWanted = options.events && state.status === "signed-in" && isVisible();
    if (!isWanted) closeStream();
    else if (!stream) {
      stream = new env.EventSource(`${mount}events`);
      stream.addEventListener("ended", () => void probe());
      stream.addEventListener("error", () => {
        // After a response that is no stream, such as 503, the browser does not connect again. The
        // next probe that succeeds does.
        if (stream?.readyState === 2) closeStream();
        // The session may have ended. Not all browsers probe at once: a process that stops ends all
        // its streams.
        wait(Math.min(due, env.Date.now() + SPREAD_MS * env.Math.random()));
      });
    }
  };
  const closeStream = () => {
    stream?.close();
    stream = undefined;
  };

  const supersede = () => {
    running = undefined;
    return ++generation;
  };
  const probe = async (slide?: boolean, isHinted?: boolean): Promise<State> => {
    if (!isBrowser) return state;
    const mine = supersede();
    return (running = requestState<ClientData>(
      env,
      `${mount}session?details=true${slide ? "" : "&slide=false"}`,
    ).then((result) => {
      if (mine !== generation) return running ?? state;
      running = undefined;
      take(result, isHinted);
      return state;
    }));
  };
  const take = (result: State | number, isHinted?: boolean) => {
    const before = state;
    if (typeof result === "number") {
      change({ ...state, status: "unavailable", reason: null });
      const seconds = result > 0 ? result : Math.min(60, 2 ** ++failures);
      const pause = seconds * 1000 * (1 + env.Math.random() / 2);
      schedule(env.Date.now() + pause);
    } else {
      failures = 0;
      left = !result.account && (left || isLeaving);
      // The browser is on its way to another page, so this page keeps its state.
      const isGone = left && isLeaving;
      if (isGone) isLeaving = false;
      // The server knows that there is no session, and not why.
      else
        change(
          left && result.reason === "no_credentials" ? { ...result, reason: "logout" } : result,
        );
      // The other tabs have the same hint, unless only this page knows that the user has signed out.
      // The first probe of a page cannot know whether their state has changed.
      if (!isHinted || isGone)
        tell(result.account, isGone || (heardAt ? before !== state : undefined));
      postpone();
    }
  };
  const refresh = () => running ?? probe();

  const schedule = (at: number) => {
    updateStream();
    wait(at);
  };
  const wait = (at: number) => {
    due = at;
    env.clearTimeout(timer);
    if (isVisible()) timer = env.setTimeout(tick, Math.min(due - env.Date.now(), LONGEST_TIMER_MS));
  };
  /**
   * Schedules the next probe after the server has said something: one second after the session's
   * end at the latest.
   */
  const postpone = () => {
    heardAt = env.Date.now();
    const next = heardAt + (isLeaving && watches-- > 0 ? WATCH_MS : probeInterval * 1000);
    const end = (state.deadlines?.end ?? next) + 1000;
    schedule(end > heardAt ? Math.min(end, next) : next);
  };
  const tick = () => {
    postpone();
    const { locks } = env.navigator;
    // Without the lock another tab asks, and tells. Its page cannot enter the back/forward cache
    // while it holds the lock.
    if (locks && isSettled())
      locks
        .request(`idpauth:${mountPath}`, { ifAvailable: true }, (lock) => lock && refresh())
        .catch(refresh);
    else void refresh();
  };
  const wake = (isDue: boolean) => {
    if (isDue) due = 0;
    if (!due && isVisible()) void refresh();
    else schedule(due);
  };

  const tell = (known: string | null, changed?: boolean) =>
    channel?.postMessage({ left, account: known, changed } satisfies Hint);
  const hear = ({ type, attempt, failure, changed, left: hasLeft, account: known }: Hint) => {
    if (type === "received") return;
    const isNews = changed || !isSettled();
    left ||= hasLeft;
    const report = attempts.get(attempt);
    if (report) channel?.postMessage({ type: "received", attempt });
    // The end of a login in another window has no account, so it is always asked about.
    if (known !== state.account || (isNews && isVisible())) {
      void probe(false, true);
      report?.(failure);
    } else if (isNews) due = 0;
    else if (changed === false) postpone();
  };

  const listen: Session<ClientData>["listen"] = (type, listener, capture) =>
    env.addEventListener(type, listener, { capture: capture as boolean, signal: closing.signal });
  const connect = () => {
    // Without one, a tab finds out by its own probes.
    if (env.BroadcastChannel) {
      channel = new env.BroadcastChannel(`idpauth:${mountPath}`);
      channel.onmessage = ({ data }) => {
        if (data) hear(data);
      };
    }
    wake(true);
  };
  const disconnect = () => {
    channel?.close();
    channel = undefined;
    closeStream();
  };
  if (isBrowser) {
    // A page without a client may have signed in or out, and have had no way to tell.
    const arrive = () => {
      // A clock that was set back says nothing about how long ago that was.
      wake(isSettled() && Math.abs(env.Date.now() - heardAt) > FRESH_MS);
    };
    listen("visibilitychange", arrive);
    listen("focus", arrive);
    listen("online", () => wake(true));
    listen("pagehide", () => {
      if (isLeaving) tell(null, (left = true));
      // An open channel or stream keeps a page out of the back/forward cache.
      disconnect();
    });
    listen("pageshow", ({ persisted }) => {
      if (!persisted) return;
      supersede();
      connect();
    });
    connect();
  }

  return {
    mount,
    getInitialState: () => initialState,
    getState: () => state,
    account: () => account,
    subscribe(listener) {
      const own = (next: State) => listener(next);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    probe,
    refresh,
    generation: () => generation,
    waiting,
    ended(reason) {
      supersede();
      const isKnown = state.status === "signed-out";
      // Also if the user was signed out already: one more request waits.
      change(isKnown ? { ...state } : signedOut(reason), true);
      postpone();
      if (!isKnown) tell(null, true);
    },
    leave() {
      supersede();
      isLeaving = true;
      // A probe counts when it is sent and when its response arrives.
      watches = 40;
      postpone();
    },
    attempts,
    listen,
    isVisible,
    close() {
      supersede();
      closing.abort();
      env.clearTimeout(timer);
      disconnect();
      for (const report of attempts.values()) report("cancelled");
    },
  };
}
