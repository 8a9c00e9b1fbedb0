import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isLoopback } from "../loopback.js";
import { RunningClock, type MovableClock } from "../running-clock.js";
import { errorReply } from "./replies.js";
import { ENDPOINT_PATHS, PERSON_HEADER, work, type ProviderHooks, type ProviderSettings, type ProviderState } from "./endpoints.js";
import { FaultBoard, send, strike, type Fault, type Hold, type HoldOptions } from "./faults.js";
import { Grants, type Issued } from "./grants.js";
import { ADA, type PersonClaims } from "./people.js";
import { ENDPOINTS, receive, violationsOf, type Endpoint, type ReceivedRequest } from "./received-requests.js";
import { assertEndpoint, assertFault, assertHold, assertIssuerPath, assertOptions, checkedSettings } from "./option-checks.js";
import { SigningKeys, type JwksControls } from "./signing-keys.js";

export type { IdTokenDraft, MutatedIdToken, ProviderHooks, ProviderSettings } from "./endpoints.js";
export type { Fault, Hold, HoldOptions } from "./faults.js";
export type { Issued } from "./grants.js";
export type { PersonClaims } from "./people.js";
export type { Endpoint, ReceivedRequest } from "./received-requests.js";
export { compactJws, type JsonPart, type JwksControls } from "./signing-keys.js";

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

/** The `Server` header of each reply: tells the provider's from all others. */
export const SERVER_HEADER = "idpauth-test-provider";

/** Starts an OpenID provider on a free port of 127.0.0.1. It shows no pages: whoever is `person` has agreed already. */
export async function startTestProvider(options: TestProviderOptions = {}): Promise<TestProvider> {
  const { person, people = [], clock = new RunningClock(), issuerPath = "", ...settings } = options;
  assertOptions(settings);
  assertIssuerPath(issuerPath);
  const provider = new Provider({
    settings: checkedSettings({ ...defaultSettings(), ...settings }),
    person: person ?? people[0] ?? ADA,
    people,
    clock,
    keys: await SigningKeys.create(),
  });
  await provider.start(issuerPath);
  return provider;
}

function defaultSettings(): ProviderSettings {
  return {
    clientId: "test-client",
    clientSecret: "test secret:+%/é",
    redirectUris: undefined,
    tokenEndpointAuthMethods: ["client_secret_post", "client_secret_basic"],
    idTokenSeconds: 3600,
    accessTokenSeconds: 3600,
    issueRefreshToken: true,
    rotation: true,
    reuseDetection: true,
    reuseGraceSeconds: 0,
    announceIss: true,
    scopesSupported: ["openid", "email", "profile", "offline_access"],
    pkce: "required",
    claimsInIdToken: true,
  };
}

interface ProviderParts {
  readonly settings: ProviderSettings;
  readonly person: PersonClaims;
  readonly people: readonly PersonClaims[];
  readonly clock: MovableClock;
  readonly keys: SigningKeys;
}

class Provider implements TestProvider, ProviderState {
  readonly settings: ProviderSettings;
  readonly people: readonly PersonClaims[];
  readonly keys: SigningKeys;
  readonly grants = new Grants();
  readonly requests: ReceivedRequest[] = [];
  readonly violations: string[] = [];
  person: PersonClaims;
  issuer = "";
  base = "";

  mutateIdToken: ProviderHooks["mutateIdToken"] = undefined;
  tokenResponse: ProviderHooks["tokenResponse"] = undefined;
  authorizationResponse: ProviderHooks["authorizationResponse"] = undefined;
  discoveryDocument: ProviderHooks["discoveryDocument"] = undefined;
  userinfoResponse: ProviderHooks["userinfoResponse"] = undefined;

  readonly clock: MovableClock;
  readonly #server: Server;
  readonly #faults = new FaultBoard();
  /** Responses that a fault has taken over and not ended. */
  readonly #abandoned = new Set<ServerResponse>();
  readonly #cutOff = new WeakSet<ServerResponse>();
  #port = 0;

