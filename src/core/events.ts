import type { Log } from "./ports.js";
import type { EndReason } from "./policy.js";
import type { IdInfo } from "./record.js";

interface EventBase {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly issuer?: string;
  readonly subject?: string;
  /** Milliseconds that the provider took, where it was asked. */
  readonly duration?: number;
}

/** What listeners are told. Never holds a token, secret, state, nonce or verifier. */
export interface Events {
  /** A callback completed. */
  readonly login: EventBase;
  /** Tokens were refreshed and verified. */
  readonly refresh: EventBase;
  /** A session was ended by its visitor, or by the application through `endSession` and `endAllSessions`. */
  readonly logout: EventBase & {
    /** Null: nothing was there to revoke, or revocation is off. */
    readonly revoked: boolean | null;
  };
  /** The guard turned a request away. */
  readonly blocked: EventBase & { readonly reason: EndReason };
  /** A session was found to have ended by policy; sent once per session and reason. */
  readonly ended: EventBase & { readonly reason: EndReason };
  /** A login, callback, refresh or logout did not succeed; outages and refusals alike. */
  readonly failure: EventBase & {
    readonly during: "login" | "callback" | "refresh" | "logout" | "session";
    /** A stable word: an error code, or the provider's refusal as the log names it. */
    readonly reason: string;
  };
}

export type EventName = keyof Events;
/** May be async; nobody waits for it. */
export type Listener<Name extends EventName> = (event: Events[Name]) => unknown;

/** Sends typed events to listeners. One that throws, or rejects, is logged and disturbs no request. */
export class EventHub {
  readonly #listeners = new Map<EventName, Set<(event: never) => unknown>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @returns a function that removes the listener again */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    let listeners = this.#listeners.get(name);
    if (listeners === undefined) this.#listeners.set(name, (listeners = new Set()));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  emit<Name extends EventName>(name: Name, event: Events[Name]): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined) return;
    const failed = (error: unknown): void => {
      this.#log({
        level: "error",
        code: "listener_failed",
        message: `A listener of "${name}" threw ${error instanceof Error ? error.name : "a value that is no error"}.`,
      });
    };
    for (const listener of listeners) {
      try {
        const result = (listener as Listener<Name>)(event);
        if (result instanceof Promise) result.catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }
}

/** Issuer and subject of an identity, as events carry them. */
export function identityOf(idInfo: IdInfo | undefined): { issuer?: string; subject?: string } {
  return {
    ...(typeof idInfo?.iss === "string" && { issuer: idInfo.iss }),
    ...(typeof idInfo?.sub === "string" && { subject: idInfo.sub }),
  };
}
