import type { ApplicationOptions } from "../application/hooks.js";
import { epochSeconds, systemClock } from "../clock.js";
import type { ApiTable } from "../config/api-options.js";
import { check, providerCheck } from "../config/findings.js";
import { splitProviders, type SourceOptions } from "../config/provider-source.js";
import { readApis } from "../config/read-apis.js";
import {
  readSettings,
  type CommonSettings,
  type ConfiguredProvider,
  type Environment,
  type ReadSourced,
  type Settings,
} from "../config/read-settings.js";
import { runChecks, type FrameworkFacts as CheckedFacts } from "../config/startup-checks.js";
import { storeMistake } from "../config/store-mistake.js";
import { ConfigurationError, type Finding } from "../errors.js";
import { logLine } from "../events/log-lines.js";
import type { LogEntry } from "../events/log.js";
import { pageFindings } from "../pages/check-page-options.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { proxyFromEnvironment } from "../tenants/proxy-from-environment.js";
import type { FrameworkAdapter, FrameworkFacts } from "./adapter-types.js";
import { shownSourced, unshownFindings } from "./certificate-findings.js";
import type { IdpAuthOptions } from "./idp-auth-options.js";
import { refusing } from "./refusing-source.js";

/** The options that are no settings. The check for misspelt options knows them. */
const HOOKS = ["onSignIn", "onRefresh", "onSignOut", "clientData"] as const;
const OTHER_OPTIONS = [
  "env",
  "store",
  "session",
  "sessionLabel",
  "log",
  "logEveryLine",
  "clock",
  "fetch",
  "claims",
  "claimsVersion",
  "pages",
  "apis",
  ...HOOKS,
];

export interface CheckedSettings {
  /** What all providers share. */
  readonly settings: CommonSettings;
  readonly providers: readonly ConfiguredProvider[];
  /** Undefined: all providers are known. */
  readonly source: CheckedSource | undefined;
  readonly apis: ApiTable["apis"];
  /** The warnings. */
  readonly findings: readonly Finding[];
}

/** A source of further providers. */
export interface CheckedSource {
  readonly options: SourceOptions;
  readonly read: ReadSourced;
  /** What each of its providers inherits. A setting that a provider must have is missing. */
  readonly inherited: Partial<Settings>;
}

/** What the startup checks look at. */
export interface CheckParts {
  readonly options: IdpAuthOptions;
  readonly adapter: FrameworkAdapter<never>;
  readonly facts: FrameworkFacts | undefined;
  /** What the guards of routes violate, given the providers. */
  readonly guardFindings: (
    providers: readonly ConfiguredProvider[],
    apis: ApiTable["apis"],
  ) => readonly Finding[];
}

/**
 * Reads the settings and runs every startup check.
 *
 * @throws ConfigurationError with every finding at once
 */
export function checkedSettings(parts: CheckParts): CheckedSettings {
  const { options, guardFindings } = parts;
  const { env = process.env, clock = systemClock, apis: apiOptions } = options;
  const { list, source } = splitProviders(options.providers);
  const settingOptions = Object.fromEntries(
    Object.entries({ ...options, providers: list }).filter(
      ([name]) => !OTHER_OPTIONS.includes(name),
    ),
  );
  const read = readSettings(settingOptions, env, {
    otherOptions: OTHER_OPTIONS,
    now: epochSeconds(clock),
    hasSource: source !== undefined,
  });
  const { settings, providers, readSourced, inherited } = read;
  const { apis, findings: ofApis } = readApis(apiOptions, providers, {
    mountPath: settings?.mountPath,
    hasSource: source !== undefined,
  });
  const ofGuards = settings === undefined ? [] : [...guardFindings(providers, apis), ...ofApis];
  const ofProxy = source === undefined ? [] : proxyFindings(env);
  const hasFetch = options.fetch !== undefined;
  const ofCertificates = unshownFindings(read.read, { env, hasFetch });
  const findings = runChecks(
    { ...read, findings: [...read.findings, ...ofGuards, ...ofProxy, ...ofCertificates] },
    checkFacts(parts),
  );
  if (settings === undefined || findings.some(({ severity }) => severity === "error"))
    throw new ConfigurationError(findings);
  return {
    settings,
    providers,
    source: source &&
      readSourced &&
      inherited && {
        options: source,
        read: encryptedSourced(shownSourced(readSourced), options),
        inherited,
      },
    apis,
    findings,
  };
}

