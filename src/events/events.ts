import type { EndReason } from "../record/end-reason.js";

interface EventBase {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /**
   * The provider's name in the settings. Absent: it is not known, or the application has one
   * provider, without a name.
   */
  readonly provider?: string;
  readonly issuer?: string;
  readonly subject?: string;
  /**
   * Milliseconds that the provider took, if it was called; for an outage, until the outage was
   * known.
   */
  readonly duration?: number;
}

/** The events and their fields. No event contains a token, secret, state, nonce or verifier. */
export interface Events {
  /** A callback completed. */
  readonly login: EventBase;
  /** Tokens were refreshed and verified. */
  readonly refresh: EventBase & {
    /** The name of the API that the new access token is for. Absent: the session's own tokens. */
    readonly api?: string;
  };
  /**
   * A session was ended by its user, or by the application through `endSession` or
   * `endAllSessions`.
   */
  readonly logout: EventBase & {
    /**
     * True: the provider revoked the newest token. Null: there was nothing to revoke, or revocation
     * is off.
     */
    readonly revoked: boolean | null;
  };
  /** The guard or `auth.csrf` blocked a request. */
  readonly blocked: EventBase & {
    /**
     * `forbidden`: the route's `allow` did not return true. `step_up_required`: its `maxAge` or
     * `acr` is not met. `provider_required`: the user signed in at another provider than its
     * `provider`. `provider_unknown`: its `provider` is a function, which named none that exists.
     * `cross_origin`: a page of another origin may have sent the request (`auth.csrf`);
     * the event has no issuer and subject, because nothing was read. `origin_unknown`: the request's
     * host isn't the application's, which has several origins; nothing was read, either.
     */
    readonly reason:
      | EndReason
      | "forbidden"
      | "step_up_required"
      | "provider_required"
      | "provider_unknown"
      | "cross_origin"
      | "origin_unknown";
  };
  /**
   * A session has ended by policy, by a logout at the provider, or because of too many sessions;
   * sent once per session and reason. `provider_removed` is sent by each process that reads such a
   * session, without issuer and subject.
   */
  readonly ended: EventBase & {
    /** docs/reference/errors.md explains each reason. */
    readonly reason: EndReason;
  };
  /** A login, callback, refresh, logout or session check failed, by an outage or a refusal. */
  readonly failure: EventBase & {
    /** `session`: a stored session was read. */
    readonly during:
      | "login"
      | "callback"
      | "refresh"
      | "api_token"
      | "api"
      | "logout"
      | "backchannel_logout"
      | "frontchannel_logout"
      | "session";
    /** The name of the API, if it is one that failed or whose token was refused. */
    readonly api?: string;
    /**
     * `refusal`: the request was invalid, or the provider rejected it. `outage`: nothing was
     * decided; a later attempt may succeed.
     */
    readonly kind: "refusal" | "outage";
    /** A stable word: an error code, or the refusal as the log names it. */
    readonly reason: string;
    /**
     * The code of an API's connection, such as `ECONNREFUSED`; of the provider's certificate, if
     * `reason` is `certificate`.
     */
    readonly cause?: string;
  };
  /**
   * The provider, the store or the session did not respond; sent once per failed request to it, not
   * once per waiting user.
   */
  readonly outage: EventBase & {
    /** `session`: `session: "host"` is configured and a request has no session of the framework. */
    readonly side: "provider" | "store" | "session";
    /** Of the provider: the one that did not respond. */
    readonly endpoint?: "discovery" | "jwks" | "token" | "userinfo" | "revocation" | "par";
    /**
     * A stable word: `network`, `certificate`, `timeout`, `http_503`, …; of a store its driver's
     * error code, else `rejected`.
     */
    readonly reason: string;
  };
}

/** An endpoint of the provider. */
export type ProviderEndpoint = NonNullable<Events["outage"]["endpoint"]>;

/** What `auth.on` accepts. */
export type EventName = keyof Events;
/** May be async; idpauth does not wait for it. */
export type Listener<Name extends EventName> = (event: Events[Name]) => unknown;
