import type { Environment } from "../config/read-settings.js";

/** Both spellings, as Node.js reads them. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

const SWITCH = "--use-env-proxy";

/**
 * Returns the name of the variable with a proxy that Node.js would use, or undefined. A proxy
 * resolves host names itself, so the rules for addresses would have no effect.
 *
 * @param execArgv the options of Node.js in this process's command line
 */
export function proxyFromEnvironment(
  env: Environment,
  execArgv: readonly string[],
): string | undefined {
  const options = [...execArgv, ...(env["NODE_OPTIONS"] ?? "").split(/\s+/)];
  const isUsed = env["NODE_USE_ENV_PROXY"] === "1" || options.includes(SWITCH);
  if (!isUsed) return undefined;
  return PROXY_VARIABLES.find((name) => (env[name] ?? "").trim() !== "");
}
