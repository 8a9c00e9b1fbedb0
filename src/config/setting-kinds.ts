import { isRedirectSetting, parseUrl, redirectSettingInAscii } from "../http/redirects.js";
import { isTenant } from "./tenant-issuers.js";

/**
 * Reads the values of one kind of setting. Both readers return undefined for a value that is not
 * allowed; neither throws.
 */
export interface SettingKind<Value> {
  /** One or two words, for the reference page. */
  readonly type: string;
  /** The allowed values. Completes "allowed: …". */
  readonly allowed: string;
  /** The allowed values in code, if they differ. */
  readonly allowedInCode?: string;
  /** @param text from the environment: not blank, and trimmed unless it is a secret */
  fromText(text: string): Value | undefined;
  fromCode(value: unknown): Value | undefined;
}

/** Reads a list: text in the environment, separated by spaces or commas, and an array in code. */
function list(kind: {
  readonly type?: string;
  readonly allowed: string;
  readonly allowedInCode: string;
  readonly separator?: RegExp;
  readonly item: (text: string) => string | undefined;
}): SettingKind<readonly string[]> {
  const { type = "list", allowed, allowedInCode, separator = /[\s,]+/ } = kind;
  const read = (items: readonly unknown[]) => {
    const values = items.map((item) => (typeof item === "string" ? kind.item(item) : undefined));
    return values.every((value) => value !== undefined) ? values : undefined;
  };
  return {
    type,
    allowed,
    allowedInCode,
    fromText: (text) => read(text.split(separator).filter((item) => item !== "")),
    // Array.from, since map skips the holes of a sparse array.
    fromCode: (value) => (Array.isArray(value) ? read(Array.from<unknown>(value)) : undefined),
  };
}

/** Reads a setting that is text in the environment and in code. */
function string<Value extends string>(
  type: string,
  allowed: string,
  read: (text: string) => Value | undefined,
): SettingKind<Value> {
  return {
    type,
    allowed,
    fromText: read,
    fromCode: (value) => (typeof value === "string" ? read(value) : undefined),
  };
}

/** Returns a reader that accepts a text unchanged if it matches the rule. */
function when(rule: RegExp | ((text: string) => boolean)): (text: string) => string | undefined {
  const holds = rule instanceof RegExp ? (text: string) => rule.test(text) : rule;
  return (text) => (holds(text) ? text : undefined);
}

const NOT_BLANK = /\S/;
/** Characters that an address must not contain. */
const NO_ADDRESS = /[\s\p{Cc}\\]/u;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

/** Any text that is not blank, kept unchanged. */
export const secret = string("secret", "a string that isn't blank", when(NOT_BLANK));

export const secretList = list({
  type: "list of secrets",
  allowed: "secrets separated by white space",
  allowedInCode: "a list of strings that aren't blank",
  separator: /\s+/,
  item: when(NOT_BLANK),
});

export const text = string(
  "string",
  "a string without control characters",
  when(/^(?=.*\S)\P{Cc}+$/u),
);

/** An identifier that Apple issues: of a team, or of a key. */
export const appleId = string(
  "identifier",
  "ten capital letters and digits",
  when(/^[A-Z0-9]{10}$/),
);

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

function number({
  syntax,
  isAllowed,
  ...words
}: {
  readonly type: string;
  readonly allowed: string;
  readonly syntax: RegExp;
  readonly isAllowed: (value: number) => boolean;
}): SettingKind<number> {
  const read = (value: number) => (isAllowed(value) ? value : undefined);
  return {
    ...words,
    fromText: (text) => (syntax.test(text) ? read(Number(text)) : undefined),
    // Adding 0 turns -0 into 0.
    fromCode: (value) => (typeof value === "number" ? read(value + 0) : undefined),
  };
}

function integer(allowed: string, least: number, most: number): SettingKind<number> {
  const isAllowed = (value: number) => Number.isInteger(value) && value >= least && value <= most;
  return number({ type: "integer", allowed, syntax: /^\d+$/, isAllowed });
}

function decimal(allowed: string, isAllowed: (value: number) => boolean): SettingKind<number> {
  return number({ type: "number", allowed, syntax: /^\d+(?:\.\d+)?$/, isAllowed });
}

