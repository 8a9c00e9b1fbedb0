import type { Client, Deadlines, SessionState } from "../../../src/client/client.js";

/** Seconds until each limit. */
export type Limits = Partial<Record<keyof Deadlines, number>>;

/**
 * The client that the tests put in the place of the real one: it says what it is told and notes
 * what is called.
 */
export interface FakeClient extends Client {
  readonly calls: string[];
  set(state: SessionState): void;
  /** Ends the last call of keepAlive or signIn. Undefined: it rejects. */
  settle(state?: SessionState): void;
}

export function signedIn(limits: Limits = {}, name = "Ada Lovelace"): SessionState {
  const at = Date.now();
  const deadline = (seconds: number | undefined) =>
    seconds === undefined ? null : at + seconds * 1000;
  const { idToken, maxAge, idle, sessionExpiry, end = Math.min(...Object.values(limits)) } = limits;
  return Object.freeze({
    status: "signed-in",
    user: { name, email: "ada@example.com", picture: null },
    account: name,
    provider: null,
    data: null,
    deadlines: {
      idToken: deadline(idToken),
      maxAge: deadline(maxAge),
      idle: deadline(idle),
      sessionExpiry: deadline(sessionExpiry),
      end: Number.isFinite(end) ? deadline(end)! : null,
    },
    reason: null,
  });
}

const NOBODY = { user: null, account: null, provider: null, data: null, deadlines: null } as const;
export const LOADING: SessionState = Object.freeze({ ...NOBODY, status: "loading", reason: null });
export const SIGNED_OUT: SessionState = Object.freeze({
  ...NOBODY,
  status: "signed-out",
  reason: "idle",
});

/** What the server of the tests knows, and the browser is told. */
export const STATES = {
  loading: LOADING,
  "signed-in": signedIn({ idle: 3600 }),
  "signed-out": SIGNED_OUT,
};

/** The state that follows an outage. */
export function unavailable(known: SessionState): SessionState {
  return Object.freeze({ ...known, status: "unavailable", reason: null });
}

export function fakeClient(initial: SessionState): FakeClient {
  let state = initial;
  let settle: (state?: SessionState) => void = () => {};
  const calls: string[] = [];
  const listeners = new Set<(state: SessionState) => void>();
  const called = (call: string) => {
    calls.push(call);
    return new Promise<SessionState>((resolve, reject) => {
      settle = (result) => {
        if (result === undefined) reject(new Error("The browser opened no window."));
        else resolve(result);
      };
    });
  };
  const set = (next: SessionState) => {
    state = next;
    for (const listener of listeners) listener(next);
  };
  return {
    calls,
    set,
    settle: (result) => {
      if (result) set(result);
      settle(result);
    },
    getState: () => state,
    getInitialState: () => initial,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh() {
      calls.push("refresh");
      return Promise.resolve(state);
    },
    keepAlive: () => called("keepAlive"),
    stepUp: () => Promise.resolve("blocked"),
    signIn: (options) => called(`signIn ${JSON.stringify(options)}`),
    signOut: (options) => called(`signOut ${JSON.stringify(options)}`) as Promise<never>,
    fetch: () => Promise.reject(new Error("not here")),
    close: () => {},
  };
}
