import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopback } from "../loopback-hostname.js";
import type { MovableClock } from "../running-clock.js";
import { applicationEnv } from "./application-env.js";
import { ProofCheck } from "./dpop-proofs.js";
import { ENDPOINT_PATHS, isOffered } from "./endpoint-paths.js";
import { FaultBoard, type Fault, type Hold, type HoldOptions } from "./faults.js";
import { Grants, type Issued, type RequestedTarget } from "./grants.js";
import { introspection } from "./introspection-endpoint.js";
import {
  endSessions,
  logoutToken,
  postLogoutToken,
  type LogoutResponse,
  type LogoutTokenOptions,
} from "./logout-tokens.js";
import { assertEndpoint, assertFault, assertHold, assertLogoutToken } from "./option-checks.js";
import { PERSON_HEADER } from "./people.js";
import type { PersonClaims } from "./people.js";
import { proofRules } from "./proof-rules.js";
import { work } from "./provider-endpoints.js";
import { KitServer } from "./provider-servers.js";
import { ProviderSessions } from "./provider-sessions.js";
import { PushedRequests } from "./pushed-requests.js";
import {
  ENDPOINTS,
  receive,
  violationsOf,
  type Endpoint,
  type ReceivedRequest,
} from "./received-requests.js";
import { errorReply, send, type ProviderReply } from "./replies.js";
import type { JwksControls, SigningKeys } from "./signing-keys.js";
import { strike } from "./struck-responses.js";
import type { TestProvider } from "./test-provider-api.js";
import type { ProviderSettings } from "./test-provider-settings.js";
import type { ProviderHooks, ProviderState, Refusal } from "./test-provider-state.js";

/** The `Server` header of each reply, by which `signIn` recognises this provider. */
export const SERVER_HEADER = "idpauth-test-provider";

interface ProviderParts {
  readonly settings: ProviderSettings;
  readonly person: PersonClaims;
  readonly people: readonly PersonClaims[];
  readonly clock: MovableClock;
  readonly keys: SigningKeys;
  readonly tls: { readonly tls: boolean; readonly mtlsAliases: boolean };
}

/** A provider on a socket of this process. */
export class RunningProvider implements TestProvider, ProviderState {
  readonly settings: ProviderSettings;
  readonly people: readonly PersonClaims[];
  readonly keys: SigningKeys;
  readonly grants = new Grants();
  readonly usedAssertions = new Set<string>();
  readonly appleUsers = new Set<string>();
  readonly pushed = new PushedRequests();
  readonly requests: ReceivedRequest[] = [];
  readonly violations: string[] = [];
  readonly sessions = new ProviderSessions();
  person: PersonClaims;
  readonly proofs: ProofCheck;
  issuer = "";
  base = "";
  mtlsBase: string | undefined;

  mutateIdToken: ProviderHooks["mutateIdToken"] = undefined;
  tokenResponse: ProviderHooks["tokenResponse"] = undefined;
  authorizationResponse: ProviderHooks["authorizationResponse"] = undefined;
  mutateResponseJwt: ProviderHooks["mutateResponseJwt"] = undefined;
  discoveryDocument: ProviderHooks["discoveryDocument"] = undefined;
  userinfoResponse: ProviderHooks["userinfoResponse"] = undefined;

  readonly clock: MovableClock;
  readonly #server: KitServer;
  /** For clients with a certificate; undefined: they use the other one. */
  readonly #mtlsServer: KitServer | undefined;
  readonly #faults = new FaultBoard();
  /** Responses that a fault left open. */
  readonly #abandoned = new Set<ServerResponse>();
  readonly #cutOff = new WeakSet<ServerResponse>();

