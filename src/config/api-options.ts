/** The table of APIs: what the option `apis` may contain, and what is wrong with it. */
import type { Finding } from "../errors.js";
import { isLoopback } from "../http/loopback.js";
import { isAuthority, parseUrl } from "../http/redirects.js";
import type { TokenTarget } from "../ports/provider.js";
import type { ValueCheck } from "../record/guard-requirements.js";
import { isObject, ownProperties } from "../record/json.js";
import { METHODS, ruleMistakes, type ApiRule } from "./api-rules.js";
import { check } from "./check-table.js";
import { kindOf, quoted } from "./describe-value.js";

/** An API that the application calls for its users. */
export interface ApiOptions<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /**
   * The address that all its paths begin with: an absolute http(s) URL that ends with a slash,
   * without a query.
   */
  readonly url: string;
  /** The resource indicator that its tokens are requested with (RFC 8707). */
  readonly resource?: string | undefined;
  /**
   * The audience of its tokens, for providers that request tokens by audience. A token must have
   * one of a list.
   */
  readonly audience?: string | readonly string[] | undefined;
  /** The scopes of its tokens. */
  readonly scope?: string | readonly string[] | undefined;
  /** The key of the provider whose users may use it. Default: any. */
  readonly provider?: string | undefined;
  /** `later`: a login doesn't ask for consent to this API. Default `login`. */
  readonly consent?: "login" | "later" | undefined;
  /** The path prefix of your application that the proxy passes on, such as `/api/orders/`. */
  readonly path?: string | undefined;
  /**
   * The methods of its requests, in capital letters. Default: the usual ones. CONNECT and TRACE are
   * never passed on.
   */
  readonly methods?: readonly string[] | undefined;
  /** Character sequences that the proxy otherwise refuses in a path. */
  readonly paths?: readonly PathAllowance[] | undefined;
  /**
   * By name: true passes on a header of the browser that the API otherwise doesn't get, a string is
   * sent with each request.
   */
  readonly requestHeaders?: Readonly<Record<string, string | true>> | undefined;
  /**
   * By name: true passes on a header of the API that the browser otherwise doesn't get, a string is
   * sent with each response.
   */
  readonly responseHeaders?: Readonly<Record<string, string | true>> | undefined;
  /** Whether other sites may link to the API's downloads. Default false. */
  readonly allowCrossSite?: boolean | undefined;
  /**
   * The origins besides its own that the API may redirect the browser to, such as
   * `https://files.example.com`. Plain http only on this machine.
   */
  readonly redirects?: readonly string[] | undefined;
  /**
   * What the proxy requires for some of the API's paths, besides its own rule. All rules that match
   * a request, or the upgrade to a WebSocket, must let it pass.
   */
  readonly rules?: readonly ApiRule<OwnClaims, Data>[] | undefined;
  /** Seconds that the API may take to respond. Default 30. */
  readonly timeout?: number | undefined;
}

/**
 * What a path may contain only if the API's `paths` lists it: an encoded slash, an empty segment, a
 * path parameter.
 */
export type PathAllowance = "%2F" | "//" | ";";

/** A row of the table, checked. */
export interface Api extends TokenTarget {
  readonly url: URL;
  /**
   * What its access tokens are requested with, as one text. Undefined, without `resource`,
   * `audience` and `scope`: it gets the session's token.
   */
  readonly target: string | undefined;
  readonly provider: string | undefined;
  /** Undefined: the proxy passes nothing on. */
  readonly path: string | undefined;
  readonly methods: readonly string[];
  readonly paths: readonly PathAllowance[];
  /**
   * By name in lower case: true passes on what the browser sends, a string is sent with each
   * request.
   */
  readonly requestHeaders: Readonly<Record<string, string | true>>;
  /**
   * By name in lower case: true passes on what the API sends, a string is sent with each response.
   */
  readonly responseHeaders: Readonly<Record<string, string | true>>;
  readonly allowCrossSite: boolean;
  /** Origins, as the URL parser writes them. */
  readonly redirects: readonly string[];
  readonly rules: readonly ApiRule[];
  /** Seconds. */
  readonly timeout: number;
}

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

