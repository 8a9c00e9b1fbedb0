/** The part of the configuration that decides who may do what. */
export interface AccessConfiguration {
  readonly rule: DemoRule;
  /** The most seconds since the authentication that /transfer accepts. */
  readonly maxAge: number;
  /** The parameters that a login passes on to the provider; undefined: as IDP_LOGIN_PARAMS says. */
  readonly loginParams: readonly string[] | undefined;
}

/** The demo's own variables. Everything else in the environment is for the package. */
export interface DemoConfiguration extends AccessConfiguration {
  /** Listens on 127.0.0.1; 0: any free port. */
  readonly port: number;
  readonly providerPort: number;
  /** How many providers of its own the demo starts. */
  readonly providers: number;
  readonly idTokenSeconds: number;
  /** How long the fleet leaves an ended process ended. */
  readonly fleetRestartSeconds: number;
  /** How long an outage of the session store lasts that a button of /app/session starts. */
  readonly outageSeconds: number;
  readonly host: (typeof HOSTS)[number];
  readonly sessions: DemoSessions;
}

/** Where sessions live. Everything but `memory` and `host` outlives the process. */
export type DemoSessions =
  | { readonly kind: "memory" }
  | { readonly kind: "host"; readonly middleware: string }
  /** Without a path: beside the rest of what the demo keeps; `:memory:` is no file. */
  | { readonly kind: "sqlite"; readonly path: string | undefined }
  /** The address may hold a password. */
  | { readonly kind: "redis" | "postgres"; readonly url: URL };

/**
 * Who may sign in: every user of the provider, or staff only; the others show what a hook can do to
 * a sign-in.
 */
const RULES = ["none", "staff", "slow", "throw", "deny"] as const;
export type DemoRule = (typeof RULES)[number];

/** What the demo does without variables. */
export const DEFAULT_ACCESS: AccessConfiguration = {
  rule: "none",
  maxAge: 60,
  loginParams: undefined,
};

export type Environment = Readonly<Record<string, string | undefined>>;

const HOSTS = ["express", "fastify", "hono", "koa", "node", "fetch"] as const;

/** The middleware for each framework's own server-side sessions. The other frameworks have none. */
const SESSION_MIDDLEWARE: Partial<Record<(typeof HOSTS)[number], string>> = {
  express: "express-session",
  fastify: "@fastify/session",
};

const SESSIONS =
  "memory, host, sqlite:PATH (or sqlite, the default), redis://HOST:PORT (or rediss:), postgres://USER@HOST/DATABASE (or postgresql:)";

const PROVIDER_VARIABLES = [
  "IDP_ISSUER",
  "IDP_CLIENT_ID",
  "IDP_CLIENT_SECRET",
  "IDP_PROVIDERS",
] as const;

/** Everything that is wrong with the demo's own variables, one a line. */
export class DemoConfigurationError extends Error {}

/** @throws DemoConfigurationError */
export function readConfiguration(env: Environment): DemoConfiguration {
  const problems: string[] = [];
  const number = (name: string, fallback: number, least: number, most: number): number => {
    const text = env[name]?.trim() ?? "";
    if (text === "") return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    problems.push(
      `${name} is ${JSON.stringify(text)}; allowed: a whole number from ${least} to ${most}.`,
    );
    return fallback;
  };
  const choice = <Value extends string>(
    name: string,
    values: readonly [Value, ...Value[]],
  ): Value => {
    const text = env[name]?.trim() ?? "";
    const found = text === "" ? values[0] : values.find((value) => value === text);
    if (found === undefined)
      problems.push(`${name} is ${JSON.stringify(text)}; there is: ${values.join(", ")}.`);
    return found ?? values[0];
  };
  const host = choice("DEMO_HOST", HOSTS);
  const configuration = {
    port: number("PORT", 3000, 0, 65_535),
    providerPort: number("DEMO_PROVIDER_PORT", 0, 0, 65_535),
    providers: number("DEMO_PROVIDERS", 1, 1, 2),
    idTokenSeconds: number("DEMO_ID_TOKEN_SECONDS", 3600, 1, 86_400),
    fleetRestartSeconds: number("DEMO_FLEET_RESTART_SECONDS", 5, 1, 600),
    outageSeconds: number("DEMO_OUTAGE_SECONDS", 20, 1, 600),
    host,
    sessions: readSessions(env["DEMO_SESSIONS"]?.trim() ?? "", host, problems),
    rule: choice("DEMO_RULE", RULES),
    // Below 30 seconds, `maxAge` is an error of the guard.
    maxAge: number("DEMO_MAX_AGE", DEFAULT_ACCESS.maxAge, 30, 86_400),
    loginParams: listIn(env["DEMO_LOGIN_PARAMS"]),
  };
  if (configuration.providers > 1 && !wantsEmbeddedProvider(env))
    problems.push(
      `DEMO_PROVIDERS is 2, but the demo starts no provider, because one of these is set: ${PROVIDER_VARIABLES.join(", ")}.`,
    );
  if (problems.length > 0) throw new DemoConfigurationError(problems.join("\n"));
  return configuration;
}

