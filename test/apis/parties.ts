// The three parties of a proxied request: an API that records what it gets, the proxy in front, and
// a browser that writes raw bytes.
import { once } from "node:events";
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Agent } from "undici";
import type { Api } from "../../src/config/api-options.js";
import type { Exchange } from "../../src/apis/exchange.js";
import { proxyRequest } from "../../src/apis/request-steps.js";
import { nodeBody, type Pieces } from "../../src/apis/request-bodies.js";
import { agentOf } from "../../src/apis/api-connections.js";
import { undiciTransport } from "../../src/apis/undici-transport.js";
import { proxyUpgrade } from "../../src/apis/websocket.js";
import type { Transport } from "../../src/apis/transport.js";
import { ERRORS, type Reply } from "../../src/adapter.js";
import type { IdpAuthError } from "../../src/index.js";
import { json, problem } from "../../src/http/reply.js";
import { NodeRequest, onClose, rememberResponse } from "../../src/node-http/node-message.js";
import { writeReply } from "../../src/node-http/node-response.js";
import { systemClock, type Clock } from "../../src/clock.js";
import { Shutdown } from "../../src/work/shutdown.js";
import { apiRow } from "./api-row.js";
import { usable } from "./usable-token.js";
import { watchOf } from "./watch-of.js";
import { UNREACHED_BY_ENV } from "../support/options-for.js";

export const ORIGIN = "https://app.example";

/** The options of an application with one API. */
export const optionsFor = (url: string) => ({
  ...UNREACHED_BY_ENV,
  apis: { orders: { url, path: "/api/orders/" } },
});

const running: (() => unknown)[] = [];

/** Closes everything that the functions of this module have opened. For `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const stop of running.splice(0).reverse()) await stop();
}

/** Starts a server on a free port of this machine. Returns the port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  running.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export interface Recorded {
  readonly url: URL;
  /** The raw bytes of each connection, in latin1. */
  readonly connections: { text: string; readonly socket: Socket; isClosed: boolean }[];
}

/**
 * An API that is a plain TCP server.
 * @param respond called for each piece that arrives, with everything that its connection has got so
 *   far
 */
export async function rawApi(respond: (socket: Socket, text: string) => void): Promise<Recorded> {
  const connections: Recorded["connections"] = [];
  const server = createServer((socket) => {
    const connection = { text: "", socket, isClosed: false };
    connections.push(connection);
    socket.setEncoding("latin1").on("error", () => undefined);
    socket.on("close", () => (connection.isClosed = true));
    socket.on("data", (chunk: string) => {
      connection.text += chunk;
      respond(socket, connection.text);
    });
  });
  return { url: new URL(`http://127.0.0.1:${await listen(server)}/v2/`), connections };
}

type Listener = (...args: Parameters<RequestListener>) => unknown;

/** An API that is a server of node:http. */
export async function nodeApi(
  listener: Listener,
  changes: Partial<Api> = {},
): Promise<{ api: Api; server: http.Server }> {
  const server = http.createServer((message, response) => void listener(message, response));
  return {
    api: apiRow({ url: new URL(`http://127.0.0.1:${await listen(server)}/v2/`), ...changes }),
    server,
  };
}

export interface FrontOptions {
  /** The user's tokens: the first one, and what replaces each that was rejected. */
  readonly token?: (rejected?: string) => string | Reply;
  readonly clock?: Clock;
  /** Runs before the proxy, as a middleware would. */
  readonly before?: (request: IncomingMessage | Http2ServerRequest) => Promise<unknown>;
}

export interface Front {
  readonly port: number;
  readonly server: http.Server;
  /** Ends the session. */
  readonly session: AbortController;
  readonly shutdown: Shutdown;
  readonly failures: IdpAuthError[];
  /** How many responses have lost their `Location`. */
  readonly dropped: () => number;
  /** What the proxy was asked for tokens: the rejected ones, or undefined. */
  readonly tokenCalls: (string | undefined)[];
  readonly handler: (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ) => Promise<void>;
}

