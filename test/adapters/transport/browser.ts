// A browser with one session, over HTTP/1.1 or HTTP/2. It tells a whole response from one that is
// broken off.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
} from "node:http2";
import { connect, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { TestProvider } from "../../../src/testing/index.js";

/** `h2c`: HTTP/2 in clear text, with prior knowledge; `h2`: over TLS. */
export type Protocol = "http/1.1" | "h2c" | "h2";

/** How a response ended: `broken` before its end, or without a response. */
export type End = "whole" | "broken";

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Paused until something reads it. */
  readonly body: Readable;
}

/** A request whose body a test writes, if it has one. */
export interface Exchange {
  readonly sent: Writable;
  /** Rejects if the connection ends before the headers. */
  readonly response: Promise<Response>;
  /** Resolves when the exchange is over. Something has to read the body. */
  readonly end: Promise<End>;
  /** Statuses of interim responses. */
  readonly interim: number[];
  /** The user goes away. */
  leave(): void;
}

export interface Sending {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
}

export class Browser {
  readonly #protocol: Protocol;
  readonly #port: number;
  readonly origin: string;
  #session: ClientHttp2Session | undefined;
  #cookie = "";

  constructor(protocol: Protocol, port: number) {
    this.#protocol = protocol;
    this.#port = port;
    this.origin = `${protocol === "h2" ? "https" : "http"}://127.0.0.1:${String(port)}`;
  }

  /** Another browser of the same application, signed out. */
  another(): Browser {
    return new Browser(this.#protocol, this.#port);
  }

  async signIn(provider: TestProvider): Promise<void> {
    const login = await this.get("/idpauth/login/");
    const callback = new URL(await provider.signInCode(login.headers.location ?? ""));
    await this.get(callback.pathname + callback.search);
    const probe = await this.get("/idpauth/session");
    if (!probe.text.includes('"authenticated":true'))
      throw new Error(`The user is not signed in: ${String(probe.status)} ${probe.text}`);
  }

  /** A whole response. It keeps the cookies. */
  async get(path: string): Promise<{
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }> {
    const { response, end } = this.open(path);
    const { status, headers, body } = await response;
    const [cookie] = headers["set-cookie"] ?? [];
    if (cookie !== undefined) this.#cookie = cookie.split(";", 1)[0] ?? "";
    const received = await text(body);
    await end;
    return { status, headers, text: received };
  }

  /** Opens a request. One without a body has been sent. */
  open(path: string, { method = "GET", headers = {} }: Sending = {}): Exchange {
    const all = {
      ...(this.#cookie !== "" && { cookie: this.#cookie }),
      ...(method === "POST" && { "x-idpauth": "1", "content-type": "application/octet-stream" }),
      "sec-fetch-site": "same-origin",
      ...headers,
    };
    const exchange =
      this.#protocol === "http/1.1"
        ? this.#openOverHttp1(path, method, all)
        : this.#openOverHttp2(path, method, all);
    if (method === "GET") exchange.sent.end();
    // Whether there is a response is a test's matter.
    exchange.response.catch(() => undefined);
    return exchange;
  }

  #openOverHttp1(path: string, method: string, headers: Record<string, string>): Exchange {
    const sent = httpRequest({
      host: "127.0.0.1",
      port: this.#port,
      path,
      method,
      headers,
      agent: false,
    });
    const interim: number[] = [];
    sent.on("information", ({ statusCode }) => interim.push(statusCode));
    sent.on("continue", () => interim.push(100));
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      sent.on("error", reject).on("response", resolve);
      sent.on("close", () => {
        reject(new Error("The connection has ended before the response."));
      });
    });
    const end = response.then(
      (message) => {
        message.on("error", () => undefined);
        return new Promise<End>((resolve) => {
          message.on("close", () => resolve(message.complete ? "whole" : "broken"));
        });
      },
      () => "broken" as const,
    );
    return {
      sent,
      interim,
      response: response.then((message) => ({
        status: message.statusCode ?? 0,
        headers: message.headers,
        body: message,
      })),
      end,
      leave: () => sent.destroy(),
    };
  }

  #openOverHttp2(path: string, method: string, headers: Record<string, string>): Exchange {
    this.#session ??= this.#connect();
    const leaving = new AbortController();
    const stream = this.#session.request(
      { ":path": path, ":method": method, ...headers },
      { signal: leaving.signal },
    );
    const interim: number[] = [];
    stream.on("headers", (interimHeaders) => interim.push(interimHeaders[":status"] ?? 0));
    stream.on("continue", () => interim.push(100));
    stream.on("error", () => undefined);
    const response = new Promise<Response>((resolve, reject) => {
      stream.on("response", (received) => {
        resolve({ status: received[":status"] ?? 0, headers: received, body: stream });
      });
      stream.on("close", () => {
        reject(new Error(`The stream has ended before the response: ${String(stream.rstCode)}`));
      });
    });
    return {
      sent: stream,
      interim,
      response,
      end: endOf(stream, response),
      // Its `close` waits until all that was written is sent, for ever if nobody reads it.
      leave: () => leaving.abort(),
    };
  }

  #connect(): ClientHttp2Session {
    const session = connectHttp2(this.origin, { rejectUnauthorized: false });
    session.on("error", () => undefined);
    session.on("close", () => (this.#session = undefined));
    return session;
  }

  /** Asks for a WebSocket. Its bytes are echoed. */
  upgrade(path: string): Upgraded {
    const socket = connect(this.#port, "127.0.0.1");
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: ${new URL(this.origin).host}`,
      `Origin: ${this.origin}`,
      `Cookie: ${this.#cookie}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    return new Upgraded(socket);
  }

  close(): void {
    this.#session?.destroy();
  }
}

/** Whether a stream ended with END_STREAM, or was reset. */
function endOf(stream: ClientHttp2Stream, response: Promise<Response>): Promise<End> {
  return new Promise((resolve) => {
    stream.on("close", () => {
      const isReset = stream.rstCode !== constants.NGHTTP2_NO_ERROR;
      response.then(
        () => resolve(isReset ? "broken" : "whole"),
        () => resolve("broken"),
      );
    });
  });
}

/** A connection that was asked to become a WebSocket. */
export class Upgraded {
  readonly #socket: Socket;
  received = "";
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1").on("data", (piece: string) => (this.received += piece));
    socket.on("error", () => undefined);
    // As a browser does.
    socket.on("end", () => socket.end());
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  get isUpgraded(): boolean {
    return this.received.startsWith("HTTP/1.1 101 ") && this.received.includes("\r\n\r\n");
  }

  send(piece: string): void {
    this.#socket.write(piece);
  }

  leave(): void {
    this.#socket.destroy();
  }
}