  constructor(parts: ProviderParts) {
    this.settings = parts.settings;
    this.person = parts.person;
    this.people = parts.people;
    this.keys = parts.keys;
    this.clock = parts.clock;
    this.keys.algorithm = () => this.settings.signingAlg;
    this.proofs = new ProofCheck(() => proofRules(this.settings), this.now);
    const { tls, mtlsAliases } = parts.tls;
    const listener = (message: IncomingMessage, response: ServerResponse) => {
      this.#receive(message, response);
    };
    this.#server = new KitServer(
      listener,
      tls ? { requestsCertificates: !mtlsAliases } : undefined,
    );
    this.#mtlsServer = mtlsAliases
      ? new KitServer(listener, { requestsCertificates: true })
      : undefined;
  }

  #receive(message: IncomingMessage, response: ServerResponse): void {
    response.setHeader("Server", SERVER_HEADER);
    this.#serve(message, response).catch((error: unknown) => {
      // A client may leave early. Any other error is a mistake in a hook of the test, so it is a
      // violation.
      if (response.destroyed || !message.complete) return;
      this.violations.push(`the provider failed: ${String(error)}`);
      if (!response.headersSent)
        send(response, errorReply("server_error", "the provider failed", { status: 500 }));
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
    return applicationEnv(this);
  }

  get signedIn(): Map<string, number> {
    return this.sessions.signedIn;
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

  noteViolation(violation: string): void {
    this.violations.push(violation);
  }

  noteRefusal({ endpoint, error, reason }: Refusal): void {
    // Wrong credentials are the client's mistake. Any other refusal may be what a test is about.
    if (error === "invalid_client") this.violations.push(`${endpoint}: ${error}: ${reason}`);
  }

  async start(issuerPath: string): Promise<void> {
    await this.resume();
    const withoutSlash = (address: string) => address.replace(/\/$/, "");
    this.issuer = this.#server.origin + issuerPath;
    this.base = withoutSlash(this.issuer);
    if (this.#mtlsServer !== undefined)
      this.mtlsBase = withoutSlash(this.#mtlsServer.origin + issuerPath);
  }

  async resume(): Promise<void> {
    await Promise.all([this.#server.listen(), this.#mtlsServer?.listen()]);
  }

  async pause(): Promise<void> {
    await Promise.all([this.#server.close(), this.#mtlsServer?.close()]);
  }

  rotateDpopNonce(): void {
    this.proofs.rotate();
  }

  async stop(): Promise<void> {
    this.clearFaults();
    await this.pause();
    if (this.violations.length > 0)
      throw new Error(`violations seen by the provider:\n${this.violations.join("\n")}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  requestsTo(
    endpoint: Endpoint | "unknown",
    params: Readonly<Record<string, string>> = {},
  ): ReceivedRequest[] {
    return this.requests.filter(
      (request) =>
        request.endpoint === endpoint &&
        Object.entries(params).every(([name, value]) => request.params.get(name) === value),
    );
  }

  targetOf(accessToken: string): RequestedTarget | undefined {
    return this.grants.targetOf(accessToken);
  }

  isActive(token: string): boolean {
    return this.grants.active(token, this.settings, this.now()) !== undefined;
  }

  introspect(token: string): Readonly<Record<string, unknown>> {
    return introspection(token, this);
  }

  revokeAll(): void {
    this.grants.revokeAll();
  }

  logoutToken(options: LogoutTokenOptions = {}): string {
    assertLogoutToken(options);
    return logoutToken(options, this);
  }

  async sendLogoutToken(token: LogoutTokenOptions | string = {}): Promise<LogoutResponse> {
    return postLogoutToken(typeof token === "string" ? token : this.logoutToken(token), this);
  }

  async endSession(subOrSid: string): Promise<LogoutResponse[]> {
    const ended = this.sessions.find(subOrSid);
    if (ended.length === 0)
      throw new Error(
        `The provider has no session with the sub or sid ${JSON.stringify(subOrSid)}.`,
      );
    return endSessions(ended, this);
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
    // A test must not send requests to another provider, even if the application is configured for
    // one.
    if (!isLoopback(hostname))
      throw new Error(`the application redirected to ${origin} instead of to this provider`);
    const headers =
      person === undefined ? {} : { [PERSON_HEADER]: encodeURIComponent(JSON.stringify(person)) };
    const response = await fetch(authorizationUrl, { redirect: "manual", headers });
    const body = await response.text();
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(
        `the authorization endpoint responded with ${String(response.status)}: ${body}`,
      );
    return location;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await this.#record(message);
    const violations = violationsOf(request);
    this.violations.push(...violations);
    const { endpoint } = request;
    if (endpoint === "unknown") {
      send(response, errorReply("not_found", "no endpoint at this path", { status: 404 }));
      return;
    }
    await this.#faults.waitAtBarriers(request, "before");
    const before = this.#faults.take(request, "before");
    if (await this.#strike(before, response)) return;
    const reply =
      violations.length > 0
        ? errorReply("invalid_request", violations.join("; "))
        : await work(endpoint, request, this);
    await this.#faults.waitAtBarriers(request, "after");
    const after = this.#faults.take(request, "after");
    if (await this.#strike(after, response, reply)) return;
    send(response, reply);
  }

  async #record(message: IncomingMessage): Promise<ReceivedRequest> {
    const prefix = new URL(this.base).pathname.replace(/\/$/, "");
    const endpointAt = (path: string) =>
      ENDPOINTS.find(
        (endpoint) =>
          path === prefix + ENDPOINT_PATHS[endpoint] && isOffered(endpoint, this.settings),
      );
    const request = await receive(message, endpointAt, this.now());
    this.requests.push(request);
    return request;
  }

  /** Applies the fault that is due, if any. Returns whether the response is complete. */
  async #strike(
    fault: Fault | undefined,
    response: ServerResponse,
    reply?: ProviderReply,
  ): Promise<boolean> {
    if (fault === undefined) return false;
    this.#abandoned.add(response);
    response.once("close", () => this.#abandoned.delete(response));
    const outcome = await strike(fault, { response, clock: this.clock, reply });
    if (outcome === "go-on") this.#abandoned.delete(response);
    // Processing a request whose connection was cut would spend its token, and the client's next
    // try would be a reuse.
    return outcome === "dealt-with" || this.#cutOff.has(response);
  }
}