export const wholeSeconds = integer("whole seconds, 0 or more", 0, Number.MAX_SAFE_INTEGER);

/** Reads a time as epoch seconds, rounded up. */
export const instant: SettingKind<number> = {
  type: "time",
  allowed: "an ISO 8601 time with its zone, such as `2026-11-22T12:00:00Z`",
  allowedInCode: "an ISO 8601 time with its zone, such as `2026-11-22T12:00:00Z`, or epoch seconds",
  fromText: epochSecondsOf,
  fromCode: (value) =>
    typeof value === "string" ? epochSecondsOf(value) : wholeSeconds.fromCode(value),
};

function epochSecondsOf(text: string): number | undefined {
  const [, day] =
    /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  const at = Date.parse(text);
  // The parser takes 30 February for 2 March.
  if (day === undefined || !(at >= 0) || !new Date(`${day}T00:00Z`).toISOString().startsWith(day))
    return undefined;
  return Math.ceil(at / 1000);
}

/** At most ten minutes: far below the limit of Node's timers (2^31 milliseconds). */
export const timeoutSeconds = decimal(
  "seconds above 0, at most 600",
  (value) => value > 0 && value <= 600,
);

export const toleranceSeconds = integer("whole seconds from 0 to 300", 0, 300);

export const hookSeconds = decimal("seconds from 1 to 10", (value) => value >= 1 && value <= 10);

export const dataBytes = integer("a whole number of bytes from 2 to 65536", 2, 65_536);

export const count = integer("a whole number from 1 to 10000", 1, 10_000);

/** Each sign-in reads that many sessions. */
export const countOrNone = integer("a whole number from 0 to 1000", 0, 1_000);

export function oneOf<const Value extends string>(...values: readonly Value[]): SettingKind<Value> {
  return string("choice", values.map((value) => `\`${value}\``).join(" or "), (text) =>
    values.find((value) => value === text),
  );
}

/** The version of the FAPI Security Profile. */
export const fapiVersion: SettingKind<2> = {
  type: "number",
  allowed: "2",
  fromText: (text) => (text === "2" ? 2 : undefined),
  fromCode: (value) => (value === 2 ? 2 : undefined),
};

const PROMPTS: readonly string[] = ["none", "omit", "login", "consent", "select_account"];
/** `omit` is our own: no `prompt` is sent. */
const ALONE = /^(?:none|omit)$/;

/**
 * OpenID Connect Core section 3.1.2.1: values separated by spaces; `none` excludes all others, and
 * so does `omit`.
 */
export const prompt: SettingKind<string> = {
  ...string(
    "string",
    "`login`, `consent` and `select_account`, separated by spaces, or only `omit`",
    (text) => {
      const values = text.split(" ").filter((value) => value !== "");
      const known = values.length > 0 && values.every((value) => PROMPTS.includes(value));
      return known && (values.length === 1 || !values.some((value) => ALONE.test(value)))
        ? values.join(" ")
        : undefined;
    },
  ),
  // In code only: `none` in the environment means unset.
  allowedInCode:
    "`login`, `consent` and `select_account`, separated by spaces, or only `none` or `omit`",
};

// RFC 6749 section 3.3. In the environment a comma separates scopes, too.
const scopes = list({
  allowed: "scopes separated by spaces or commas, in ASCII without quotes or backslashes",
  allowedInCode: "a list of scopes, or the same as one string",
  item: when(/^[\x21\x23-\x5b\x5d-\x7e]+$/),
});

/** An empty list means unset. */
export const scope: SettingKind<readonly string[]> = {
  ...scopes,
  fromCode: (value) =>
    typeof value === "string" ? scopes.fromText(value) : scopes.fromCode(value),
};

export const redirectTarget = string(
  "URL or path",
  "an absolute http(s) URL, or a path with one leading slash and no backslash",
  (text) => (isRedirectSetting(text) ? redirectSettingInAscii(text) : undefined),
);

export const ownPath = string(
  "path",
  "a path of the application with one leading slash and no backslash, such as `/images/staff.svg`",
  when((text) => text.startsWith("/") && isRedirectSetting(text)),
);

