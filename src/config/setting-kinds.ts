import { isRedirectSetting, parseUrl, redirectSettingInAscii } from "../http/redirects.js";

/**
 * One kind of setting: how its value is read from the environment and from code. Both readers give undefined for what
 * is not allowed; neither throws.
 */
export interface SettingKind<Value> {
  /** In a word or two, for the reference page. */
  readonly type: string;
  /** What is allowed; completes "allowed: …". */
  readonly allowed: string;
  /** The same in code, where it differs. */
  readonly allowedInCode?: string;
  /** @param text from the environment; not blank, and without white space around it unless it is a secret */
  fromText(text: string): Value | undefined;
  fromCode(value: unknown): Value | undefined;
}

/** A list that is separated in the environment and an array in code. */
function list(kind: {
  readonly type: string;
  readonly allowed: string;
  readonly allowedInCode: string;
  readonly separator: RegExp;
  readonly item: (text: string) => string | undefined;
}): SettingKind<readonly string[]> {
  const read = (items: readonly unknown[]) => {
    const values = items.map((item) => (typeof item === "string" ? kind.item(item) : undefined));
    return values.every((value) => value !== undefined) ? values : undefined;
  };
  return {
    type: kind.type,
    allowed: kind.allowed,
    allowedInCode: kind.allowedInCode,
    fromText: (text) => read(text.split(kind.separator).filter((item) => item !== "")),
    // Array.from, since holes would be skipped.
    fromCode: (value) => (Array.isArray(value) ? read(Array.from<unknown>(value)) : undefined),
  };
}

/** A setting that is text in both places. */
function string<Value extends string>(type: string, allowed: string, read: (text: string) => Value | undefined): SettingKind<Value> {
  return { type, allowed, fromText: read, fromCode: (value) => (typeof value === "string" ? read(value) : undefined) };
}

/** Gives a reader that takes text as it is when the rule holds. */
function when(rule: RegExp | ((text: string) => boolean)): (text: string) => string | undefined {
  const holds = rule instanceof RegExp ? (text: string) => rule.test(text) : rule;
  return (text) => (holds(text) ? text : undefined);
}

const NOT_BLANK = /\S/;
const WORDS = /[\s,]+/;
// White space, control characters and the backslash have no place in an address.
const NO_ADDRESS = /[\s\p{Cc}\\]/u;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

/** Anything that is not blank, kept to the letter. */
export const secret = string("secret", "text that is not blank", when(NOT_BLANK));

export const secretList = list({
  type: "list of secrets",
  allowed: "secrets separated by white space",
  allowedInCode: "a list of texts that are not blank",
  separator: /\s+/,
  item: when(NOT_BLANK),
});

export const text = string("text", "text without control characters", when(/^(?=.*\S)\P{Cc}+$/u));

export const boolean: SettingKind<boolean> = {
  type: "boolean",
  allowed: "true, false, 1, 0, yes, no, on or off, in any letter case",
  allowedInCode: "true or false",
  fromText: (text) => {
    if (/^(?:true|1|yes|on)$/i.test(text)) return true;
    return /^(?:false|0|no|off)$/i.test(text) ? false : undefined;
  },
  fromCode: (value) => (typeof value === "boolean" ? value : undefined),
};

function number(type: string, allowed: string, syntax: RegExp, isAllowed: (value: number) => boolean): SettingKind<number> {
  const read = (value: number) => (isAllowed(value) ? value : undefined);
  return {
    type,
    allowed,
    fromText: (text) => (syntax.test(text) ? read(Number(text)) : undefined),
    // Adding 0 makes 0 of -0.
    fromCode: (value) => (typeof value === "number" ? read(value + 0) : undefined),
  };
}

export const wholeSeconds = number("integer", "whole seconds, 0 or more", /^\d+$/, (value) => Number.isSafeInteger(value) && value >= 0);

/** Timers of Node count milliseconds in 31 bits; ten minutes is far below, and far above any use. */
export const timeoutSeconds = number("number", "seconds above 0, at most 600", /^\d+(?:\.\d+)?$/, (value) => value > 0 && value <= 600);

export const toleranceSeconds = number(
  "integer",
  "whole seconds from 0 to 300",
  /^\d+$/,
  (value) => Number.isInteger(value) && value >= 0 && value <= 300,
);

/** How many of something, where none is no choice. */
export const count = number(
  "integer",
  "a whole number from 1 to 10000",
  /^\d+$/,
  (value) => Number.isInteger(value) && value >= 1 && value <= 10_000,
);

export function oneOf<const Value extends string>(...values: readonly Value[]): SettingKind<Value> {
  return string("choice", values.map((value) => `\`${value}\``).join(" or "), (text) => values.find((value) => value === text));
}

const PROMPTS: readonly string[] = ["none", "login", "consent", "select_account"];

/** OpenID Connect Core section 3.1.2.1: values separated by spaces; `none` stands alone. */
export const prompt: SettingKind<string> = {
  ...string("text", "`login`, `consent` and `select_account`, separated by spaces", (text) => {
    const values = text.split(" ").filter((value) => value !== "");
    const known = values.length > 0 && values.every((value) => PROMPTS.includes(value));
    return known && (values.length === 1 || !values.includes("none")) ? values.join(" ") : undefined;
  }),
  // Only here: the environment reads `none` as unset.
  allowedInCode: "`login`, `consent` and `select_account`, separated by spaces, or `none` alone",
};

