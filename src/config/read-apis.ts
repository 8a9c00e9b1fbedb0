/** How the option `apis` is read, and what is wrong with the options of one API. */
import type { Finding } from "../errors.js";
import { isLoopback } from "../http/loopback.js";
import { NEVER_FROM_BROWSER, NEVER_RETURNED, NEVER_SENT } from "../http/never-passed-headers.js";
import { isAuthority, parseUrl } from "../http/redirects.js";
import type { TokenTarget } from "../ports/provider.js";
import type { ValueCheck } from "../record/guard-requirements.js";
import { isObject, ownProperties } from "../record/json.js";
import type { Api, ApiDispatcher, ApiOptions, ApiTable } from "./api-options.js";
import { METHODS, ruleMistakes } from "./api-rules.js";
import { apiFindings, apiMistake, type LoginScopes } from "./check-apis.js";
import { certificateFor, type CertificateOwners } from "./check-certificates.js";
import { kindOf, quoted } from "./describe-value.js";

/**
 * The methods of an API that lists none. Not CONNECT, and not TRACE, whose response repeats the
 * token.
 */
const USUAL_METHODS: readonly string[] = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
];

/** How long an API may take to send something, if its options don't say. */
const API_TIMEOUT_SECONDS = 30;

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const HEADER = /^(?!content-length$)[a-z0-9-]{1,100}$/;
const PATH = /^\/(?:(?!\.{1,2}\/)[A-Za-z0-9._~-]+\/)*$/;
/** A scope (RFC 6749 section 3.3). At some providers, a resource or an audience becomes one. */
const TEXT = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;
const SEQUENCES = ["%2F", "//", ";"];

const text = (form: RegExp) => (value: unknown) => typeof value === "string" && form.test(value);
const list = (is: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length <= 50 && value.every(is);
/** One value, or a list of them. Of an empty one, nobody could tell what was meant. */
const oneOrMore = (is: (value: unknown) => boolean) => (value: unknown) =>
  is(value) || (list(is)(value) && (value as unknown[]).length > 0);

/**
 * @param never the headers that the proxy handles itself
 * @param neverPassed those that can only have a value of the table's
 */
function headers(never: RegExp, neverPassed?: RegExp) {
  const isValue = (name: string, value: unknown) =>
    value === true
      ? neverPassed?.test(name) !== true
      : typeof value === "string" && /^[\x20-\x7e]{1,2000}$/.test(value);
  const isHeader = ([given, value]: [string, unknown]) => {
    const name = given.toLowerCase();
    return HEADER.test(name) && !never.test(name) && isValue(name, value);
  };
  return (value: unknown) => isObject(value) && Object.entries(value).every(isHeader);
}

const OPTIONS: Readonly<Record<keyof ApiOptions, ValueCheck>> = {
  url: [
    (value) => baseOf(value) !== undefined,
    "an absolute http(s) URL that ends with `/`, without user info, query and fragment",
  ],
  resource: [
    (value) =>
      text(TEXT)(value) && URL.canParse(value as string) && !(value as string).includes("#"),
    "an absolute URI without a fragment, quotes and backslashes",
  ],
  audience: [
    oneOrMore(text(TEXT)),
    "a string without spaces, quotes and backslashes, or a list of them",
  ],
  scope: [
    (value) => oneOrMore(text(TEXT))(typeof value === "string" ? scopesIn(value) : value),
    "scopes separated by spaces, in ASCII without quotes and backslashes, or a list of them",
  ],
  provider: [text(NAME), "the key of a provider"],
  consent: [(value) => value === "login" || value === "later", "`login` or `later`"],
  path: [
    text(PATH),
    "a path that starts and ends with `/`, of letters, digits and `-._~`, without dot segments",
  ],
  methods: METHODS,
  paths: [list((value) => SEQUENCES.includes(value as string)), "a list of `%2F`, `//` and `;`"],
  requestHeaders: [
    headers(NEVER_SENT, NEVER_FROM_BROWSER),
    "an object with true or a string for each header, without those of the connection, Cookie, Authorization and X-Forwarded-*, and without true for those that name a user or a client certificate",
  ],
  responseHeaders: [
    headers(NEVER_RETURNED),
    "an object with true or a string for each header, without those of the connection, Set-Cookie and others that concern the whole origin",
  ],
  allowCrossSite: [(value) => typeof value === "boolean", "true or false"],
  redirects: [
    list((value) => originOf(value) !== undefined),
    "a list of https origins, such as `https://files.example.com` (http only on this machine)",
  ],
  rules: [list(isObject), "a list of objects, at most 50"],
  timeout: [
    (value) => typeof value === "number" && value > 0 && value <= 3_600,
    "seconds, at most 3600",
  ],
  dispatcher: [
    (value) =>
      typeof value === "object" &&
      value !== null &&
      typeof (value as Partial<ApiDispatcher>).dispatch === "function",
    "a `Dispatcher` of undici",
  ],
  certificate: [(value) => typeof value === "boolean", "true or false"],
};

/** What the table of APIs is read with. */
interface ReadApisOptions {
  /** Of the endpoints. */
  readonly mountPath?: string | undefined;
  /** Whether a source has further providers. */
  readonly hasSource?: boolean;
}

/** Reads the option `apis`, and reports everything that is wrong with it. Never throws. */
export function readApis(
  option: unknown,
  providers: readonly LoginScopes[],
  { mountPath = "/idpauth/", hasSource = false }: ReadApisOptions = {},
): ApiTable {
  try {
    if (option === undefined) return { apis: new Map(), findings: [] };
    if (isObject(option)) return readTable(option, { providers, hasSource }, mountPath);
    return {
      apis: new Map(),
      findings: [
        apiMistake(`\`apis\` is ${kindOf(option)}; allowed: an object with one object per API.`),
      ],
    };
  } catch {
    // A getter or a proxy.
    return {
      apis: new Map(),
      findings: [apiMistake("`apis` can't be read. Use plain objects and lists.")],
    };
  }
}

function readTable(
  option: Readonly<Record<string, unknown>>,
  owners: CertificateOwners & { readonly providers: readonly LoginScopes[] },
  mountPath: string,
): ApiTable {
  const { providers } = owners;
  const keys = providers.flatMap(({ key }) => key ?? []);
  const findings: Finding[] = [];
  const apis = new Map<string, Api>();
  for (const [api, given] of Object.entries(option)) {
    const values = copied(given);
    const mistakes = mistakesIn(api, values, keys);
    const row = mistakes.length === 0 ? apiOf(api, values as ApiOptions) : undefined;
    if (row !== undefined) mistakes.push(...ruleMistakes(row.rules, row));
    findings.push(
      ...mistakes.map((mistake) => apiMistake(`\`apis\`, ${quoted(api)}: ${mistake}.`)),
    );
    if (row === undefined || mistakes.length > 0) continue;
    const isMarked = (values as ApiOptions).certificate === true;
    const certificate = isMarked ? certificateFor(row, owners) : undefined;
    if (typeof certificate === "object") findings.push(certificate);
    else apis.set(api, { ...row, certificate });
  }
  const all = [...apis.values()];
  return { apis, findings: [...findings, ...apiFindings(all, providers, mountPath)] };
}

/** Copies the options of an API: the checks see the values that are used later. */
function copied(given: unknown): unknown {
  if (!isObject(given)) return given;
  const values = ownProperties({ ...given });
  const { rules } = values;
  return Array.isArray(rules)
    ? ownProperties({
        ...values,
        rules: rules.map((rule: unknown) => (isObject(rule) ? ownProperties({ ...rule }) : rule)),
      })
    : values;
}

function mistakesIn(api: string, values: unknown, keys: readonly string[]): string[] {
  if (!NAME.test(api))
    return [
      "a name has at most 31 lowercase letters, digits and hyphens, and starts with a letter",
    ];
  if (!isObject(values)) return [`it is ${kindOf(values)}; allowed: an object`];
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(OPTIONS, name));
  const mistakes = unknown.map((name) => `there is no option ${quoted(name)}`);
  for (const [name, [is, allowed]] of Object.entries(OPTIONS)) {
    const value = values[name];
    if ((value !== undefined || name === "url") && !is(value))
      mistakes.push(`\`${name}\` is ${kindOf(value)}; allowed: ${allowed}${instead(name, value)}`);
  }
  const { provider } = values;
  if (typeof provider === "string" && !keys.includes(provider))
    mistakes.push(`there is no provider ${quoted(provider)}`);
  return mistakes;
}

