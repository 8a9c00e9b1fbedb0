import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { presentedCertificate } from "../certificates/presented-certificate.js";
import { PROOF_ALGORITHMS, ProofCheck } from "../provider/dpop-proofs.js";
import { KitServer } from "../provider/provider-servers.js";
import {
  tokenCheck,
  type TokenCheck,
  type TokenClaims,
  type TokenProvider,
} from "./access-token-checks.js";
import { admission, type Admission, type Refusal, type StepUpRequirement } from "./admission.js";
import type { ApiRequest, TestApi, TestApiOptions } from "./test-api-types.js";
import { acceptWebSocket } from "./web-socket.js";

export type { ApiRequest, TestApi, TestApiOptions } from "./test-api-types.js";

/**
 * Starts an API on a free port of 127.0.0.1. It checks access tokens as a real one does: signature,
 * issuer, audience, expiry, scopes, and the key or certificate that a token is bound to. A GET of
 * `stream` is an event stream, each upgrade a WebSocket that returns what it gets, and any other
 * request gets JSON.
 *
 * @param provider whose tokens it accepts: a test provider, or the `issuer` of another one
 * @throws TypeError `introspection` of another provider without its `clientId` and `clientSecret`
 *
 * @example
 * await using api = await startTestApi(provider);
 * const auth = idpAuth({ env: provider.env, apis: { orders: { url: api.url } } });
 */
export async function startTestApi(
  provider: TokenProvider,
  options: TestApiOptions = {},
): Promise<TestApi> {
  const { audience, introspection = false } = options;
  const { introspect, clientId, clientSecret } = provider;
  if (
    introspection &&
    introspect === undefined &&
    (clientId === undefined || clientSecret === undefined)
  ) {
    throw new TypeError(
      "The option `introspection` needs the provider's `clientId` and `clientSecret`.",
    );
  }
  const api = new RunningApi(tokenCheck(provider, { audience, introspection }), provider, options);
  await api.start();
  return api;
}

/** What each open stream and WebSocket has. */
interface Listener {
  send(data: string): void;
}

class RunningApi implements TestApi {
  readonly requests: ApiRequest[] = [];
  readonly #server: KitServer;
  readonly #proofs: ProofCheck;
  readonly #sockets = new Set<Socket>();
  readonly #listeners = new Set<Listener>();
  readonly #check: TokenCheck;
  readonly #options: TestApiOptions;
  readonly #now: () => number;
  #refusals = 0;
  #stepUp: StepUpRequirement | undefined;