/**
 * Headers that an API never gets from a browser: those of the connection, the credentials, and
 * those that the proxy sends itself.
 */
export const NEVER_SENT =
  /^(?::.*|proxy-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|host|content-length|expect|cookie2?|authorization|forwarded|x-forwarded.*|x-idpauth.*)$/;

/** Headers by which servers learn of a user who has signed in to the proxy in front of them. */
const IDENTITY =
  "(?:x-)?remote-.*|auth-(?:user|type)|x-auth-(?:request-.*|user.*)|x-authenticated-.*|x-webauth-.*|x-(?:anonymous-)?consumer.*|x-credential-.*|x-user(?:name|info)?|x-user-(?!agent$).*|x-(?:email|groups?|roles?)|x-(?:access|id)-token|x-jwt-.*|(?:x-)?oidc-.*|x-saml-.*|shib-.*|impersonate-.*|sm-?user.*|iv-.*|oam-.*|x-ms-(?:client-principal|token).*|x-goog-(?:authenticated-user|iap)-.*|x-amzn-oidc-.*|cf-access-.*|x-(?:authentik|vouch|pomerium|spiffe)-.*|tailscale-.*|x-envoy-.*|x-original-(?:host|forwarded.*)|gap-auth";

/** Headers by which they learn of a client's certificate. */
const CERTIFICATE =
  ".*client-?cert.*|.*ssl-client.*|.*tls-client.*|(?:x-)?ssl-.*|x-tls-.*|x-client-(?:verify|dn|[si]-dn|subject.*|issuer.*|serial.*|fingerprint)|x-amzn-mtls-.*|x-(?:peer-)?cert.*";

/** Headers that an API never gets from a browser, even if its `requestHeaders` lists them. */
export const NEVER_FROM_BROWSER = new RegExp(`^(?:${IDENTITY}|${CERTIFICATE})$`);

/**
 * Headers by which an application tells the server or the CDN in front of it to send a file, to ask
 * another server, to keep the response, or to stop using the application.
 */
const COMMANDS =
  "x-accel-.*|x-send-?file.*|x-lighttpd-.*|x-litespeed-.*|x-reproxy-.*|x-appengine-.*|fly-replay.*|x-envoy-.*|x-middleware-.*|surrogate-control|edge-control|.*cdn-cache-control";

/**
 * Headers that a browser never gets from an API: those of the connection, and commands that concern
 * the whole origin or the servers in front.
 */
export const NEVER_RETURNED = new RegExp(
  `^(?:proxy-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|set-cookie2?|clear-site-data|service-worker-allowed|x-idpauth.*|${COMMANDS})$`,
);

export interface ApiTable {
  readonly apis: ReadonlyMap<string, Api>;
  readonly findings: readonly Finding[];
}

const TRUST =
  "Remove the variable. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS to its certificate's file.";
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
};

/**
 * A provider, and the scopes that each login at it requests. Without a key if it is the only one.
 */
interface LoginScopes {
  readonly key: string | undefined;
  readonly settings: { readonly scope: readonly string[] };
}

/**
 * Reads the option `apis`, and reports everything that is wrong with it. Never throws.
 * @param mountPath of the endpoints
 */
export function readApis(
  option: unknown,
  providers: readonly LoginScopes[],
  mountPath = "/idpauth/",
): ApiTable {
  try {
    if (option === undefined) return { apis: new Map(), findings: [] };
    if (isObject(option)) return readTable(option, providers, mountPath);
    return {
      apis: new Map(),
      findings: [
        check("E029", `\`apis\` is ${kindOf(option)}; allowed: an object with one object per API.`),
      ],
    };
  } catch {
    // A getter or a proxy.
    return {
      apis: new Map(),
      findings: [check("E029", "`apis` can't be read. Use plain objects and lists.")],
    };
  }
}