/** Reads a provider from a source, and refuses to bind its tokens to a key that isn't encrypted. */
function encryptedSourced(read: ReadSourced, { session }: IdpAuthOptions): ReadSourced {
  return session === "host"
    ? refusing(read, ({ dpop }) => (dpop ? providerCheck("E038") : undefined))
    : read;
}

/** A proxy would resolve the names that customers enter, past the network rules. */
function proxyFindings(env: Environment): Finding[] {
  // Not every runtime has command-line options.
  const { execArgv = [] } = process as { readonly execArgv?: readonly string[] };
  const variable = proxyFromEnvironment(env, execArgv);
  return variable === undefined ? [] : [check("E032")];
}

/** What the checks must know besides the settings. */
function checkFacts({ options, adapter, facts }: CheckParts): CheckedFacts {
  const { store, session } = options;
  const mistake = store === undefined ? undefined : storeMistake(store);
  return {
    applicationMistakes: mistakesIn(options),
    pageFindings: pageFindings(options.pages),
    sessionMiddleware: adapter.session === undefined ? "not-applicable" : "unknown",
    ...withoutUndefined({ middlewareRemedy: adapter.middlewareRemedy }),
    ...facts,
    frameworkName: adapter.name,
    sessionKind: session ?? "bundled",
    storeGiven: store !== undefined,
    ...withoutUndefined({
      storeMistake: mistake,
      storeProblems: mistake === undefined ? store?.problems : undefined,
    }),
  };
}

/** The log line of the first start. It contains no secret. */
export function startedLine(
  { settings, providers }: CheckedSettings,
  { store, session }: IdpAuthOptions,
): LogEntry {
  const { sessionMaxAge, sessionIdleTimeout, sessionTtl, publicPath: path, debug } = settings;
  const named = providers.map(({ key, settings: { issuer } }) =>
    key === undefined ? issuer : `${key} (${issuer})`,
  );
  const limits = {
    sessionMaxAge: sessionMaxAge ?? "none",
    sessionIdleTimeout: sessionIdleTimeout ?? "none",
    sessionTtl,
  } as const;
  const where = session === "host" ? "the framework's" : (store?.name ?? "memory");
  const details = { providers: named.join(", "), store: where, ...limits, path, debug };
  const words = Object.entries(details).map(([name, value]) => `${name} ${String(value)}`);
  return { ...logLine("started", `idpauth has started: ${words.join("; ")}.`), details };
}

/**
 * What is wrong with the application's own functions. The types prevent it, but not in JavaScript.
 */
function mistakesIn({
  claims,
  claimsVersion,
  ...hooks
}: { readonly [Name in keyof ApplicationOptions]?: unknown }): string[] {
  const mistakes = HOOKS.filter(
    (name) => hooks[name] !== undefined && typeof hooks[name] !== "function",
  ).map((name) => `\`${name}\` isn't a function.`);
  const standard: unknown = (claims as { readonly "~standard"?: unknown } | null | undefined)?.[
    "~standard"
  ];
  const isSchema =
    typeof standard === "object" &&
    standard !== null &&
    "validate" in standard &&
    typeof standard.validate === "function";
  if (claims !== undefined && !isSchema) mistakes.push("`claims` isn't a Standard Schema.");
  if (
    claimsVersion !== undefined &&
    (typeof claimsVersion !== "string" || !/^.{1,100}$/u.test(claimsVersion))
  ) {
    mistakes.push("`claimsVersion` isn't a string of 1 to 100 characters.");
  }
  if (claimsVersion !== undefined && claims === undefined)
    mistakes.push("`claimsVersion` is set without `claims`.");
  return mistakes;
}
