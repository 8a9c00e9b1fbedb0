import type { MovableClock } from "../running-clock.js";
import type { Fault, Hold, HoldOptions } from "./faults.js";
import type { Issued } from "./grants.js";
import type { PersonClaims } from "./people.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderHooks } from "./test-provider-state.js";
import type { Endpoint, ReceivedRequest } from "./received-requests.js";
import type { JwksControls } from "./signing-keys.js";

export interface TestProviderOptions extends Partial<ProviderSettings> {
  /** Who signs in until somebody else is set; default Ada. */
  readonly person?: PersonClaims;
  /** People that an authorization request can choose from by `login_hint` (`sub` or `email`). The first is the default person. */
  readonly people?: readonly PersonClaims[];
  /** Dates tokens, ends them, and times delays. Default a `RunningClock`: the system's time, which can be moved on. */
  readonly clock?: MovableClock;
  /** A path that the issuer has after its origin, such as `/tenant` or `/`; default none. */
  readonly issuerPath?: string;
}

/** A running provider. Hooks are properties: assign a function to change what is said, undefined to stop. */
export interface TestProvider extends ProviderHooks {
  /** As discovery announces it: `http://127.0.0.1:port`, and the issuer path. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * All that idpauth needs to be this provider's client, with a key that is fixed and for tests only: for
   * `idpAuth({ env: provider.env })`, the environment of another process, or `Object.assign(process.env, provider.env)`.
   */
  readonly env: Readonly<Record<EnvironmentName, string>>;
  /**
   * The provider's clock. Give it to idpauth too, `idpAuth({ env: provider.env, clock: provider.clock })`, and
   * `provider.clock.advance(3_600_000)` lets an hour pass for both.
   */
  readonly clock: MovableClock;
  /** How it behaves; may be changed at any time. */
  readonly settings: ProviderSettings;
  /** Who signs in next. */
  person: PersonClaims;

  /** Every request, in the order of arrival. May be emptied. */
  readonly requests: ReceivedRequest[];
  /** Requests to one endpoint, if need be only those with these body parameters: `requestsTo("token", { grant_type: "refresh_token" })`. */
  requestsTo(endpoint: Endpoint | "unknown", params?: Readonly<Record<string, string>>): ReceivedRequest[];
  /** What a client must never do, and did. `stop()` rejects while there is any; a test that expects some empties the list. */
  readonly violations: string[];
  /** Every code and token that was ever handed out. */
  readonly issued: readonly Issued[];
  /** How many families were revoked because a spent refresh token came back. */
  readonly reuses: number;
  /** Whether this access or refresh token would still be honoured. */
  isActive(token: string): boolean;
  /** Every refresh token and access token handed out so far is refused from now on. */
  revokeAll(): void;

  /**
   * A new signing key. The old one stays published unless `keepOld` is false.
   * @param options `kid`: of the new key; default a fresh one
   */
  rotateKeys(options?: { keepOld?: boolean; kid?: string }): Promise<void>;
  readonly jwks: JwksControls;

  /**
   * From now on something goes wrong at that endpoint; the function returned withdraws it. Several faults at one endpoint: the
   * earliest with times left strikes, so a list of faults with `times: 1` is a script.
   */
  fault(endpoint: Endpoint, fault: Fault): () => void;
  /** A barrier: requests that reach the endpoint wait there until `release()`. */
  hold(endpoint: Endpoint, options?: HoldOptions): Hold;
  /**
   * Withdraws all faults, releases all barriers, and cuts off requests that a fault left unanswered. What a delay was to be
   * followed by is not done any more.
   */
  clearFaults(): void;
  /** Refuses connections, and cuts off those there are, until `resume()`. */
  pause(): Promise<void>;
  /** Listens again, on the same port. */
  resume(): Promise<void>;

  /**
   * What a browser does with an authorization URL: asks for it and gives the callback URL it is sent to.
   * @param person who signs in, for this once; safe with many at a time
   */
  signInCode(authorizationUrl: string | URL, person?: PersonClaims): Promise<string>;

  /** Closes listener and every connection at once. Rejects when there were violations. */
  stop(): Promise<void>;
  /** As `stop`, for `await using provider = await startTestProvider()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

type EnvironmentName = "IDP_ISSUER" | "IDP_CLIENT_ID" | "IDP_CLIENT_SECRET" | "SECRET_KEY" | "SCOPE" | "BASE_URL" | "IDP_DEBUG";
