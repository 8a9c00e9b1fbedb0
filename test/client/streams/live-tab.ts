import type { ClientOptions } from "../../../src/client/client-interface.js";
import type { SessionSocket, SessionStream } from "../../../src/client/streams/connections.js";
import { FetchEventSource } from "../../../src/client/streams/fetch-event-source.js";
import type { StreamEnvironment } from "../../../src/client/streams/stream-environment.js";
import { SocketOfSession } from "../../../src/client/streams/web-socket.js";
import { Browser, type Tab } from "../browser.js";
import { ADA, ORIGIN } from "../session-server.js";

/** A connection of a stream, whose server is the test. */
export class FakeConnection {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly #own: Record<string, string>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  /** @param own further headers of its response */
  constructor(headers: Headers, signal: AbortSignal, own: Record<string, string> = {}) {
    this.headers = headers;
    this.#own = own;
    this.signal = signal;
  }

  get isOpen(): boolean {
    return !this.signal.aborted;
  }

  respond(): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        this.signal.addEventListener("abort", () => controller.error(this.signal.reason));
      },
    });
    return new Response(body, {
      headers: { "Content-Type": "text/event-stream; charset=utf-8", ...this.#own },
    });
  }

  send(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  /** The server ends the response. */
  end(): void {
    this.#controller.close();
  }

  /** The network fails. */
  break(): void {
    this.#controller.error(new TypeError("network error"));
  }
}

/** Node.js 22 has none. */
class FakeCloseEvent extends Event {
  readonly code: number;
  readonly reason: string;
  constructor(type: string, { code = 0, reason = "" }: { code?: number; reason?: string } = {}) {
    super(type);
    this.code = code;
    this.reason = reason;
  }
}

/** A socket, whose server is the test. */
export class FakeSocket {
  readonly url: string;
  readonly protocols: string | string[] | undefined;
  readonly sent: unknown[] = [];
  readyState = 0;
  binaryType = "blob";
  bufferedAmount = 0;
  extensions = "";
  protocol = "";
  onopen?: (event: Event) => void;
  onmessage?: (event: MessageEvent) => void;
  onerror?: (event: Event) => void;
  onclose?: (event: FakeCloseEvent) => void;

  constructor(url: string, protocols?: string | string[]) {
    this.url = url;
    this.protocols = protocols;
  }

  accept(): void {
    this.readyState = 1;
    this.protocol = [this.protocols ?? ""].flat()[0] ?? "";
    this.onopen?.(new Event("open"));
  }

  receive(data: string): void {
    this.onmessage?.(new MessageEvent("message", { data }));
  }

  /** The server closes the connection, or, if it wasn't open, refuses it. */
  drop(code = 1006, reason = ""): void {
    const isRefused = this.readyState === 0;
    this.readyState = 3;
    if (isRefused) this.onerror?.(new Event("error"));
    this.onclose?.(new FakeCloseEvent("close", { code, reason }));
  }

  send(data: unknown): void {
    this.sent.push(data);
  }

  close(code = 1005): void {
    if (code === 1) throw new DOMException("Such a code isn't allowed.", "InvalidAccessError");
    if (this.readyState < 2) this.readyState = 2;
  }
}

/** A tab with a client, and what its streams and sockets do. */
export interface LiveTab {
  readonly browser: Browser;
  readonly tab: Tab;
  /** What the server responds with instead of a stream; "network": the network fails. */
  refusal:
    { readonly status: number; readonly headers?: Record<string, string> } | "network" | undefined;
  /** Seconds between the heartbeats of streams; undefined: they needn't beat. */
  heartbeat: string | undefined;
  /** All requests for streams, the newest last. */
  readonly connections: FakeConnection[];
  readonly sockets: FakeSocket[];
  /** The events of all streams and sockets: type and data. */
  readonly events: (string | readonly [string, unknown])[];
  /** Why the newest stream or socket has ended. */
  reason: string | undefined;
  stream(options?: { closeWhenHidden?: boolean; url?: string }): SessionStream;
  socket(options?: { closeWhenHidden?: boolean; url?: string; protocols?: string }): SessionSocket;
}

/** @param isSignedIn whether Ada is signed in, and the client knows it */
export async function liveTab(options: ClientOptions = {}, isSignedIn = true): Promise<LiveTab> {
  const browser = new Browser();
  if (isSignedIn) browser.server.signIn(ADA);
  const tab = browser.tab("tab", options);
  await browser.pass(10);
  const env: StreamEnvironment = Object.assign(Object.create(tab.env) as StreamEnvironment, {
    async fetch(url: string, init: RequestInit) {
      const connection = new FakeConnection(
        new Headers(init.headers),
        init.signal!,
        live.heartbeat === undefined ? {} : { "X-Idpauth-Heartbeat": live.heartbeat },
      );
      live.connections.push(connection);
      if (live.refusal === "network") throw new TypeError("Failed to fetch");
      return live.refusal ? new Response("", live.refusal) : connection.respond();
    },
    CloseEvent: FakeCloseEvent,
    WebSocket: class extends FakeSocket {
      constructor(url: string, protocols?: string | string[]) {
        super(url, protocols);
        live.sockets.push(this);
      }
    },
  });
  const note = ({ type, data }: MessageEvent) =>
    void live.events.push(data === undefined ? type : [type, data]);
  const follow = <Target extends SessionStream | SessionSocket>(target: Target): Target => {
    live.reason = undefined;
    void target.ended.then(({ reason }) => (live.reason = reason));
    for (const type of ["open", "message", "tick", "ended", "error", "close"])
      target.addEventListener(type, note as (event: Event) => void);
    return target;
  };
  const live: LiveTab = {
    browser,
    tab,
    refusal: undefined,
    heartbeat: undefined,
    connections: [],
    sockets: [],
    events: [],
    reason: undefined,
    stream: ({ closeWhenHidden = false, url = "/api/stream" } = {}) =>
      follow(
        new FetchEventSource(url, { client: tab.client, env, closeWhenHidden }) as SessionStream,
      ),
    socket: ({ closeWhenHidden = false, url = "/ws", protocols } = {}) =>
      follow(
        new SocketOfSession(url, protocols, {
          client: tab.client,
          env,
          closeWhenHidden,
        }) as SessionSocket,
      ),
  };
  return live;
}

export const STREAM_URL = `${ORIGIN}/api/stream`;
