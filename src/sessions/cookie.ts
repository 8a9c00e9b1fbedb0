/** The session cookie: its value, and RFC 6265bis names, attributes and parsing. */
import { hash, randomBytes } from "node:crypto";

/** 256 random bits in base64url. Anything else costs no look-up. */
const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/;

/**
 * Cookies of our name that are tried, in the order they were sent. A subdomain or another path can
 * plant such cookies.
 */
const MAX_CANDIDATES = 4;

/** Returns a new cookie value: 256 random bits, base64url. */
export function newCookieValue(): string {
  return randomBytes(32).toString("base64url");
}

/** Returns the store's key for a cookie value. */
export function storeKeyOf(cookieValue: string): string {
  return hash("sha256", cookieValue, "base64url");
}

/** Returns the well-formed values of a cookie name in a Cookie header: in order, at most four. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  if (header === undefined) return NONE;
  let values: string[] | undefined;
  let at = header.indexOf(name);
  while (at >= 0) {
    const start = at + name.length;
    if (header[start] === "=" && isBoundary(header, at)) {
      let end = header.indexOf(";", start);
      if (end < 0) end = header.length;
      const value = header.slice(start + 1, end).trimEnd();
      if (COOKIE_VALUE.test(value)) {
        (values ??= []).push(value);
        if (values.length === MAX_CANDIDATES) return values;
      }
      at = header.indexOf(name, end);
    } else {
      at = header.indexOf(name, start);
    }
  }
  return values ?? NONE;
}

const NONE: readonly string[] = [];

function isBoundary(header: string, at: number): boolean {
  if (at === 0) return true;
  const before = header[at - 1];
  if (before === ";") return true;
  if (before !== " ") return false;
  // Spaces count only after a separator: "x=a idpauth=…" is one cookie named x.
  let left = at - 1;
  while (left > 0 && header[left - 1] === " ") left -= 1;
  return left === 0 || header[left - 1] === ";";
}

/** Whether the browser sent a cookie of this name, with any value. */
export function hasCookie(header: string | undefined, name: string): boolean {
  if (header === undefined) return false;
  for (let at = header.indexOf(name); at >= 0; at = header.indexOf(name, at + name.length)) {
    if (header[at + name.length] === "=" && isBoundary(header, at)) return true;
  }
  return false;
}

/** A cookie that the browser gets. */
export interface NewCookie {
  readonly name: string;
  readonly value: string;
  /** Seconds; 0 deletes the cookie. */
  readonly maxAge: number;
  readonly secure: boolean;
}

export function setCookie({ name, value, maxAge, secure }: NewCookie): string {
  return `${name}=${value}; Path=/; Max-Age=${String(maxAge)}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

/**
 * Returns the cookie's name. `__Host-` binds the cookie to this origin's host; browsers accept it
 * over https only. With `__Host-Http-`, no script can set it (RFC 10017); browsers that do not know
 * this prefix apply the rules of `__Host-`. Endpoints at another path than the default have a
 * cookie of their own, so that several mounts on one host never share one.
 */
export function cookieNameFor(
  configured: string | null,
  publicPath: string,
  secure: boolean,
): string {
  if (configured !== null) return configured;
  // A dot in the path is escaped, because /a/b/ and /a.b/ are two paths.
  const suffix = publicPath.slice(0, -1).replaceAll(".", "%2E").replaceAll("/", ".");
  const name = publicPath === "/idpauth/" ? "idpauth" : `idpauth${suffix}`;
  return secure ? `__Host-Http-${name}` : name;
}
