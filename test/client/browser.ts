import type { ClientOptions, Client } from "../../src/client/client-interface.js";
import { startClient } from "../../src/client/browser-client.js";
import type { Channel, Environment, Stream } from "../../src/client/environment.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { ORIGIN, SessionServer } from "./session-server.js";

type Listener = (event: { readonly persisted?: boolean }) => void;

/** A browser on a clock that the test moves, with any number of tabs of one application. */
export class Browser {
  readonly clock = new TestClock();
  readonly server = new SessionServer(this.clock);
  readonly channels = new Set<FakeChannel>();
  readonly heldLocks = new Set<string>();
  /** What `Math.random` returns. */
  random = 0;
  hasChannels = true;
  hasLocks = true;

  /** Opens a tab with a client. */
  tab(name = "tab", options: ClientOptions = {}, page: Partial<TestPage> = {}): Tab {
    return new Tab(this, name, options, { isVisible: true, href: `${ORIGIN}/`, ...page });
  }

  /** Time passes until what a client returned must have settled. */
  async settled<Result>(promise: Promise<Result>): Promise<Result> {
    promise.catch(() => undefined);
    await this.pass(1);
    return promise;
  }

  /** Time passes; what the tabs and the server have begun goes on. */
  async pass(seconds: number): Promise<void> {
    await this.clock.advanceAsync(seconds * 1000);
  }
}

interface TestPage {
  readonly isVisible: boolean;
  readonly href: string;
  /** The address of the service worker that controls the page. */
  readonly worker?: string;
}

export class Tab {
  readonly browser: Browser;
  readonly name: string;
  readonly client: Client;
  readonly listeners = new Map<string, Set<Listener>>();
  readonly streams: FakeStream[] = [];
  /** The events that the client hears although an element stops them. */
  readonly captured: string[] = [];
  /** The addresses that the page navigated to. */
  readonly navigations: string[] = [];
  readonly windows: { readonly url: string; opener: unknown; closed: boolean }[] = [];
  readonly errors: unknown[] = [];
  /** What the client wrote to the console. */
  readonly warnings: string[] = [];
  /** Whether the browser opens no window for the page. */
  blocksWindows = false;
  readonly timers = new Set<number>();
  readonly env: Environment & { document: { visibilityState: string }; location: { href: string } };

  constructor(browser: Browser, name: string, options: ClientOptions, page: TestPage) {
    this.browser = browser;
    this.name = name;
    this.env = environmentOf(this, page);
    this.client = startClient(options, this.env);
  }

  get state() {
    return this.client.getState();
  }

  get probes(): number {
    return this.browser.server.probes(this.name).length;
  }

  fire(type: string, event: { readonly persisted?: boolean } = {}): void {
    for (const listener of [...(this.listeners.get(type) ?? [])]) listener(event);
  }

  show(): void {
    this.env.document.visibilityState = "visible";
    this.fire("visibilitychange");
  }

  hide(): void {
    this.env.document.visibilityState = "hidden";
    this.fire("visibilitychange");
  }
}

class FakeChannel implements Channel {
  readonly browser: Browser;
  readonly name: string;
  onmessage: Channel["onmessage"] = null;
  constructor(browser: Browser, name: string) {
    this.browser = browser;
    this.name = name;
    browser.channels.add(this);
  }
  postMessage(message: unknown): void {
    if (!this.browser.channels.has(this))
      throw new DOMException("The channel is closed.", "InvalidStateError");
    for (const other of this.browser.channels) {
      if (other === this || other.name !== this.name) continue;
      const data = structuredClone(message) as object | null;
      this.browser.clock.timer(0, () => {
        if (this.browser.channels.has(other)) other.onmessage?.({ data });
      });
    }
  }
  close(): void {
    this.browser.channels.delete(this);
  }
}

/** Sends to all channels of the browser what a script of the same origin can send. */
export function postFrom(browser: Browser, message: unknown, name = "idpauth:/idpauth/"): void {
  const channel = new FakeChannel(browser, name);
  channel.postMessage(message);
  channel.close();
}

/** Collects what the tabs of the browser say from now on. */
export function messagesOf(browser: Browser, name = "idpauth:/idpauth/"): unknown[] {
  const messages: unknown[] = [];
  new FakeChannel(browser, name).onmessage = ({ data }) => void messages.push(data);
  return messages;
}

