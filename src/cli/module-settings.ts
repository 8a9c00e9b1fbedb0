import path from "node:path";
import type { Api } from "../config/api-options.js";
import type { Environment, ConfiguredProvider } from "../config/read-settings.js";
import { STARTUP_CHECKS } from "../config/startup-checks.js";
import { ConfigurationError, type Finding } from "../errors.js";
import { withinTime } from "../stores/time-limit.js";
import type { CheckIo } from "./live/check-io.js";
import { storeFailure } from "./live/explain-store-error.js";

/** The options of `idpAuth`. The settings among them are unchecked. */
interface ModuleOptions {
  readonly env?: Environment;
  readonly fetch?: typeof fetch;
}

/** What the startup checks of a module's `auth` object return. */
export interface ModuleSettings {
  readonly findings: readonly Finding[];
  /** Empty if `findings` contains an error. */
  readonly providers: readonly ConfiguredProvider[];
  /** By name. Absent if `findings` contains an error, or if the application has an older idpauth. */
  readonly apis?: ReadonlyMap<string, Api>;
  /** Undefined if the module throws. */
  readonly options?: ModuleOptions;
}

/** Milliseconds for the module to load. */
const MODULE_LOAD_MS = 10_000;

/**
 * Imports a module and runs the startup checks of its export `auth`, or says why it can't. Shows
 * nothing of the module's own errors.
 */
export async function moduleSettings(
  file: string,
  env: Environment,
  io: CheckIo,
): Promise<ModuleSettings | { readonly mistake: string }> {
  try {
    const exports = await withinTime(
      io.importModule(path.resolve(io.folder, file), env),
      MODULE_LOAD_MS,
    );
    const { auth } = exports as {
      readonly auth?: { readonly [STARTUP_CHECKS]?: () => ModuleSettings } | null;
    };
    if (auth === undefined)
      return { mistake: `the module ${file} in --module doesn't export \`auth\`` };
    const run = auth?.[STARTUP_CHECKS];
    if (typeof run !== "function")
      return {
        mistake: `the export \`auth\` of ${file} in --module isn't what idpAuth() returned`,
      };
    const found = run();
    return { ...found, findings: withoutMiddleware(found.findings) };
  } catch (error) {
    // An application that mounts idpauth throws it during the import.
    if (error instanceof ConfigurationError)
      return { findings: withoutMiddleware(error.findings), providers: [] };
    return {
      mistake: `the module ${file} in --module can't be loaded: it ${storeFailure(error)}. Run it with node to see its error`,
    };
  }
}

/**
 * Without the warning that the session middleware is unknown, which only an application that mounts
 * idpauth can avoid.
 */
function withoutMiddleware(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ code }) => code !== "W008");
}
