/** A cookie as a browser keeps it (RFC 6265bis section 5.5). */
export interface KeptCookie {
  /** Empty if the line had no `=`. */
  readonly name: string;
  /** As the line had it, not decoded. */
  readonly value: string;
  /** The host that set it, or the domain that it named. */
  readonly domain: string;
  /** Only for that very host, because no Domain was named. */
  readonly hostOnly: boolean;
  /** Default: the directory of the address that set it. */
  readonly path: string;
  /** Sent over https only. */
  readonly secure: boolean;
  /** Kept for inspection: there are no scripts. */
  readonly httpOnly: boolean;
  /** As it was written; undefined when it was not. */
  readonly sameSite: string | undefined;
  /** Milliseconds since the epoch; undefined: until the browser is closed. */
  readonly expiresAt: number | undefined;
}

/** Browsers cut every lifetime at 400 days. */
const LONGEST_LIFE_SECONDS = 400 * 24 * 60 * 60;
const MAX_NAME_AND_VALUE_BYTES = 4096;

/**
 * Keeps cookies as browsers do: by host (a port does not tell hosts apart), Path, Domain, Secure,
 * Max-Age and Expires, and the name prefixes. SameSite is kept for inspection and not enforced; a
 * real browser is the judge of that.
 */
export class CookieJar {
  #cookies: KeptCookie[] = [];
  readonly #now: () => number;

  /** @param now milliseconds since the epoch; default the system clock */
  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
  }

  /** Every cookie that is kept and not expired. */
  all(): readonly KeptCookie[] {
    const now = this.#now();
    this.#cookies = this.#cookies.filter(
      ({ expiresAt }) => expiresAt === undefined || expiresAt > now,
    );
    return this.#cookies;
  }

  /** The value of a cookie by its name; the first one if there are several. */
  value(name: string): string | undefined {
    return this.all().find((cookie) => cookie.name === name)?.value;
  }

  /** Takes a Set-Cookie line of the response from `url`; false when a browser would not keep it. */
  take(url: URL, line: string): boolean {
    const cookie = parse(url, line, this.#now());
    if (cookie === undefined) return false;
    const twin = this.#cookies.find((other) => isSameCookie(other, cookie));
    // A page without TLS cannot replace or delete what a page with TLS has set.
    if (twin?.secure === true && url.protocol !== "https:") return false;
    const expired = cookie.expiresAt !== undefined && cookie.expiresAt <= this.#now();
    // A cookie that is set again keeps its place in the order.
    if (twin !== undefined)
      this.#cookies = this.#cookies.flatMap((other) =>
        other !== twin ? other : expired ? [] : cookie,
      );
    else if (!expired) this.#cookies.push(cookie);
    return true;
  }

  /** The Cookie header for a request; undefined when there is nothing to send. */
  header(url: URL): string | undefined {
    const sent = this.all()
      .filter(
        (cookie) =>
          domainMatches(url.hostname, cookie) &&
          pathMatches(url.pathname, cookie.path) &&
          (!cookie.secure || url.protocol === "https:"),
      )
      .sort((one, other) => other.path.length - one.path.length);
    return sent.length === 0
      ? undefined
      : sent.map(({ name, value }) => (name === "" ? value : `${name}=${value}`)).join("; ");
  }

  /** Keeps a cookie that no server set: a stolen one, or one tossed from elsewhere. */
  plant(cookie: Pick<KeptCookie, "name" | "value" | "domain"> & Partial<KeptCookie>): void {
    this.#cookies.push({
      hostOnly: true,
      path: "/",
      secure: false,
      httpOnly: true,
      sameSite: undefined,
      expiresAt: undefined,
      ...cookie,
    });
  }

  /** Removes the cookies of all origins. */
  clear(): void {
    this.#cookies = [];
  }
}

function parse(url: URL, line: string, now: number): KeptCookie | undefined {
  const [pair = "", ...rest] = line.split(";");
  const equals = pair.indexOf("=");
  const name = equals < 0 ? "" : pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  if (name === "" && value === "") return undefined;
  if (Buffer.byteLength(name + value) > MAX_NAME_AND_VALUE_BYTES) return undefined;

  const attributes = new Map<string, string>();
  for (const attribute of rest) {
    const [key = "", ...words] = attribute.split("=");
    attributes.set(key.trim().toLowerCase(), words.join("=").trim());
  }
  const named = attributes.get("domain")?.replace(/^\./, "").toLowerCase() ?? "";
  const path = attributes.get("path") ?? "";
  const cookie: KeptCookie = {
    name,
    value,
    domain: named === "" ? url.hostname : named,
    hostOnly: named === "",
    path: path.startsWith("/") ? path : defaultPath(url.pathname),
    secure: attributes.has("secure"),
    httpOnly: attributes.has("httponly"),
    sameSite: attributes.get("samesite"),
    expiresAt: expiry(attributes, now),
  };
  if (!domainMatches(url.hostname, cookie)) return undefined;
  if (cookie.secure && url.protocol !== "https:") return undefined;
  if (cookie.sameSite?.toLowerCase() === "none" && !cookie.secure) return undefined;
  if (/^__secure-/i.test(name) && !cookie.secure) return undefined;
  if (
    /^__host-/i.test(name) &&
    !(cookie.secure && cookie.hostOnly && attributes.get("path") === "/")
  )
    return undefined;
  return cookie;
}

/**
 * Whether one replaces or deletes the other (RFC 6265bis section 5.7): the same name, with and
 * without Domain, is two cookies.
 */
function isSameCookie(one: KeptCookie, other: KeptCookie): boolean {
  return (
    one.name === other.name &&
    one.domain === other.domain &&
    one.hostOnly === other.hostOnly &&
    one.path === other.path
  );
}

/** Max-Age wins over Expires; what cannot be read counts as absent (RFC 6265bis section 5.6). */
function expiry(attributes: ReadonlyMap<string, string>, now: number): number | undefined {
  const maxAge = attributes.get("max-age") ?? "";
  if (/^-?\d+$/.test(maxAge)) return now + Math.min(Number(maxAge), LONGEST_LIFE_SECONDS) * 1000;
  const date = Date.parse(attributes.get("expires") ?? "");
  return Number.isNaN(date) ? undefined : Math.min(date, now + LONGEST_LIFE_SECONDS * 1000);
}

function defaultPath(pathname: string): string {
  const end = pathname.lastIndexOf("/");
  return end <= 0 ? "/" : pathname.slice(0, end);
}

function pathMatches(pathname: string, path: string): boolean {
  return (
    pathname === path ||
    (pathname.startsWith(path) && (path.endsWith("/") || pathname.charAt(path.length) === "/"))
  );
}

function domainMatches(hostname: string, cookie: KeptCookie): boolean {
  if (hostname === cookie.domain) return true;
  // An address has no subdomains.
  return (
    !cookie.hostOnly && !/^[\d.]+$|^\[/.test(hostname) && hostname.endsWith(`.${cookie.domain}`)
  );
}