export class FakeStream implements Stream {
  isOpen = true;
  /** 0: connects, 1: open, 2: closed for good. */
  readyState = 1;
  readonly url: string;
  readonly #listeners = new Map<string, () => void>();
  constructor(url: string) {
    this.url = url;
  }
  addEventListener(type: string, listener: () => void): void {
    this.#listeners.set(type, listener);
  }
  fire(type: string): void {
    this.#listeners.get(type)?.();
  }
  close(): void {
    this.isOpen = false;
  }
}

function environmentOf(tab: Tab, { isVisible, href, worker }: TestPage): Tab["env"] {
  const { browser } = tab;
  const { clock, server } = browser;
  const cancels = new Map<number, () => void>();
  let timers = 0;
  const after = (milliseconds: number) =>
    new Promise<void>((resolve) => void clock.timer(milliseconds, resolve));
  class PageRequest extends Request {
    constructor(input: RequestInfo | URL, init?: RequestInit) {
      super(typeof input === "string" ? new URL(input, tab.env.location.href) : input, init);
    }
  }
  return {
    Date: { now: () => clock.now() },
    Math: { random: () => browser.random },
    AbortSignal: {
      timeout(milliseconds) {
        const abort = new AbortController();
        clock.timer(milliseconds, () => abort.abort(new DOMException("Too late.", "TimeoutError")));
        return abort.signal;
      },
    },
    console: { warn: (text) => void tab.warnings.push(text) },
    crypto: globalThis.crypto,
    document: { visibilityState: isVisible ? "visible" : "hidden" },
    location: {
      href,
      origin: new URL(href).origin,
      assign: (url) => void tab.navigations.push(url),
    },
    navigator: {
      ...(browser.hasLocks && { locks: locksOf(browser) }),
      ...(worker !== undefined && { serviceWorker: { controller: { scriptURL: worker } } }),
    },
    ...(browser.hasChannels && {
      BroadcastChannel: class extends FakeChannel {
        constructor(name: string) {
          super(browser, name);
        }
      },
    }),
    EventSource: class extends FakeStream {
      constructor(url: string) {
        super(url);
        tab.streams.push(this);
      }
    },
    Request: PageRequest,
    async fetch(input, init) {
      const request = new Request(input, init);
      const sent = {
        tab: tab.name,
        method: request.method,
        headers: request.headers,
        target: request.url.slice(ORIGIN.length),
      };
      const body = await request.text();
      const aborted = new Promise<never>((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
      });
      const exchange = async () => {
        await after(server.latency.there);
        const response = server.respond({ ...sent, at: clock.now(), body });
        await after(server.latency.back);
        return response;
      };
      request.signal.throwIfAborted();
      return Promise.race([exchange(), aborted]);
    },
    open(url) {
      if (tab.blocksWindows) return null;
      const opened = { url, opener: tab.env as unknown, closed: false };
      tab.windows.push(opened);
      return opened;
    },
    setTimeout(task, milliseconds) {
      const timer = ++timers;
      // As a browser, which runs a longer timer at once.
      const cancel = clock.timer(milliseconds > 2 ** 31 - 1 ? 0 : milliseconds, () => {
        tab.timers.delete(timer);
        task();
      });
      tab.timers.add(timer);
      cancels.set(timer, cancel);
      return timer;
    },
    clearTimeout(timer) {
      if (timer === undefined) return;
      tab.timers.delete(timer);
      cancels.get(timer)?.();
    },
    addEventListener(type, listener, { signal, capture }) {
      if (capture === true) tab.captured.push(type);
      const listeners = tab.listeners.get(type) ?? new Set();
      tab.listeners.set(type, listeners.add(listener));
      signal?.addEventListener("abort", () => void listeners.delete(listener));
    },
    removeEventListener: (type, listener) => void tab.listeners.get(type)?.delete(listener),
    reportError: (error) => void tab.errors.push(error),
  };
}

function locksOf({ heldLocks }: Browser): NonNullable<Environment["navigator"]["locks"]> {
  return {
    async request(name, _options, task) {
      if (heldLocks.has(name)) return task(null);
      heldLocks.add(name);
      try {
        return await task({ name });
      } finally {
        heldLocks.delete(name);
      }
    },
  };
}