/** A handler that does what an adapter does for the proxy. */
export function frontHandler(
  api: Api,
  { token, clock = systemClock, before }: FrontOptions = {},
): Omit<Front, "port" | "server"> &
  Pick<Exchange, "failed"> & {
    exchangeOf(message: IncomingMessage | Http2ServerRequest): Exchange;
    transport: Transport<Readable, Pieces>;
  } {
  const agent = (api.dispatcher as unknown as Agent | undefined) ?? agentOf(api);
  running.push(() => void agent.destroy());
  const transport = undiciTransport(api, clock, agent);
  const session = new AbortController();
  const shutdown = new Shutdown();
  const failures: IdpAuthError[] = [];
  const tokenCalls: (string | undefined)[] = [];
  const failed = (error: IdpAuthError) => failures.push(error);
  let drops = 0;
  const dropped = () => drops;
  const exchangeOf = (message: IncomingMessage | Http2ServerRequest): Exchange => ({
    api,
    request: new NodeRequest(message),
    lines: message.rawHeaders,
    origin: ORIGIN,
    client: message.socket.remoteAddress,
    pathPrefix: "",
    clock,
    shutdown,
    connection: message.socket,
    takeStream: () => () => undefined,
    watch: (onEnd) => watchOf(session.signal, onEnd),
    onClose: (closed) => onClose(message, closed),
    async token() {
      tokenCalls.push(undefined);
      return usable(token === undefined ? "token-1" : token());
    },
    async tokenAgain(rejected) {
      if (rejected !== undefined) tokenCalls.push(rejected);
      return usable(token === undefined ? "token-1" : token(rejected));
    },
    async challenged({ status, error, parameters }) {
      const login_url = `/idpauth/login/?${new URLSearchParams(parameters).toString()}`;
      return json({ authenticated: true, error, ...parameters, login_url }, status);
    },
    observed: (_headers, send) => send(),
    refused: async (code, { headers = {}, detail = `${ERRORS[code].title}.` } = {}) =>
      problem(code, detail, { headers }),
    failed,
    locationDropped: () => void (drops += 1),
  });
  const handler: Front["handler"] = async (message, response) => {
    rememberResponse(message, response);
    await before?.(message);
    writeReply(response, await proxyRequest(exchangeOf(message), transport, nodeBody(message)));
  };
  return {
    ...{ session, shutdown, failures, dropped, tokenCalls },
    ...{ handler, failed, exchangeOf, transport },
  };
}

/** A server of node:http with the proxy. */
export async function front(api: Api, options: FrontOptions = {}): Promise<Front> {
  const parts = frontHandler(api, options);
  const server = http.createServer((request, response) => void parts.handler(request, response));
  server.on("upgrade", (message, socket, head) => {
    socket.on("error", () => undefined);
    void proxyUpgrade(parts.exchangeOf(message), parts.transport, [message, socket, head]);
  });
  return { ...parts, server, port: await listen(server) };
}

/** A connection of a browser to the front. */
export async function rawBrowser(
  port: number,
): Promise<{ socket: Socket; received: { text: string; isClosed: boolean } }> {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  const received = { text: "", isClosed: false };
  socket.on("data", (chunk: string) => (received.text += chunk));
  socket.on("close", () => (received.isClosed = true)).on("error", () => undefined);
  running.push(() => socket.destroy());
  await once(socket, "connect");
  return { socket, received };
}

export interface Got {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** A request whose target is sent as it is. */
export async function request(
  port: number,
  target: string,
  options: http.RequestOptions & { readonly body?: string } = {},
): Promise<Got> {
  const response = await open(port, target, options);
  response.setEncoding("utf8");
  let body = "";
  for await (const chunk of response) body += chunk as string;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** As `request`, without reading the body. */
export async function open(
  port: number,
  target: string,
  { body, ...options }: http.RequestOptions & { readonly body?: string } = {},
): Promise<IncomingMessage> {
  const outgoing = http.request({
    host: "127.0.0.1",
    port,
    path: target,
    agent: false,
    ...options,
  });
  running.push(() => outgoing.destroy());
  const responded = once(outgoing, "response");
  outgoing.on("error", () => undefined);
  outgoing.end(body);
  const [response] = (await responded) as [IncomingMessage];
  response.on("error", () => undefined);
  return response;
}
