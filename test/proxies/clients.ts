import { once } from "node:events";
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { TcpNetConnectOpts } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { WebSocket } from "ws";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { BROWSER_ADDRESS, HOSTNAME, ORIGIN, type RunningProxy } from "./programs.js";

// One page's requests to a proxy, over one connection: HTTP/1.1 or HTTP/2.

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders | IncomingMessage["headers"];
  /** The next piece of the body. */
  next(): Promise<string>;
  /** The rest of the body. Rejects if the response breaks off. */
  rest(): Promise<string>;
}

export interface OpenRequest {
  /** Resolves when the piece has been taken. */
  send(piece: Uint8Array): Promise<void>;
  end(piece?: Uint8Array): void;
  /** After a response that came early: sends the rest, or over HTTP/2 no more. */
  finish(rest: Uint8Array): void;
  /** Resolves as soon as the headers have arrived. */
  readonly response: Promise<Response>;
}

/** A connection with the cookies of a user. */
export interface Client {
  open(method: string, target: string, headers?: OutgoingHttpHeaders): OpenRequest;
  close(): void;
}

export const PROTOCOLS = ["HTTP/1.1", "HTTP/2"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export async function openClient(
  protocol: Protocol,
  proxy: RunningProxy,
  user: CookieBrowser,
): Promise<Client> {
  return protocol === "HTTP/2" ? openHttp2(proxy, user) : openHttp1(proxy, user);
}

const headersOf = (user: CookieBrowser): OutgoingHttpHeaders => ({
  cookie: user.cookies.header(new URL(ORIGIN)) ?? "",
  "sec-fetch-site": "same-origin",
});

function openHttp1(proxy: RunningProxy, user: CookieBrowser): Client {
  const agent = new Agent({ keepAlive: true });
  return {
    open(method, target, headers) {
      const sent = request({
        host: "127.0.0.1",
        port: proxy.browser.proxied[ORIGIN],
        agent,
        method,
        path: target,
        headers: { host: HOSTNAME, ...headersOf(user), ...headers },
      });
      // After an early response, the proxy may close the connection.
      sent.on("error", () => undefined);
      sent.on("socket", (socket) => socket.on("error", () => undefined));
      const response = once(sent, "response") as Promise<[IncomingMessage]>;
      return opened(
        sent,
        response.then(([message]) => ({
          status: message.statusCode ?? 0,
          headers: message.headers,
          ...readable(message),
        })),
      );
    },
    close: () => agent.destroy(),
  };
}

export async function openHttp2(
  proxy: RunningProxy,
  user: CookieBrowser,
  localAddress = BROWSER_ADDRESS,
): Promise<Client & { readonly session: ClientHttp2Session }> {
  const options: ConnectionOptions & TcpNetConnectOpts = {
    host: "127.0.0.1",
    port: proxy.port,
    ca: proxy.certificate,
    servername: HOSTNAME,
    ALPNProtocols: ["h2"],
    localAddress,
  };
  const session = connect(ORIGIN, { createConnection: () => connectTls(options) });
  await once(session, "remoteSettings");
  return {
    session,
    open(method, target, headers) {
      const sent = session.request({
        ":authority": HOSTNAME,
        ":method": method,
        ":path": target,
        ...headersOf(user),
        ...headers,
      });
      sent.on("error", () => undefined);
      const response = once(sent, "response") as Promise<
        [IncomingHttpHeaders & { ":status": number }]
      >;
      return opened(
        sent,
        response.then(([received]) => ({
          status: received[":status"],
          headers: received,
          ...readable(sent),
        })),
      );
    },
    close: () => session.destroy(),
  };
}

function opened(sent: ClientRequest | ClientHttp2Stream, response: Promise<Response>): OpenRequest {
  return {
    send: (piece) => new Promise((resolve) => void sent.write(piece, () => resolve())),
    end: (piece) => void sent.end(piece),
    finish(rest) {
      if ("close" in sent) sent.close();
      else sent.end(rest);
    },
    response,
  };
}

function readable(body: IncomingMessage | ClientHttp2Stream): Pick<Response, "next" | "rest"> {
  body.setEncoding("utf8").on("error", () => undefined);
  const rest = (): Promise<string> => text(body);
  return {
    rest,
    async next() {
      const [piece] = (await once(body, "data")) as [string];
      body.pause();
      return piece;
    },
  };
}

/** A WebSocket over HTTP/1.1. */
export function openSocket(proxy: RunningProxy, user: CookieBrowser, target: string): WebSocket {
  const port = proxy.browser.proxied[ORIGIN] ?? 0;
  return new WebSocket(`ws://127.0.0.1:${String(port)}${target}`, {
    origin: ORIGIN,
    headers: { host: HOSTNAME, ...(headersOf(user) as Record<string, string>) },
  });
}