  constructor(parts: ProviderParts) {
    this.settings = parts.settings;
    this.person = parts.person;
    this.people = parts.people;
    this.keys = parts.keys;
    this.clock = parts.clock;
    this.#server = createServer((message, response) => {
      response.setHeader("Server", SERVER_HEADER);
      this.#serve(message, response).catch((error: unknown) => {
        // A client that leaves in the middle is part of the game. Anything else is a mistake in a hook of the test, and must be seen.
        if (response.destroyed || !message.complete) return;
        this.violations.push(`the provider failed: ${String(error)}`);
        if (!response.headersSent) send(response, errorReply("server_error", "the provider failed", 500));
      });
    });
  }

  get hooks(): ProviderHooks {
    return this;
  }

  get clientId(): string {
    return this.settings.clientId;
  }

  get clientSecret(): string {
    return this.settings.clientSecret;
  }

  get env(): TestProvider["env"] {
    return {
      IDP_ISSUER: this.issuer,
      IDP_CLIENT_ID: this.clientId,
      IDP_CLIENT_SECRET: this.clientSecret,
      SECRET_KEY: "a fixed key, for tests and nowhere else",
      SCOPE: this.settings.scopesSupported.join(" "),
      // Empty means unset, whatever a developer's own .env says.
      BASE_URL: "",
      IDP_DEBUG: "off",
    };
  }

  get issued(): readonly Issued[] {
    return this.grants.issued;
  }

  get reuses(): number {
    return this.grants.reuses;
  }

  get jwks(): JwksControls {
    return this.keys.controls;
  }

  readonly now = (): number => this.clock.now();

  async start(issuerPath: string): Promise<void> {
    await this.resume();
    this.issuer = `http://127.0.0.1:${String(this.#port)}${issuerPath}`;
    this.base = this.issuer.replace(/\/$/, "");
  }

  resume(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#port, "127.0.0.1", () => {
        this.#server.off("error", reject);
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#server.closeAllConnections();
    });
  }

  async stop(): Promise<void> {
    this.clearFaults();
    await this.pause();
    if (this.violations.length > 0) throw new Error(`violations seen by the provider:\n${this.violations.join("\n")}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  requestsTo(endpoint: Endpoint | "unknown", params: Readonly<Record<string, string>> = {}): ReceivedRequest[] {
    return this.requests.filter(
      (request) => request.endpoint === endpoint && Object.entries(params).every(([name, value]) => request.params.get(name) === value),
    );
  }

  isActive(token: string): boolean {
    return this.grants.isActive(token, this.settings, this.now());
  }

  revokeAll(): void {
    this.grants.revokeAll();
  }

  rotateKeys(options?: { keepOld?: boolean; kid?: string }): Promise<void> {
    return this.keys.rotate(options);
  }

  fault(endpoint: Endpoint, fault: Fault): () => void {
    assertEndpoint(endpoint);
    assertFault(fault);
    return this.#faults.add(endpoint, fault);
  }

  hold(endpoint: Endpoint, options: HoldOptions = {}): Hold {
    assertEndpoint(endpoint);
    assertHold(options);
    return this.#faults.hold(endpoint, options);
  }

  clearFaults(): void {
    this.#faults.clear();
    for (const response of this.#abandoned) {
      this.#cutOff.add(response);
      response.destroy();
    }
  }

  async signInCode(authorizationUrl: string | URL, person?: PersonClaims): Promise<string> {
    const { hostname, origin } = new URL(authorizationUrl);
    // An application with another provider's settings must not have a test ask strangers.
    if (!isLoopback(hostname)) throw new Error(`the application sends people to ${origin}, and not to this provider`);
    const headers = person === undefined ? {} : { [PERSON_HEADER]: encodeURIComponent(JSON.stringify(person)) };
    const response = await fetch(authorizationUrl, { redirect: "manual", headers });
    const body = await response.text();
    const location = response.headers.get("location");
    if (location === null) throw new Error(`the authorization endpoint answered ${String(response.status)}: ${body}`);
    return location;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await this.#record(message);
    const violations = violationsOf(request);
    this.violations.push(...violations);
    const { endpoint } = request;
    if (endpoint === "unknown") {
      send(response, errorReply("not_found", "no endpoint at this path", 404));
      return;
    }
    await this.#faults.waitAtBarriers(request, "before");
    if (await this.#strike(request, "before", response)) return;
    const reply = violations.length > 0 ? errorReply("invalid_request", violations.join("; ")) : await work(endpoint, request, this);
    await this.#faults.waitAtBarriers(request, "after");
    if (await this.#strike(request, "after", response, reply)) return;
    send(response, reply);
  }

  async #record(message: IncomingMessage): Promise<ReceivedRequest> {
    const prefix = new URL(this.base).pathname.replace(/\/$/, "");
    const endpointAt = (path: string) => ENDPOINTS.find((endpoint) => path === prefix + ENDPOINT_PATHS[endpoint]);
    const request = await receive(message, endpointAt, this.now());
    this.requests.push(request);
    return request;
  }

  /** Lets a fault strike, if one stands there; true when nothing is left to be done. */
  async #strike(
    request: ReceivedRequest,
    stage: "before" | "after",
    response: ServerResponse,
    reply?: Parameters<typeof strike>[3],
  ): Promise<boolean> {
    const fault = this.#faults.take(request, stage);
    if (fault === undefined) return false;
    this.#abandoned.add(response);
    response.once("close", () => this.#abandoned.delete(response));
    const outcome = await strike(fault, response, this.clock, reply);
    if (outcome === "go-on") this.#abandoned.delete(response);
    // A token that was spent after the cut would turn the client's next try into a reuse.
    return outcome === "dealt-with" || this.#cutOff.has(response);
  }
}
