import type { Context } from "hono";
import {
  GUARDED_CACHE_CONTROL,
  varyByCookie,
  type AnyReply,
  type Closable,
  type FrameworkSource,
} from "../../adapter.js";
import type { IdpRequest } from "../../index.js";
import { toResponse, WebRequest } from "../fetch/fetch.js";

/** What `@hono/node-server` puts into `c.env`: the request of node:http. */
interface Incoming {
  readonly url: string;
  readonly headersDistinct: { readonly host?: readonly string[] };
  readonly rawHeaders?: readonly string[];
  readonly socket: Closable & { readonly encrypted?: boolean; readonly remoteAddress?: string };
  /** Of a request that is to upgrade its connection. */
  readonly upgrade?: boolean;
  /** Of HTTP/2. */
  readonly stream?: Closable;
}

/**
 * A message of node:http. Its type here needs no types of Node.js, which an application on another
 * runtime may lack.
 */
export interface UpgradeMessage {
  /** In capital letters. */
  readonly method?: string | undefined;
  /** The target of the request: a path and a query. */
  readonly url?: string | undefined;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** By name in lower case, each value on its own. */
  readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>>;
  /** The connection. */
  readonly socket: object;
}

interface NodeBindings {
  readonly incoming?: Partial<Incoming>;
  readonly outgoing?: Closable;
}

const bindingsOf = (c: Context) => ((c.env as unknown) ?? {}) as NodeBindings;

/**
 * A request of Hono. On Node it is read as it was sent; elsewhere as the server's URL parser
 * normalized it.
 */
export function requestOf(c: Context): IdpRequest {
  const { incoming } = bindingsOf(c);
  return isOnTheWire(incoming) ? new WireRequest(c, incoming) : new ParsedRequest(c);
}

/**
 * The request of an upgrade, of which the event `upgrade` of node:http tells, and Hono makes no
 * context.
 */
export function upgradeOf(message: UpgradeMessage): IdpRequest {
  const { method, headers } = message;
  const raw = { method, headers: { get: (name: string) => headers[name] ?? null } };
  return new WireRequest({ req: { raw } } as unknown as Context, message as Incoming);
}

/** The response of node:http behind a request, on `@hono/node-server`. */
export const outgoingOf = (c: Context): object | undefined => bindingsOf(c).outgoing;

/**
 * Whether `@hono/node-server` asks the application about an upgrade, which it does if it was
 * started with the option `websocket`.
 */
export function isUpgrade(c: Context): boolean {
  return bindingsOf(c).incoming?.upgrade === true;
}

/**
 * Returns the objects to watch on `@hono/node-server`. The exchange ends when the first of them
 * closes: connection and response, or only an upgraded connection. Undefined on other servers.
 */
export function closablesOf(c: Context): readonly Closable[] | undefined {
  const { incoming, outgoing } = bindingsOf(c);
  if (incoming?.stream !== undefined) return [incoming.stream];
  if (typeof incoming?.socket?.on !== "function") return undefined;
  if (incoming.upgrade === true || outgoing === undefined) return [incoming.socket];
  return [incoming.socket, outgoing];
}

/**
 * A request as the proxy of an API reads it: on Node the message itself, unless middleware has
 * replaced the request, for example by one whose body is limited.
 */
export function sourceOf(c: Context): FrameworkSource {
  const { raw } = c.req;
  const { incoming } = bindingsOf(c);
  if (incoming?.rawHeaders === undefined || incoming.socket === undefined) return { web: raw };
  const client = incoming.socket.remoteAddress;
  // `@hono/node-server` keeps the message in a property of the request that it makes of it.
  const isReplaced = !Object.getOwnPropertySymbols(raw).some(
    (key) => (raw as unknown as Record<symbol, unknown>)[key] === incoming,
  );
  return isReplaced ? { web: raw, client } : { node: incoming, web: raw, client };
}

/**
 * False for HTTP/2, which sends no Host header, and for another value that the application put
 * there under that name.
 */
function isOnTheWire(incoming: Partial<Incoming> | undefined): incoming is Incoming {
  return (
    typeof incoming?.url === "string" &&
    incoming.headersDistinct !== undefined &&
    incoming.socket !== undefined
  );
}

/** A request whose body Hono may have read and cached. */
class ParsedRequest extends WebRequest {
  readonly #c: Context;

  constructor(c: Context) {
    super(c.req.raw);
    this.#c = c;
  }

  override body(): unknown {
    return Object.keys(this.#c.req.bodyCache).length === 0 ? super.body() : cachedBody(this.#c);
  }
}

async function* cachedBody({ req }: Context): AsyncGenerator<Uint8Array> {
  // The cache holds promises, although its types say otherwise.
  const { formData } = req.bodyCache as { readonly formData?: unknown } as {
    readonly formData?: Promise<FormData>;
  };
  // Hono turns a form into the text of a multipart body.
  const text = formData === undefined ? await req.text() : formText(await formData);
  yield new TextEncoder().encode(text);
}

function formText(form: FormData): string {
  return String(
    new URLSearchParams(
      Array.from(form, ([name, value]): [string, string] => [
        name,
        typeof value === "string" ? value : "",
      ]),
    ),
  );
}

class WireRequest extends ParsedRequest {
  readonly #incoming: Incoming;

  constructor(c: Context, incoming: Incoming) {
    super(c);
    this.#incoming = incoming;
  }

  override get target(): string {
    return this.#incoming.url;
  }

  /** The scheme of the connection: an absolute target may claim any scheme. */
  override get scheme(): "http" | "https" {
    return this.#incoming.socket.encrypted === true ? "https" : "http";
  }

  /**
   * Undefined if there are several Host headers, of which Node keeps the first (RFC 9112
   * section 3.2).
   */
  override get host(): string | undefined {
    const { host } = this.#incoming.headersDistinct;
    return host?.length === 1 ? host[0] : undefined;
  }
}

/**
 * A reply as Hono sends it. Headers that were set with `c.header` before stay, in Vary and
 * Set-Cookie beside those of the reply.
 */
export function respond(c: Context, reply: AnyReply): Response {
  const response = toResponse(reply, c.req.method);
  // Only a new response shows which headers were set before. Usually there are none, and a plain
  // Response is written much faster.
  if (c.newResponse(null).headers.keys().next().done === true) return response;
  for (const [name, value] of response.headers)
    c.header(name, value, { append: name === "vary" || name === "set-cookie" });
  const body = (reply.body ?? null) as string | ReadableStream | null;
  return c.newResponse(
    c.req.method === "HEAD" ? null : body,
    reply.status as Parameters<Context["status"]>[0],
  );
}

/**
 * Keeps the response that a handler is about to make out of every cache, unless the application has
 * set its own headers. Hono has a `Response` that the handler constructs itself as it is.
 */
export function keepNextPrivate(c: Context): void {
  // Its stream may have begun.
  if (c.finalized) return;
  const { headers } = c.newResponse(null);
  if (!headers.has("Cache-Control")) c.header("Cache-Control", GUARDED_CACHE_CONTROL);
  c.header("Vary", varyByCookie(headers.get("Vary") ?? undefined));
}
