import { ConnectionTarget } from "./connection-target.js";
import { LOST, RETRY_MS } from "./connection-watch.js";
import type { SessionStream } from "./connections.js";
import { createEventParser } from "./event-parser.js";
import { keepConnected } from "./session-connection.js";
import type {
  Closing,
  ConnectionSettings,
  Opened,
  SessionConnection,
} from "./session-connection.js";
import { ownUrl } from "./stream-environment.js";

/** The shortest and the longest pause that a server can ask for, in milliseconds. */
const [LEAST_RETRY_MS, MOST_RETRY_MS] = [1_000, 86_400_000];

/** EventTarget's own methods have one type for all events. */
type EventSourceMembers = Omit<SessionStream, "addEventListener" | "removeEventListener">;

/** An `EventSource` over `fetch`, which sees the status and sends `Last-Event-ID` by itself. */
export class FetchEventSource extends ConnectionTarget implements EventSourceMembers {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSED = 2;
  readonly withCredentials = false;
  readonly url: string;
  onopen: SessionStream["onopen"] = null;
  onmessage: SessionStream["onmessage"] = null;
  onerror: SessionStream["onerror"] = null;
  readyState = 0;
  readonly #settings: ConnectionSettings;
  readonly #connection: SessionConnection;
  #lastEventId = "";
  #retry = RETRY_MS;
  /** Whether the last event says that the session has ended. */
  #isEnded = false;

  constructor(url: string | URL, settings: ConnectionSettings) {
    super("open", "message", "error");
    this.url = ownUrl(url, settings.env);
    this.#settings = settings;
    this.#connection = keepConnected({
      ...settings,
      connect: async (signal, opened) => {
        this.#isEnded = false;
        const closing = await this.#read(signal, opened).catch(() => this.#lost());
        if (this.readyState !== this.CLOSED) this.readyState = this.CONNECTING;
        if (!signal.aborted || signal.reason === LOST) this.dispatchEvent(new Event("error"));
        return closing;
      },
      over: (reason) => {
        this.readyState = this.CLOSED;
        if (reason !== "closed") this.dispatchEvent(new Event("error"));
      },
    });
  }

  get ended(): SessionStream["ended"] {
    return this.#connection.ended;
  }

  close(): void {
    this.#connection.end("closed");
  }

  #lost(atLeast = 0): Closing {
    return { kind: "lost", retry: Math.min(MOST_RETRY_MS, Math.max(this.#retry, atLeast)) };
  }

  /** @throws the network fails, or the signal has aborted */
  async #read(signal: AbortSignal, opened: Opened): Promise<Closing> {
    const { env } = this.#settings;
    // A header has bytes: those of UTF-8.
    const id = Array.from(new TextEncoder().encode(this.#lastEventId), (byte) =>
      String.fromCharCode(byte),
    ).join("");
    const { status, headers, body } = await env.fetch(this.url, {
      cache: "no-store",
      headers: {
        Accept: "text/event-stream",
        "X-Idpauth": "1",
        ...(id && { "Last-Event-ID": id }),
      },
      // A redirect to another origin, such as the provider's, leads nowhere.
      mode: "same-origin",
      signal,
    });
    signal.throwIfAborted();
    if (status >= 500 || status === 429)
      return this.#lost(Number(headers.get("Retry-After")) * 1000 || 0);
    // The user may have signed in since, so a second 401 decides.
    if (status === 401) return { kind: "refused", tries: 2 };
    if (status !== 200 || !/^text\/event-stream\b/i.test(headers.get("Content-Type") ?? ""))
      return { kind: "refused", tries: 1 };
    const heard = opened(Number(headers.get("X-Idpauth-Heartbeat")) * 1000);
    this.readyState = this.OPEN;
    this.dispatchEvent(new Event("open"));
    const parse = createEventParser(this.#lastEventId, {
      event: (type, data, id) => {
        if (signal.aborted) return;
        this.#lastEventId = id;
        if (data === undefined) return;
        // The browser gets the cookie of a new sign-in some moments later.
        this.#isEnded = type === "ended" && !data.includes("replaced");
        const { origin } = env.location;
        this.dispatchEvent(new MessageEvent(type, { data, origin, lastEventId: id }));
      },
      retry: (milliseconds) => {
        this.#retry = Math.min(MOST_RETRY_MS, Math.max(LEAST_RETRY_MS, milliseconds));
      },
    });
    const reader = (body as NonNullable<typeof body>).getReader();
    for (;;) {
      const { value } = await reader.read();
      heard();
      if (!value) return this.#isEnded ? { kind: "ended" } : this.#lost();
      if (!parse(value)) return { kind: "refused", tries: 1 };
    }
  }
}