/** Parses an absolute http(s) URL without user info, query or fragment. */
function serverUrl(text: string): URL | undefined {
  // The raw text is checked too: the parser drops an empty query, fragment or user info, and
  // accepts missing slashes.
  if (NO_ADDRESS.test(text) || !/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/i.test(text)) return undefined;
  const url = parseUrl(text);
  return url !== undefined && HOST_NAME.test(url.hostname) ? url : undefined;
}

/** Kept unchanged, since issuers are compared exactly (OpenID Connect Discovery section 4.3). */
export const issuer = string(
  "URL",
  "an absolute http(s) URL without user info, query or fragment",
  when((text) => serverUrl(text) !== undefined),
);

/** The address of a document: it may have a query, but no user info, which the log would show. */
export const documentUrl = string(
  "URL",
  "an absolute http(s) URL without user info or fragment",
  when((text) => {
    const url = parseUrl(text);
    return /^https?:$/.test(url?.protocol ?? "") && !/[@#]/.test(text);
  }),
);

/** Reads an origin, and returns it in the form of the URL parser. */
export const origin = string(
  "origin",
  "an http(s) origin such as `https://app.example`: no path, query or user info",
  (text) => {
    const url = serverUrl(text);
    return url?.pathname === "/" && /^[^/]+\/\/[^/]+\/?$/.test(text) ? url.origin : undefined;
  },
);

export const audiences = list({
  allowed: "client identifiers separated by spaces or commas",
  allowedInCode: "a list of strings that aren't blank",
  item: when(NOT_BLANK),
});

const tenantList = list({
  allowed: "tenant identifiers (GUIDs) separated by spaces or commas, or only `any`",
  allowedInCode: 'a list of tenant identifiers (GUIDs), or "any"',
  item: (text) => (isTenant(text.toLowerCase()) ? text.toLowerCase() : undefined),
});

/** A list, or `any`. An empty list would let no user sign in. */
export const tenants: SettingKind<readonly string[] | "any"> = {
  ...tenantList,
  fromText: (text) => (text === "any" ? text : notEmpty(tenantList.fromText(text))),
  fromCode: (value) => (value === "any" ? value : notEmpty(tenantList.fromCode(value))),
};

function notEmpty(items: readonly string[] | undefined): readonly string[] | undefined {
  return items?.length === 0 ? undefined : items;
}

/** Reserved names are checked in check-common-settings.ts, where all three names are known. */
export const keyName = string(
  "string",
  "a name without control characters, and without white space at its start or end",
  when(/^(?!\s)\P{Cc}+(?<!\s)$/u),
);

/**
 * Returns the path with a slash at both ends. `/` is refused, since idpauth would handle every
 * unknown path of the application.
 */
export const mountPath: SettingKind<string> = string(
  "path",
  "a path of at least one part, of letters, digits, `-`, `_`, `.` and `~`, such as `/idpauth/`",
  (text) => {
    const path = plainPath(text);
    return path === undefined ? undefined : `${path}/`;
  },
);

/** Returns the path without a slash at its end. `/`, or an empty text in code, means no prefix. */
export const pathPrefix: SettingKind<string> = string(
  "path",
  "a path of letters, digits, `-`, `_`, `.` and `~`, such as `/portal`",
  (text) => (text === "" || text === "/" ? "" : plainPath(text)),
);

/** Returns the path with one slash at the start and none at the end. */
function plainPath(text: string): string | undefined {
  const parts = /^\/?([\w.~-]+(?:\/[\w.~-]+)*)\/?$/.exec(text)?.[1];
  // Browsers resolve these parts away.
  if (parts === undefined || parts.split("/").some((part) => part === "." || part === ".."))
    return undefined;
  return `/${parts}`;
}

/** RFC 6265 section 4.1.1, token of RFC 9110 section 5.6.2. */
export const cookieName = string(
  "string",
  "a cookie name: at most 200 ASCII letters, digits and ``!#$%&'*+-.^_`|~``",
  when(/^[\w!#$%&'*+\-.^`|~]{1,200}$/),
);
