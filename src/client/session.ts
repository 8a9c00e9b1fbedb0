import type { EndReason } from "../record/end-reason.js";
import type { ClientOptions } from "./client-interface.js";
import type { Channel, Environment, Stream } from "./environment.js";
import { LOADING, stateOf } from "./make-session-state.js";
import { requestState } from "./probe.js";
import {
  departed,
  ended,
  heard,
  hinted,
  leaving,
  responded,
  superseded,
  type Probe,
  type TabEvent,
  type TabState,
} from "./session-reducer.js";
import type { SessionState } from "./session-state.js";
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
  /** Returns what this tab knows now. */
  tab(): TabState;
  subscribe(listener: (state: SessionState<ClientData>) => void): () => void;
  /** Sends a probe. A response to an earlier probe changes nothing from now on. */
  probe(probe?: Probe): Promise<SessionState<ClientData>>;
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
  /** On a server it does nothing. @param capture also hears what an element of the page stops */
  listen(
    type: string,
    listener: (event: { readonly persisted?: boolean }) => void,
    capture?: boolean,
  ): void;
  isVisible(): boolean;
  /** Ends everything. The logins in other windows have failed. */
  close(): void;
}

/**
 * Returns the session of a page. The functions of `session-reducer.ts` decide what an event makes
 * of the tab; here is the time, and what reaches the server, the other tabs and the application.
 */
// eslint-disable-next-line grammar/max-own-lines -- Shared state in closures costs the fewest bytes.
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

  let tab: TabState = {
    session: initialState,
    account: initialState.account,
    provider: initialState.provider,
    generation: 0,
    heardAt: 0,
    isLeaving: false,
  };
  /** The result of the newest probe. */
  let running: Promise<State>;
  let failures = 0;
  let timer: number | undefined;
  /** When the next probe is due, in milliseconds. 0: at once. */
  let due = 0;
  /** How many more probes watch for the end of a session that this page ends. */
  let watches = 0;
  let channel: Channel | undefined;
  let stream: Stream | undefined;

  // The reducer doesn't look into the application's data.
  const getState = () => tab.session as State;
  const isVisible = () =>
    isBrowser && env.document.visibilityState === "visible" && !closing.signal.aborted;
  const isSettled = () => tab.session.status.startsWith("signed");

  const dispatch = <Payload extends readonly unknown[]>(
    event: TabEvent<Payload>,
    ...payload: Payload
  ) => {
    const before = tab;
    const { tell, ...next } = event(tab, ...payload);
    tab = next;
    if (tell) channel?.postMessage(tell);
    // Last, because a listener may dispatch an event itself.
    if (next.session !== before.session) {
      if (tab.session.status === "signed-in") for (const resume of waiting.values()) resume();
      for (const listener of [...listeners]) notify(listener);
      if (before.account && before.account !== next.account && options.onUserChange)
        notify(options.onUserChange);
    }
  };
  const notify = (listener: (state: State) => void) => {
    try {
      listener(getState());
    } catch (error) {
      env.reportError(error);
    }
  };

  const updateStream = () => {
    const isWanted = options.events && tab.session.status === "signed-in" && isVisible();
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

  const probe = async (probe: Probe = {}): Promise<State> => {
    if (!isBrowser) return getState();
    dispatch(superseded, probe);
    return (running = requestState<ClientData>(
      env,
      `${mount}session?details=true${probe.slide ? "" : "&slide=false"}`,
    ).then((result) => {
      if (probe !== tab.probe) return tab.probe ? running : getState();
      dispatch(responded, probe, result);
      if (typeof result === "number") {
        const seconds = result > 0 ? result : Math.min(60, 2 ** ++failures);
        schedule(env.Date.now() + seconds * 1000 * (1 + env.Math.random() / 2));
      } else {
        failures = 0;
        postpone();
      }
      return getState();
    }));
  };
  const refresh = () => (tab.probe ? running : probe());

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
    const now = env.Date.now();
    dispatch(heard, now);
    const next = now + (tab.isLeaving && watches-- > 0 ? WATCH_MS : probeInterval * 1000);
    const end = (tab.session.deadlines?.end ?? next) + 1000;
    schedule(end > now ? Math.min(end, next) : next);
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

  const hear = (hint: Hint) => {
    const { type, attempt, failure, changed, account } = hint;
    if (type === "received") return;
    const isNews = changed || !isSettled();
    const report = attempts.get(attempt);
    if (report) channel?.postMessage({ type: "received", attempt });
    dispatch(hinted, hint);
    // The end of a login in another window has no account, so it is always asked about.
    if (account !== tab.session.account || (isNews && isVisible())) {
      void probe({ isHinted: true });
      report?.(failure);
    } else if (isNews) due = 0;
    else if (changed === false) postpone();
  };

  const listen: Session<ClientData>["listen"] = (type, listener, capture) => {
    if (isBrowser)
      env.addEventListener(type, listener, { capture: capture as boolean, signal: closing.signal });
  };
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
  // A page without a client may have signed in or out, and have had no way to tell.
  const arrive = () => {
    // A clock that was set back says nothing about how long ago that was.
    wake(isSettled() && Math.abs(env.Date.now() - tab.heardAt) > FRESH_MS);
  };
  listen("visibilitychange", arrive);
  listen("focus", arrive);
  listen("online", () => wake(true));
  listen("pagehide", () => {
    if (tab.isLeaving) dispatch(departed);
    // An open channel or stream keeps a page out of the back/forward cache.
    disconnect();
  });
  listen("pageshow", ({ persisted }) => {
    if (!persisted) return;
    dispatch(superseded);
    connect();
  });
  if (isBrowser) connect();

  return {
    mount,
    getInitialState: () => initialState,
    getState,
    tab: () => tab,
    subscribe(listener) {
      const own = (next: State) => listener(next);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    probe,
    refresh,
    waiting,
    ended(reason) {
      dispatch(ended, reason);
      postpone();
    },
    leave() {
      dispatch(leaving);
      // A probe counts when it is sent and when its response arrives.
      watches = 40;
      postpone();
    },
    attempts,
    listen,
    isVisible,
    close() {
      dispatch(superseded);
      closing.abort();
      env.clearTimeout(timer);
      disconnect();
      for (const report of attempts.values()) report("cancelled");
    },
  };
}
