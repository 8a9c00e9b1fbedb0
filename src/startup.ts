import type { FrameworkAdapter, FrameworkFacts, IdpAuthOptions } from "./public-types.js";
import { readSettings, type Settings } from "./config/read-settings.js";
import { runChecks } from "./config/startup-checks.js";
import { storeMistake } from "./config/store-mistake.js";
import { ConfigurationError, type Finding } from "./errors.js";

/** The options that are no settings. The check for misspelt options knows them. */
const OTHER_OPTIONS = ["env", "store", "session", "sessionLabel", "log", "clock", "fetch"];

export interface CheckedSettings {
  readonly settings: Settings;
  /** The warnings. */
  readonly findings: readonly Finding[];
}

/**
 * Reads the settings and runs every startup check.
 *
 * @throws ConfigurationError with every finding at once
 */
export function checkedSettings(options: IdpAuthOptions, adapter: FrameworkAdapter<never>, facts?: FrameworkFacts): CheckedSettings {
  const { env = process.env, store, session, sessionLabel, log, clock, fetch, ...settingOptions } = options;
  const read = readSettings(settingOptions, env, OTHER_OPTIONS);
  const mistake = store === undefined ? undefined : storeMistake(store);
  const findings = runChecks(read, {
    sessionMiddleware: adapter.session === undefined ? "not-applicable" : "unknown",
    ...(adapter.middlewareRemedy !== undefined && { middlewareRemedy: adapter.middlewareRemedy }),
    ...facts,
    frameworkName: adapter.name,
    sessionKind: session ?? "bundled",
    storeGiven: store !== undefined,
    ...(mistake === undefined ? store?.problems && { storeProblems: store.problems } : { storeMistake: mistake }),
    sessionGiven: session !== undefined,
  });
  if (read.settings === undefined || findings.some(({ severity }) => severity === "error")) throw new ConfigurationError(findings);
  return { settings: read.settings, findings };
}
