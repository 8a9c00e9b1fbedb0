/** The origins of an application that has several. */
import { seenHost, seenScheme } from "./forwarded-headers.js";
import { isAuthority, parseUrl, type Origin } from "./redirects.js";
import type { Reply } from "./reply.js";
import type { IdpRequest } from "./request.js";

/** The origins that an application serves. */
export interface Origins {
  /**
   * Returns the origin that a request's host belongs to. Undefined: the host isn't the application's,
   * or nothing knows it yet.
   */
  of(request: IdpRequest, trustProxy: boolean): Origin | undefined;
  /** Whether an origin is one of the application's, as far as is known. */
  has(origin: Origin): boolean;
  /** The configured entries, with their wildcards. Undefined: a function decides. */
  readonly list: readonly string[] | undefined;
}

const SCHEMES = ["https", "http"] as const;

/**
 * Returns host and port as the URL parser writes them: in lower case, IDN as ASCII, and without the
 * scheme's default port. A trailing dot is dropped, since DNS ignores it. Undefined: it isn't a host.
 */
export function normalHost(scheme: "http" | "https", host: string | undefined): string | undefined {
  const bare = host?.replace(/\.(?=:\d{1,5}$|$)/, "");
  return bare !== undefined && isAuthority(bare)
    ? parseUrl(`${scheme}://${bare}`)?.host
    : undefined;
}

/** The host that a request was sent to, with the scheme's default port left out. */
export function requestedHost(request: IdpRequest, trustProxy: boolean): string | undefined {
  return normalHost(seenScheme(request, trustProxy), seenHost(request, trustProxy));
}

/**
 * A list of origins. Scheme and host of a result always come from the entry that matches. An entry
 * whose host begins with `*.` matches exactly one label in the place of the asterisk.
 */
export class OriginList implements Origins {
  readonly list: readonly string[];
  readonly #entries: ReadonlySet<string>;
  readonly #hasWildcards: boolean;

  /** @param entries origins as the URL parser writes them, perhaps with `*.` before the host */
  constructor(entries: readonly string[]) {
    this.list = entries;
    this.#entries = new Set(entries);
    this.#hasWildcards = entries.some((entry) => entry.includes("*"));
  }

  of(request: IdpRequest, trustProxy: boolean): Origin | undefined {
    const host = seenHost(request, trustProxy);
    const candidates = SCHEMES.flatMap((scheme) => {
      const normal = normalHost(scheme, host);
      return normal === undefined ? [] : `${scheme}://${normal}`;
    });
    return (
      candidates.find((origin) => this.#entries.has(origin)) ??
      candidates.find((origin) => this.#matchesWildcard(origin))
    );
  }

  has(origin: Origin): boolean {
    return (
      !origin.includes("*") &&
      parseUrl(origin)?.origin === origin &&
      (this.#entries.has(origin) || this.#matchesWildcard(origin))
    );
  }

  /** JSON of the debug endpoint. */
  toJSON(): readonly string[] {
    return this.list;
  }

  #matchesWildcard(origin: Origin): boolean {
    if (!this.#hasWildcards) return false;
    const entry = origin.replace(/^(https?:\/\/)[^.:[\]]+\./, "$1*.");
    return entry !== origin && this.#entries.has(entry);
  }
}

/**
 * What an application's function says of a host. It returns an origin in the form of the URL parser.
 *
 * @throws what the function throws, and {@link NotAnOriginError}
 */
export type AskOrigin = (host: string) => Promise<Origin | undefined>;

/** The application's function returned something else than an origin or undefined. */
export class NotAnOriginError extends Error {}

/** A function that decides which hosts are the application's. It is asked while requests are served. */
export class OriginFunction implements Origins {
  readonly list = undefined;
  readonly ask: AskOrigin;

  constructor(ask: AskOrigin) {
    this.ask = ask;
  }

  of(): undefined {
    return undefined;
  }

  has(): boolean {
    return false;
  }

  /** JSON of the debug endpoint. */
  toJSON(): string {
    return "function";
  }
}

/** What must be known of a request's host before anything else is done with the request. */
export interface HostGate {
  /**
   * Finds out which origin the request's host belongs to. Undefined: that is known already.
   *
   * @throws HookFailedError the application's function failed
   */
  find(request: IdpRequest): Promise<void> | undefined;
  /**
   * The response to a request that goes no further, because its host isn't the application's or the
   * application's function failed. Undefined, at once or as a promise: the host is the
   * application's.
   */
  refused(request: IdpRequest): Promise<Reply | undefined> | undefined;
  /**
   * Whether an origin is one of the application's.
   *
   * @throws HookFailedError the application's function failed
   */
  isOwn(origin: Origin): boolean | Promise<boolean>;
}
