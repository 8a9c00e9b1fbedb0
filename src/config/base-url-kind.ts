// BASE_URL: one origin, a list of origins, or a function of the host.
import { NotAnOriginError, OriginFunction, OriginList, type Origins } from "../http/origins.js";
import { parseUrl } from "../http/redirects.js";
import { origin, type SettingKind } from "./setting-kinds.js";

/** The function of the option `baseUrl`. */
type GivenFunction = (host: string) => unknown;

const ALLOWED =
  "an http(s) origin such as `https://app.example`: no path, query or user info; or several of different hosts, whose hosts may begin with `*.`, such as `https://*.app.example`";

export const baseUrl: SettingKind<string | Origins> = {
  type: "origins",
  allowed: `${ALLOWED}, separated by white space`,
  allowedInCode: `${ALLOWED}, as a list; or a function that returns the origin of a host`,
  fromText: (text) => originsOf(text.split(/\s+/)),
  fromCode(value) {
    if (typeof value === "function") return new OriginFunction(asking(value as GivenFunction));
    return originsOf(Array.isArray(value) ? Array.from<unknown>(value) : [value]);
  },
};

function asking(given: GivenFunction): OriginFunction["ask"] {
  return async (host) => {
    const returned = (await given(host)) ?? undefined;
    const own = origin.fromCode(returned);
    if (own === undefined && returned !== undefined) throw new NotAnOriginError();
    return own;
  };
}

/** One origin without a wildcard is a string: nothing then depends on the request. */
function originsOf(items: readonly unknown[]): string | Origins | undefined {
  const entries = items.map((item) => (typeof item === "string" ? entryOf(item) : undefined));
  if (!entries.every((entry) => entry !== undefined)) return undefined;
  const [first, ...others] = entries;
  if (first === undefined || hasTwins(entries)) return undefined;
  return others.length === 0 && !first.includes("*") ? first : new OriginList(entries);
}

const WILDCARD = /^(https?:\/\/)\*\.(.*)$/i;
/** The parser makes an IPv4 address of every host whose last part is a number. */
const ADDRESS = /^(?:\[.*\]|[\d.]+)$/;

/** Reads an origin, perhaps with `*.` before its host, in the form of the URL parser. */
function entryOf(text: string): string | undefined {
  const [, scheme, rest] = WILDCARD.exec(text) ?? [];
  if (scheme === undefined || rest === undefined) return origin.fromText(text);
  const parent = origin.fromText(`${scheme}${rest}`);
  if (parent === undefined || !isWideEnough(new URL(parent).hostname)) return undefined;
  return parent.replace("://", "://*.");
}

/** `*.com` would match the hosts of everyone. Only this machine uses names below `localhost`. */
function isWideEnough(parent: string): boolean {
  return parent === "localhost" || (parent.includes(".") && !ADDRESS.test(parent));
}

/** The host alone tells which entry a request belongs to. */
function hasTwins(entries: readonly string[]): boolean {
  return new Set(entries.map(hostIn)).size < entries.length;
}

function hostIn(entry: string): string {
  return entry.replace(/^https?:\/\//, "");
}

/** Tells what is wrong with an entry, if more can be said than which values are allowed. */
export function baseUrlRemedy(value: unknown): string | undefined {
  const items: readonly unknown[] =
    typeof value === "string" ? value.split(/\s+/) : Array.isArray(value) ? value : [];
  const texts = items.filter((item) => typeof item === "string");
  if (texts.some(hasPath))
    return "Set BASE_URL (option baseUrl) to the origin only. If a reverse proxy strips a path prefix, such as `/portal`, set IDP_PATH_PREFIX (option pathPrefix) to it.";
  if (texts.some((text) => text.includes("*") && entryOf(text) === undefined))
    return "Write a wildcard as the first label only, before a name of at least two labels, as in `https://*.app.example.com`. It matches exactly one label.";
  const entries = texts.map(entryOf);
  if (entries.every((entry) => entry !== undefined) && hasTwins(entries))
    return "Name each host once, with the scheme that browsers use.";
  return undefined;
}

function hasPath(text: string): boolean {
  const url = parseUrl(text);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.pathname !== "/";
}