// RFC 6749 section 3.3; in the environment the comma is a separator.
const scopes = list({
  type: "list",
  allowed: "scopes separated by spaces or commas, in ASCII without quotes or backslashes",
  allowedInCode: "a list of scopes, or the same as text",
  separator: WORDS,
  item: when(/^[\x21\x23-\x5b\x5d-\x7e]+$/),
});

/** Empty: nothing is set. */
export const scope: SettingKind<readonly string[]> = {
  ...scopes,
  fromCode: (value) => (typeof value === "string" ? scopes.fromText(value) : scopes.fromCode(value)),
};

export const redirectTarget = string("URL or path", "an absolute http(s) URL, or a path with one leading slash and no backslash", (text) =>
  isRedirectSetting(text) ? redirectSettingInAscii(text) : undefined,
);

/** An absolute http(s) URL as it can name a server: no user info, query or fragment. */
function serverUrl(text: string): URL | undefined {
  // The raw text is looked at too: the parser drops an empty query, fragment or user info, and forgives missing slashes.
  if (NO_ADDRESS.test(text) || !/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i.test(text)) return undefined;
  const url = parseUrl(text);
  return url !== undefined && HOST_NAME.test(url.hostname) ? url : undefined;
}

/** Kept to the letter, since issuers are compared to the letter (OpenID Connect Discovery section 4.3). */
export const issuer = string(
  "URL",
  "an absolute http(s) URL without user info, query or fragment",
  when((text) => serverUrl(text) !== undefined),
);

/** Gives the origin as the URL parser writes it. */
export const origin = string("origin", "an http(s) origin such as `https://app.example`: no path, query or user info", (text) => {
  const url = serverUrl(text);
  return url?.pathname === "/" && /^[^/]+\/\/[^/]+\/?$/.test(text) ? url.origin : undefined;
});

/** The endpoints of a provider that are used, by their names in its discovery document. */
export const ENDPOINT_NAMES = ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "revocation_endpoint"] as const;
export type Endpoints = Readonly<Partial<Record<(typeof ENDPOINT_NAMES)[number], string>>>;

export const endpoints: SettingKind<Endpoints> = {
  type: "JSON object",
  allowed: `a JSON object of absolute http(s) URLs under the names ${ENDPOINT_NAMES.map((name) => `\`${name}\``).join(", ")}`,
  allowedInCode: `an object of absolute http(s) URLs under the names ${ENDPOINT_NAMES.map((name) => `\`${name}\``).join(", ")}`,
  fromText(text) {
    try {
      return endpointsIn(JSON.parse(text));
    } catch {
      return undefined;
    }
  },
  fromCode: endpointsIn,
};

function endpointsIn(value: unknown): Endpoints | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const isAllowed = ([name, url]: [string, unknown]) =>
    (ENDPOINT_NAMES as readonly string[]).includes(name) && typeof url === "string" && /^https?:$/.test(parseUrl(url)?.protocol ?? "");
  return Object.entries(value).every(isAllowed) ? { ...value } : undefined;
}

export const hosts = list({
  type: "list",
  allowed: "host names separated by spaces or commas, without scheme, port or path",
  allowedInCode: "a list of host names, without scheme, port or path",
  separator: WORDS,
  item: (text) => {
    const name = text.toLowerCase();
    return HOST_NAME.test(name) && parseUrl(`https://${name}`)?.host === name ? name : undefined;
  },
});

export const audiences = list({
  type: "list",
  allowed: "client identifiers separated by spaces or commas",
  allowedInCode: "a list of texts that are not blank",
  separator: WORDS,
  item: when(NOT_BLANK),
});

/** Which names are taken is decided where all three are known. */
export const keyName = string("text", "a name without white space around it or control characters", when(/^(?!\s)\P{Cc}+(?<!\s)$/u));

/** Gives the path with a slash at both ends. "/" alone is refused: every unknown path of the application would be ours. */
export const mountPath: SettingKind<string> = string(
  "path",
  "a path of at least one part, of letters, digits, `-`, `_`, `.` and `~`, such as `/idpauth/`",
  (text) => {
    const path = plainPath(text);
    return path === undefined ? undefined : `${path}/`;
  },
);

/** Gives the path without a slash at its end. "/" alone, and nothing at all in code, is no prefix. */
export const pathPrefix: SettingKind<string> = string(
  "path",
  "a path of letters, digits, `-`, `_`, `.` and `~`, such as `/portal`",
  (text) => (text === "" || text === "/" ? "" : plainPath(text)),
);

/** With one slash at the beginning and none at the end. */
function plainPath(text: string): string | undefined {
  const parts = /^\/?([\w.~-]+(?:\/[\w.~-]+)*)\/?$/.exec(text)?.[1];
  // A part of dots only would be resolved away by browsers.
  if (parts === undefined || parts.split("/").some((part) => part === "." || part === "..")) return undefined;
  return `/${parts}`;
}

/** RFC 6265 section 4.1.1, token of RFC 9110 section 5.6.2. */
export const cookieName = string(
  "text",
  "a cookie name: at most 200 ASCII letters, digits and ``!#$%&'*+-.^_`|~``",
  when(/^[\w!#$%&'*+\-.^`|~]{1,200}$/),
);
