/** What the APIs violate together, and which of them are probably mistakes. */
import type { Finding } from "../errors.js";
import { isLoopback } from "../http/loopback.js";
import type { CertificateSettings } from "../keys/client-certificate.js";
import type { Api } from "./api-options.js";
import { askedAtLogin, targetsAt } from "./api-scopes.js";
import { check } from "./findings.js";

/**
 * A provider, and the scopes that each login at it requests. Without a key if it is the only one.
 */
export interface LoginScopes {
  readonly key: string | undefined;
  readonly settings: {
    readonly issuer: string;
    readonly scope: readonly string[];
  } & Partial<CertificateSettings>;
}

/**
 * Returns what the APIs violate together, and what each of them is warned of.
 * @param mountPath of the endpoints
 */
export function apiFindings(
  apis: readonly Api[],
  providers: readonly LoginScopes[],
  mountPath: string,
): Finding[] {
  const mixed = new Set(providers.flatMap((provider) => mixedResources(apis, provider)));
  return [
    ...pathFindings(apis, mountPath),
    ...[...mixed].map((resource) =>
      apiMistake(
        `\`apis\`, SCOPE: a login would request \`.default\` of ${resource} together with its single permissions.`,
      ),
    ),
    ...encryptionFindings(apis),
  ];
}

/** Something that the option `apis` can't have. */
export function apiMistake(
  message: string,
  remedy = "Correct the option. docs/reference/apis.md lists what an API may have.",
): Finding {
  return check("E006", message, remedy);
}

/** Paths that the proxy, or the endpoints, would take from each other. */
function pathFindings(apis: readonly Api[], mountPath: string): Finding[] {
  const findings: Finding[] = [];
  for (const { api, path } of apis)
    if (path !== undefined && (path.startsWith(mountPath) || mountPath.startsWith(path)))
      findings.push(
        apiMistake(
          `\`apis.${api}\`: the \`path\` and that of the endpoints, ${mountPath}, overlap.`,
        ),
      );
  for (const [at, { api, path }] of apis.entries()) {
    const below = apis.find(
      (other, index) =>
        path !== undefined && (other.path === path ? index > at : other.path?.startsWith(path)),
    );
    if (below !== undefined)
      findings.push(
        apiMistake(`\`apis.${api}\`: the \`path\` of \`apis.${below.api}\` begins with its own.`),
      );
  }
  return findings;
}

function encryptionFindings(apis: readonly Api[]): Finding[] {
  const findings: Finding[] = [];
  // The process's own environment, which `fetch` obeys. Some runtimes have none.
  const { process } = globalThis as { readonly process?: Pick<NodeJS.Process, "env"> };
  if (
    process?.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" &&
    apis.some(({ url }) => url.protocol === "https:")
  )
    findings.push(
      apiMistake(
        "NODE_TLS_REJECT_UNAUTHORIZED is 0, so the certificates of `apis` wouldn't be checked.",
        "Remove the variable. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS to its certificate's file.",
      ),
    );
  for (const { api, url } of apis)
    if (url.protocol === "http:" && !isLoopback(url.hostname))
      findings.push(
        check(
          "W011",
          `\`apis.${api}\` is an http address of another machine, so its access tokens are sent unencrypted.`,
          "Use the API's https address.",
        ),
      );
  return findings;
}

const DEFAULT = "/.default";

/**
 * Entra ID refuses `.default`, all permissions of a resource, together with single permissions of
 * the same resource. Reads what a login would send: SCOPE, the APIs without `consent: "later"`, and
 * at most one of the others. An API without scopes may stand for `.default`.
 */
function mixedResources(apis: readonly Api[], { key, settings }: LoginScopes): string[] {
  const { issuer, scope } = settings;
  const targets = targetsAt(apis, key);
  return targets.flatMap(({ api }) => {
    const scopes = [...scope, ...askedAtLogin(targets, issuer, api).scopes];
    return scopes
      .filter((one) => one.endsWith(DEFAULT))
      .map((one) => one.slice(0, -DEFAULT.length).replace(/\/$/, ""))
      .filter((resource) =>
        scopes.some((one) => one.startsWith(`${resource}/`) && !one.endsWith(DEFAULT)),
      );
  });
}