/** What to write for an address whose only mistake is the missing slash at its end. */
function instead(name: string, value: unknown): string {
  const address = typeof value === "string" ? `${value}/` : "";
  return name === "url" && baseOf(address) !== undefined ? `. Write \`${address}\`` : "";
}

function apiOf(api: string, given: ApiOptions): Omit<Api, "certificate"> {
  const { url, provider, path, methods = USUAL_METHODS, paths = [], rules = [] } = given;
  const { requestHeaders = {}, responseHeaders = {}, allowCrossSite = false } = given;
  const { redirects = [], timeout = API_TIMEOUT_SECONDS, dispatcher } = given;
  const named = (values: Readonly<Record<string, string | true>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    ...tokensOf(api, given),
    url: new URL(url),
    provider,
    path,
    methods,
    paths,
    requestHeaders: named(requestHeaders),
    responseHeaders: named(responseHeaders),
    allowCrossSite,
    redirects: redirects.flatMap((origin) => originOf(origin) ?? []),
    rules,
    timeout,
    dispatcher,
  };
}

/** What the access tokens of an API are requested with. */
function tokensOf(api: string, given: ApiOptions): TokenTarget & Pick<Api, "target"> {
  const { resource, audience = [], scope = [], consent } = given;
  const audiences = [audience].flat();
  const scopes = typeof scope === "string" ? scopesIn(scope) : scope;
  return {
    api,
    resource,
    audience: audiences,
    scope: scopes,
    target:
      resource !== undefined || audiences.length + scopes.length > 0
        ? JSON.stringify([resource, audiences, scopes])
        : undefined,
    consentLater: consent === "later",
  };
}

function scopesIn(text: string): string[] {
  return text.split(" ").filter(Boolean);
}

/** The address of an API, if its paths can be appended to it. */
function baseOf(value: unknown): URL | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  const isBase =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.href === value &&
    url.pathname.endsWith("/");
  return isBase && url.username + url.password + url.search + url.hash === "" ? url : undefined;
}

/** An origin that a browser may be sent to, as the URL parser writes it. */
function originOf(value: unknown): string | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined || (url.href !== value && url.origin !== value)) return undefined;
  const isSecure =
    url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
  // Not `https://*.example.com`, which the URL parser accepts and no redirect matches.
  const isNamed = isAuthority(url.host) && url.href === `${url.origin}/`;
  return isSecure && isNamed ? url.origin : undefined;
}