function readTable(
  option: Readonly<Record<string, unknown>>,
  providers: readonly LoginScopes[],
  mountPath: string,
): ApiTable {
  const keys = providers.flatMap(({ key }) => key ?? []);
  const findings: Finding[] = [];
  const apis = new Map<string, Api>();
  for (const [api, given] of Object.entries(option)) {
    const values = copied(given);
    const mistakes = mistakesIn(api, values, keys);
    const row = mistakes.length === 0 ? apiOf(api, values as ApiOptions) : undefined;
    if (row !== undefined) mistakes.push(...ruleMistakes(row.rules, row));
    findings.push(
      ...mistakes.map((mistake) => check("E029", `\`apis\`, ${quoted(api)}: ${mistake}.`)),
    );
    if (row !== undefined && mistakes.length === 0) apis.set(api, row);
  }
  const all = [...apis.values()];
  for (const { api, path } of all)
    if (path !== undefined && (path.startsWith(mountPath) || mountPath.startsWith(path)))
      findings.push(
        check(
          "E029",
          `\`apis.${api}\`: the \`path\` and that of the endpoints, ${mountPath}, overlap.`,
        ),
      );
  for (const [at, { api, path }] of all.entries()) {
    const below = all.find(
      (other, index) =>
        path !== undefined && (other.path === path ? index > at : other.path?.startsWith(path)),
    );
    if (below !== undefined)
      findings.push(
        check(
          "E029",
          `\`apis.${api}\`: the \`path\` of \`apis.${below.api}\` begins with its own.`,
        ),
      );
  }
  const mixed = new Set(providers.flatMap((provider) => mixedResources(all, provider)));
  for (const resource of mixed)
    findings.push(
      check(
        "E029",
        `\`apis\`, SCOPE: a login would request \`.default\` of ${resource} together with its single permissions.`,
      ),
    );
  // The process's own environment, which `fetch` obeys. Some runtimes have none.
  const { process } = globalThis as { readonly process?: Pick<NodeJS.Process, "env"> };
  if (
    process?.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" &&
    all.some(({ url }) => url.protocol === "https:")
  )
    findings.push(
      check(
        "E029",
        "NODE_TLS_REJECT_UNAUTHORIZED is 0, so the certificates of `apis` wouldn't be checked.",
        TRUST,
      ),
    );
  for (const { api, url } of all)
    if (url.protocol === "http:" && !isLoopback(url.hostname))
      findings.push(check("W023", `\`apis.${api}\` is an http address of another machine.`));
  return { apis, findings };
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

function apiOf(api: string, given: ApiOptions): Api {
  const {
    url,
    resource,
    audience = [],
    scope = [],
    consent,
    methods = USUAL_METHODS,
    paths = [],
    redirects = [],
    rules = [],
    timeout = 30,
  } = given;
  const {
    requestHeaders = {},
    responseHeaders = {},
    allowCrossSite = false,
    provider,
    path,
  } = given;
  const audiences = [audience].flat();
  const scopes = typeof scope === "string" ? scopesIn(scope) : scope;
  const named = (values: Readonly<Record<string, string | true>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
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

/**
 * Entra ID refuses `.default`, all permissions of a resource, together with single permissions of
 * the same resource. A login requests SCOPE, the APIs without `consent: "later"`, and at most one
 * of the others.
 */
function mixedResources(apis: readonly Api[], { key, settings }: LoginScopes): string[] {
  const own = apis.filter(({ provider = key }) => provider === key);
  return own.flatMap((api) => {
    const asked = own
      .filter((other) => other === api || !other.consentLater)
      .flatMap(({ scope }) => scope);
    const scopes = [...settings.scope, ...asked];
    const resources = scopes
      .filter((scope) => scope.endsWith("/.default"))
      .map((scope) => scope.slice(0, -"/.default".length));
    return resources.filter((resource) =>
      scopes.some((scope) => scope.startsWith(`${resource}/`) && !scope.endsWith("/.default")),
    );
  });
}
