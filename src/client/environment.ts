/** What the client uses of the browser. `window` has all of it; tests give their own. */
export interface Environment {
  readonly Date: { now(): number };
  readonly AbortSignal: { timeout(milliseconds: number): AbortSignal };
  readonly Math: { random(): number };
  readonly console: { warn(text: string): void };
  readonly crypto: { getRandomValues(numbers: Uint32Array<ArrayBuffer>): Uint32Array };
  readonly document: { readonly visibilityState: string };
  readonly location: { readonly href: string; readonly origin: string; assign(url: string): void };
  readonly navigator: Navigator;
  readonly BroadcastChannel?: new (name: string) => Channel;
  readonly EventSource: new (url: string) => Stream;
  readonly Request: typeof Request;
  fetch(input: string | Request, init?: RequestInit): Promise<Response>;
  open(
    url: string,
    target: string,
    features: string,
  ): { opener: unknown; readonly closed: boolean } | null;
  setTimeout(task: () => void, milliseconds: number): number;
  clearTimeout(timer: number | undefined): void;
  removeEventListener(type: string, listener: () => void): void;
  addEventListener(
    type: string,
    listener: (event: { readonly persisted?: boolean }) => void,
    options: AddEventListenerOptions,
  ): void;
  reportError(error: unknown): void;
}

/** Both are absent on pages without a secure context. */
interface Navigator {
  readonly locks?: Locks;
  readonly serviceWorker?: { readonly controller: { readonly scriptURL: string } | null };
}

interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable: true },
    task: (lock: unknown) => unknown,
  ): Promise<unknown>;
}

export interface Channel {
  onmessage: ((event: { readonly data: object | null }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

export interface Stream {
  /** 2: closed for good. */
  readonly readyState: number;
  addEventListener(type: string, listener: () => void): void;
  close(): void;
}
