import { ConnectionTarget } from "./connection-target.js";
import { RETRY_MS } from "./connection-watch.js";
import type { SessionSocket } from "./connections.js";
import { keepConnected } from "./session-connection.js";
import type {
  Closing,
  ConnectionSettings,
  Opened,
  SessionConnection,
} from "./session-connection.js";
import { ownUrl, type StreamEnvironment } from "./stream-environment.js";

/** How often a signed-in user tries. The browser doesn't tell a script why a socket can't open. */
const TRIES = 5;

/** EventTarget's own methods have one type for all events. */
type SocketMembers = Omit<SessionSocket, "addEventListener" | "removeEventListener">;

/** A `WebSocket` that opens another one when it loses its connection. */
export class SocketOfSession extends ConnectionTarget implements SocketMembers {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;
  readonly url: string;
  onopen: SessionSocket["onopen"] = null;
  onmessage: SessionSocket["onmessage"] = null;
  onerror: SessionSocket["onerror"] = null;
  onclose: SessionSocket["onclose"] = null;
  readonly #env: StreamEnvironment;
  readonly #connection: SessionConnection;
  #socket: WebSocket | undefined;
  #binaryType: BinaryType = "blob";
  #isOver = false;

  constructor(
    url: string | URL,
    protocols: string | string[] | undefined,
    settings: ConnectionSettings,
  ) {
    super("open", "message", "error", "close");
    const { env } = settings;
    this.#env = env;
    this.url = ownUrl(url, env).replace(/^http/, "ws");
    this.#connection = keepConnected({
      ...settings,
      connect: (signal, opened) =>
        this.#follow(new env.WebSocket(this.url, protocols), signal, opened),
      over: () => {
        this.#isOver = true;
      },
    });
  }

  get ended(): SessionSocket["ended"] {
    return this.#connection.ended;
  }

  get readyState(): SessionSocket["readyState"] {
    const state = this.#socket?.readyState;
    if (this.#isOver) return state ?? this.CLOSED;
    return state === this.OPEN ? this.OPEN : this.CONNECTING;
  }

  get protocol(): string {
    return this.#socket?.protocol ?? "";
  }

  get extensions(): string {
    return this.#socket?.extensions ?? "";
  }

  get bufferedAmount(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  get binaryType(): BinaryType {
    return this.#binaryType;
  }

  set binaryType(type: BinaryType) {
    this.#binaryType = type;
    if (this.#socket) this.#socket.binaryType = type;
  }

  send(data: Parameters<WebSocket["send"]>[0]): void {
    if (this.readyState === this.CONNECTING)
      throw new DOMException("The socket isn't open.", "InvalidStateError");
    this.#socket?.send(data);
  }

  close(code?: number, reason?: string): void {
    this.#socket?.close(code, reason);
    this.#connection.end("closed");
  }

  #follow(socket: WebSocket, signal: AbortSignal, opened: Opened): Promise<Closing> {
    this.#socket = socket;
    socket.binaryType = this.#binaryType;
    // An event can be dispatched once.
    const forward = (event: Event) =>
      this.dispatchEvent(new (event.constructor as typeof Event)(event.type, event));
    return new Promise((resolve) => {
      let closing: Closing = { kind: "refused", tries: TRIES };
      socket.onmessage = socket.onerror = forward;
      socket.onopen = (event) => {
        closing = { kind: "lost", retry: RETRY_MS };
        // The browser hides a socket's pings from scripts.
        opened(0);
        forward(event);
      };
      socket.onclose = (event) => {
        // An application closes a socket of an ended session with 4401. The browser gets the cookie of a new sign-in some moments later.
        const isEnded = event.code === 4401 && event.reason !== "replaced";
        resolve(isEnded ? { kind: "ended" } : closing);
        forward(event);
      };
      signal.addEventListener("abort", () => {
        socket.close();
        resolve(closing);
        if (this.#isOver || socket.readyState === this.CLOSED) return;
        // The socket's own event can come after the next connection has opened.
        socket.onerror = socket.onclose = null;
        this.dispatchEvent(new this.#env.CloseEvent("close", { code: 1005 }));
      });
    });
  }
}