/** The names in a variable, separated by spaces or commas. Undefined if it is not set. */
function listIn(text = ""): readonly string[] | undefined {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  return names.length === 0 ? undefined : names;
}

function readSessions(
  text: string,
  host: (typeof HOSTS)[number],
  problems: string[],
): DemoSessions {
  if (text === "" || text === "sqlite") return { kind: "sqlite", path: undefined };
  if (text === "memory") return { kind: "memory" };
  if (text === "host") {
    const middleware = SESSION_MIDDLEWARE[host];
    if (middleware !== undefined) return { kind: "host", middleware };
    const having = Object.entries(SESSION_MIDDLEWARE).map(
      ([name, brought]) => `${name} (${brought})`,
    );
    problems.push(
      `DEMO_SESSIONS is "host", but DEMO_HOST=${host} has no server-side sessions of its own. Hosts that have: ${having.join(", ")}.`,
    );
    return { kind: "memory" };
  }
  const path = /^sqlite:(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: "sqlite", path };
  const kind = /^rediss?:\/\/./.test(text)
    ? "redis"
    : /^postgres(?:ql)?:\/\/./.test(text)
      ? "postgres"
      : undefined;
  if (kind !== undefined && URL.canParse(text)) return { kind, url: new URL(text) };
  // What looks like an address may hold a password.
  const said = /^[\w-]{1,32}$/.test(text) ? `is ${JSON.stringify(text)}` : "has no usable value";
  problems.push(`DEMO_SESSIONS ${said}; there is: ${SESSIONS}.`);
  return { kind: "memory" };
}

/**
 * Whether the demo brings its own provider. One variable of a provider is enough to mean another
 * one.
 */
export function wantsEmbeddedProvider(env: Environment): boolean {
  return PROVIDER_VARIABLES.every((name) => env[name] === undefined);
}

/** What the embedded provider gives, a refresh token included. */
export const EMBEDDED_SCOPE = "openid email profile offline_access";

/**
 * What makes the demo run on a fresh machine. A variable that is set, even to nothing, stays, so
 * that the checks speak.
 *
 * @param address where the demo listens, on this machine only
 * @param cookieName where another demo on this machine uses the package's own; browsers keep
 *   cookies by host, whatever the port
 */
export function withDefaults(
  env: Environment,
  address: string,
  secretKey: string,
  cookieName: string | undefined,
): Environment {
  // Over https the package's own name is a better one, and the host is hardly shared.
  const isHttps = env["BASE_URL"]?.trim().startsWith("https:") === true;
  return {
    ...env,
    SECRET_KEY: env["SECRET_KEY"] ?? secretKey,
    BASE_URL: env["BASE_URL"] ?? address,
    IDP_DEBUG: env["IDP_DEBUG"] ?? "true",
    IDP_EVENTS: env["IDP_EVENTS"] ?? "true",
    // Half an hour: long enough to try things out, and /app/ shows how it ticks.
    IDP_SESSION_IDLE_TIMEOUT: env["IDP_SESSION_IDLE_TIMEOUT"] ?? "1800",
    ...(wantsEmbeddedProvider(env) && {
      SCOPE: env["SCOPE"] ?? EMBEDDED_SCOPE,
      ...logoutDefaults(env),
    }),
    ...(cookieName !== undefined &&
      !isHttps && { IDP_COOKIE_NAME: env["IDP_COOKIE_NAME"] ?? cookieName }),
  };
}

/**
 * Turns on the logouts that the embedded provider has. Those that come from the provider need the
 * package's own sessions.
 */
export function logoutDefaults(env: Environment): Environment {
  const names = ["IDP_LOGOUT_AT_PROVIDER"];
  if (env["DEMO_SESSIONS"]?.trim() !== "host")
    names.push("IDP_BACKCHANNEL_LOGOUT", "IDP_SESSIONS_PAGE");
  return Object.fromEntries(names.map((name) => [name, env[name] ?? "true"]));
}

/** A server's address, fit to be shown. */
export function withoutPassword(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/**
 * Returns the redirect URIs: one for each address of the demo.
 *
 * @param key the provider's, if there are several
 */
export function redirectUris(env: Environment, port: number, key?: string): string[] {
  const callback = `${mountPath(env)}login-callback${key === undefined ? "" : `/${key}`}`;
  const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const base = env["BASE_URL"]?.trim() ?? "";
  // An unusable BASE_URL is the startup checks' matter.
  const origins = URL.canParse(base) ? [new URL(base).origin, ...own] : own;
  return [...new Set(origins)]
    .filter((origin) => origin.startsWith("http"))
    .map((origin) => origin + callback);
}

/** Where the package's endpoints live, with a slash at both ends. */
export function mountPath(env: Environment): string {
  const inner = (env["IDP_MOUNT_PATH"] ?? "").trim().replace(/^\/+|\/+$/g, "");
  return inner === "" || /^(?:none|null)$/i.test(inner) ? "/idpauth/" : `/${inner}/`;
}
