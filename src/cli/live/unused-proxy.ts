import type { Environment } from "../../config/read-settings.js";
import { parseUrl } from "../../http/redirects.js";

/**
 * Returns a remedy if the environment names a proxy for an address and Node.js doesn't use it, which
 * is its default. Undefined if there is no such proxy.
 *
 * @param flags the options of Node.js that NODE_OPTIONS may have: older releases have no switch
 */
export function unusedProxy(
  address: string,
  env: Environment,
  flags: { has(flag: string): boolean } = process.allowedNodeEnvironmentFlags,
): string | undefined {
  const url = parseUrl(address);
  const upper = url?.protocol === "http:" ? "HTTP_PROXY" : "HTTPS_PROXY";
  // Node.js and most tools read both spellings.
  const name = [upper, upper.toLowerCase()].find((one) => (env[one] ?? "").trim() !== "");
  if (url === undefined || name === undefined || isExempt(url.hostname, env)) return undefined;
  const isOn =
    env["NODE_USE_ENV_PROXY"] === "1" ||
    (env["NODE_OPTIONS"]?.includes("--use-env-proxy") ?? false);
  const hasSwitch = flags.has("--use-env-proxy");
  if (isOn && hasSwitch) return undefined;
  const what = hasSwitch
    ? "Node.js uses it only with NODE_USE_ENV_PROXY=1"
    : `this version of Node.js (${process.version}) can't use it. Use Node.js 22.21, 24.5 or later with NODE_USE_ENV_PROXY=1, or the option \`fetch\``;
  return `${name} is set, but ${what}. docs/providers/index.md has examples.`;
}

/** Whether NO_PROXY lists the hostname, or a domain that it belongs to. */
function isExempt(hostname: string, env: Environment): boolean {
  return (env["NO_PROXY"] ?? env["no_proxy"] ?? "")
    .split(/[\s,]+/)
    .map((entry) =>
      entry
        .toLowerCase()
        .replace(/^\*?\./, "")
        .replace(/:\d+$/, ""),
    )
    .some((entry) => entry === "*" || (entry !== "" && `.${hostname}`.endsWith(`.${entry}`)));
}