  constructor(
    check: TokenCheck,
    { clock = Date }: Pick<TokenProvider, "clock">,
    options: TestApiOptions,
  ) {
    this.#check = check;
    this.#options = options;
    this.#now = () => clock.now();
    const { dpopNonce = "none", dpopNonceSeconds = 300, dpopProofSeconds = 60 } = options;
    const rules = {
      algorithms: PROOF_ALGORITHMS,
      seconds: dpopProofSeconds,
      nonce: dpopNonce,
      nonceSeconds: dpopNonceSeconds,
    };
    this.#proofs = new ProofCheck(() => rules, this.#now);
    this.#server = new KitServer(
      (message, response) => {
        // The client has left before its request was complete.
        this.#respond(message, response).catch(() => response.destroy());
      },
      options.tls === true ? { requestsCertificates: true } : undefined,
    );
  }

  get url(): string {
    return `${this.#server.origin}/`;
  }

  start(): Promise<void> {
    const { server } = this.#server;
    server.on("connection", (socket) => {
      this.#sockets.add(socket.on("close", () => this.#sockets.delete(socket)));
    });
    server.on("upgrade", (message: IncomingMessage, socket: Socket, head: Buffer) => {
      // Node.js leaves the socket of an upgrade without a listener, so a reset would end the process.
      socket.on("error", () => socket.destroy());
      void this.#upgrade(message, socket, head);
    });
    return this.#server.listen();
  }

  refuseNext(): void {
    this.#refusals += 1;
  }

  requireStepUp(requirement?: StepUpRequirement): void {
    this.#stepUp = requirement;
  }

  rotateDpopNonce(): void {
    this.#proofs.rotate();
  }

  send(data: unknown): void {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    for (const listener of this.#listeners) listener.send(text);
  }

  async stop(): Promise<void> {
    const closed = this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #admit(message: IncomingMessage): Promise<Admission> {
    const { method = "GET", url = "/", headers } = message;
    const { scope } = this.#options;
    const check: TokenCheck = (token) => this.#checked(token);
    const proof = headers["dpop"];
    return admission(
      {
        authorization: headers.authorization,
        proof: proof === undefined ? undefined : String(proof),
        method,
        url: this.#server.origin + url,
        certificate: presentedCertificate(message),
      },
      { check, proofs: this.#proofs, scope, stepUp: this.#stepUp, now: this.#now() },
    );
  }

  #checked(token: string): ReturnType<TokenCheck> {
    if (this.#refusals === 0) return this.#check(token);
    this.#refusals -= 1;
    return Promise.resolve({ kind: "invalid", reason: "refused by refuseNext()" });
  }

  async #respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(message);
    let claims: TokenClaims | undefined;
    try {
      const admitted = await this.#admit(message);
      ({ claims } = admitted);
      if (admitted.kind === "refused") {
        this.requests.push(recorded(message, { body, claims, status: admitted.status }));
        refused(response, admitted);
        return;
      }
      const request = recorded(message, { body, claims, status: 200 });
      const { respond = described } = this.#options;
      const content = isStream(request) ? undefined : JSON.stringify(await respond(request));
      this.requests.push(request);
      for (const [name, value] of Object.entries(admitted.headers)) response.setHeader(name, value);
      if (isStream(request)) this.#stream(response, request);
      else response.writeHead(200, { "Content-Type": "application/json" }).end(content);
    } catch (error) {
      this.requests.push(recorded(message, { body, claims, status: 500 }));
      failed(response, error);
    }
  }

  async #upgrade(message: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    try {
      const admitted = await this.#admit(message);
      const { claims } = admitted;
      const status = admitted.kind === "refused" ? admitted.status : 101;
      this.requests.push(recorded(message, { body: "", claims, status }));
      if (admitted.kind === "refused") refused(responseOn(socket, message), admitted);
      else this.#hold(acceptWebSocket(message, socket, head), socket);
    } catch (error) {
      this.requests.push(recorded(message, { body: "", claims: undefined, status: 500 }));
      failed(responseOn(socket, message), error);
    }
  }

  #stream(response: ServerResponse, { headers }: ApiRequest): void {
    const given = Number(headers["last-event-id"] ?? 0);
    let id = Number.isSafeInteger(given) ? given : 0;
    const send = (data: string): void => {
      id += 1;
      const lines = data.split("\n").map((line) => `data: ${line}\n`);
      response.write(`id: ${String(id)}\n${lines.join("")}\n`);
    };
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    this.#hold({ send }, response);
    response.flushHeaders();
  }

  #hold(listener: Listener, connection: Pick<Socket, "on"> | ServerResponse): void {
    this.#listeners.add(listener);
    connection.on("close", () => this.#listeners.delete(listener));
  }
}

function recorded(
  message: IncomingMessage,
  seen: Pick<ApiRequest, "body" | "claims" | "status">,
): ApiRequest {
  const { method = "GET", url = "/", headers } = message;
  return { method, path: url, headers, ...seen, certificate: presentedCertificate(message) };
}

/** Returns the response to an upgrade that is refused, which ends the connection. */
function responseOn(socket: Socket, message: IncomingMessage): ServerResponse {
  const response = new ServerResponse(message);
  try {
    response.assignSocket(socket);
  } catch {
    // An earlier request of this connection has no response yet.
    socket.destroy();
  }
  return response.on("finish", () => socket.end());
}

function isStream({ method, path }: ApiRequest): boolean {
  return method === "GET" && new URL(path, "http://api").pathname.endsWith("/stream");
}

function described({ method, path, claims }: ApiRequest): unknown {
  return { method, path, sub: claims?.["sub"] };
}

function refused(response: ServerResponse, { status, challenge, error, headers }: Refusal): void {
  response.writeHead(status, {
    ...headers,
    "Content-Type": "application/json",
    "WWW-Authenticate": challenge,
  });
  response.end(JSON.stringify({ error }));
}

function failed(response: ServerResponse, error: unknown): void {
  response.writeHead(500).end(`The test's API failed: ${String(error)}`);
}
