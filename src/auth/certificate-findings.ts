/** Why the certificates of clients couldn't be shown, which startup checks report. */
import { named, providerCheck } from "../config/findings.js";
import type { Environment, ProviderReadings, ReadSourced } from "../config/read-settings.js";
import type { SettingText } from "../config/setting-names.js";
import type { Finding } from "../errors.js";
import { proxyFromEnvironment } from "../tenants/proxy-from-environment.js";
import { isNode } from "./api-code.js";
import { refusing } from "./refusing-source.js";

/** What connections with a certificate can't go through. */
export interface Surroundings {
  readonly env: Environment;
  /** Whether the option `fetch` is given. */
  readonly hasFetch: boolean;
}

const OTHER_RUNTIME: SettingText = ({ label }) =>
  `${label("clientCertificate")} is set, but idpauth can show certificates on Node.js only.`;

/** The findings about providers of the list. */
export function unshownFindings(
  providers: readonly ProviderReadings[],
  surroundings: Surroundings,
): Finding[] {
  const why = whyNotShown(surroundings);
  if (why === undefined) return [];
  return providers
    .filter(({ values: { clientCertificate: shown = null } }) => shown !== null)
    .map(({ names }) => named(providerCheck("E039", ...why), names));
}

function whyNotShown({
  env,
  hasFetch,
}: Surroundings): readonly [message: SettingText, remedy: SettingText] | undefined {
  if (!isNode)
    return [
      OTHER_RUNTIME,
      ({ env }) => `Run the application on Node.js, or remove ${env("clientCertificate")}.`,
    ];
  // Requests without the certificate would get tokens that anyone can use.
  if (hasFetch)
    return [
      ({ label }) =>
        `Both ${label("clientCertificate")} and the option \`fetch\` are set, but the certificate can only be shown by idpauth's own connections.`,
      ({ env }) => `Remove \`fetch\`, or ${env("clientCertificate")}.`,
    ];
  const { execArgv = [] } = process as { readonly execArgv?: readonly string[] };
  const proxy = proxyFromEnvironment(env, execArgv);
  if (proxy === undefined) return undefined;
  return [
    ({ label }) =>
      `${label("clientCertificate")} is set, but the environment has Node.js use the proxy in ${proxy}, which connections with a certificate wouldn't go through.`,
    "Start the application without NODE_USE_ENV_PROXY and `--use-env-proxy`. If other requests need the proxy, set it for each of them in code, for example with undici's `ProxyAgent`.",
  ];
}

/**
 * Reads a provider from a source, and refuses a certificate that couldn't be shown. The option
 * `fetch` and proxies never apply to these providers.
 */
export function shownSourced(read: ReadSourced): ReadSourced {
  return isNode
    ? read
    : refusing(read, ({ clientCertificate }) =>
        clientCertificate === null ? undefined : providerCheck("E039", OTHER_RUNTIME),
      );
}
