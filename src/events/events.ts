import type { EndReason } from "../record/policy.js";
import type { IdInfo } from "../record/identity.js";

interface EventBase {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly issuer?: string;
  readonly subject?: string;
  /** Milliseconds that the provider took, where it was asked; of an outage, until it was known as one. */
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
    /** True: the provider took the newest token back. Null: nothing was there to revoke, or revocation is off. */
    readonly revoked: boolean | null;
  };
  /** The guard turned a request away. */
  readonly blocked: EventBase & { readonly reason: EndReason };
  /** A session was found to have ended by policy; sent once per session and reason. */
  readonly ended: EventBase & { readonly reason: EndReason };
  /** A login, callback, refresh, logout or look at a session did not succeed; outages and refusals alike. */
  readonly failure: EventBase & {
    readonly during: "login" | "callback" | "refresh" | "logout" | "session";
    /** `refusal`: a definite no, to a bad request as to a bad answer. `outage`: nothing was decided, and trying again may help. */
    readonly kind: "refusal" | "outage";
    /** A stable word: an error code, or the provider's refusal as the log names it. */
    readonly reason: string;
  };
  /** The world did not answer: once per request to it that failed, however many visitors wait for the answer. */
  readonly outage: EventBase & {
    /** `session`: the host's own session middleware, which was asked for and has none on a request. */
    readonly side: "provider" | "store" | "session";
    /** Of the provider. */
    readonly endpoint?: ProviderEndpoint;
    /** A stable word: `network`, `timeout`, `http_503`, …; of a store its driver's error code, else `rejected`. */
    readonly reason: string;
  };
}

export type ProviderEndpoint = "discovery" | "jwks" | "token" | "userinfo" | "revocation";

export type EventName = keyof Events;
/** May be async; nobody waits for it. */
export type Listener<Name extends EventName> = (event: Events[Name]) => unknown;

/** Issuer and subject of an identity, as events carry them. */
export function identityOf(idInfo: IdInfo | undefined): { issuer?: string; subject?: string } {
  return {
    ...(typeof idInfo?.iss === "string" && { issuer: idInfo.iss }),
    ...(typeof idInfo?.sub === "string" && { subject: idInfo.sub }),
  };
}
