import type { UnnamedFinding } from "../config/findings.js";
import type { Settings } from "../config/read-settings.js";
import type { SettingNames, SettingText } from "../config/setting-names.js";
import { isTemplate } from "../config/tenant-issuers.js";
import { parseUrl } from "../http/redirects.js";
import { asksForRetry } from "../provider/back-off.js";
import {
  documentSource,
  fetchDocument,
  redirectTarget,
  WELL_KNOWN,
} from "../provider/discovery-request.js";
import type { Document } from "../provider/endpoints-in-use.js";
import {
  jsonObject,
  type ProviderHttp,
  type ProviderResponse,
} from "../provider/http-to-provider.js";
import { expectedIssuer } from "../provider/provider-metadata.js";
import { failureOf } from "./explain-connection-error.js";
import { liveCheck } from "./live-check-table.js";
import { listed, shownAddress, shownEndpoint } from "./message-parts.js";

export interface Discovered {
  /** Undefined: the provider has none. */
  readonly document: Document | undefined;
  /**
   * Whether the document's issuer equals IDP_ISSUER exactly. Secrets may not be sent to endpoints
   * of another issuer.
   */
  readonly isOurs: boolean;
  readonly findings: readonly UnnamedFinding[];
}

const CODES = { certificate: "E102", address: "E117", network: "E101" } as const;

/** Fetches the discovery document (OpenID Connect Discovery section 4) and compares its issuer. */
export async function discover(settings: Settings, http: ProviderHttp): Promise<Discovered> {
  const { issuer, httpTimeout } = settings;
  const source = documentSource(settings);
  const { address, setting } = source;
  let response: ProviderResponse;
  try {
    response = await fetchDocument(settings, http);
  } catch (error) {
    const { kind, words, remedy } = failureOf(error, httpTimeout);
    if (kind === "too_large")
      return none(liveCheck("E103", `${address} ${words}, which isn't a discovery document.`));
    return none(
      liveCheck(
        CODES[kind],
        ({ env }) =>
          `The provider at ${env(setting)} (${setting === "issuer" ? issuer : address}) ${words}.`,
        remedy,
      ),
    );
  }
  const document = response.status === 200 ? jsonObject(response) : undefined;
  if (document === undefined) return none(noDocument(source, response));
  const expected = expectedIssuer(settings);
  const isOurs = document["issuer"] === expected;
  return {
    document,
    isOurs,
    findings: isOurs ? [] : [anotherIssuer(issuer, document["issuer"], expected)],
  };
}

function none(finding: UnnamedFinding): Discovered {
  return { document: undefined, isOurs: false, findings: [finding] };
}

function noDocument(
  { address, setting }: ReturnType<typeof documentSource>,
  response: ProviderResponse,
): UnnamedFinding {
  const { status } = response;
  const isIssuer = setting === "issuer";
  const remedy: SettingText | undefined = isIssuer
    ? undefined
    : ({ env }) => `Set ${env("discoveryUrl")} to the whole address of the discovery document.`;
  if (status >= 300 && status < 400) {
    const target = redirectTarget(response, address);
    const shown = target && shownEndpoint(target);
    const where =
      target === undefined
        ? "without a usable Location"
        : shown === undefined
          ? "to an address that can't be shown"
          : `to ${shown}`;
    return liveCheck(
      "E103",
      `${address} redirects ${where} (status ${status}). idpauth follows one redirect that only adds or removes a slash at the end.`,
      remedy ??
        (({ env }) =>
          `Set ${env("issuer")} to the issuer that serves the document without a redirect. Usual differences are http instead of https, or a \`www.\`.`),
    );
  }
  if (status === 200) return liveCheck("E103", `${address} doesn't return a JSON object.`, remedy);
  if (asksForRetry(status)) {
    return liveCheck(
      "E101",
      `${address} returns status ${status}.`,
      "The provider has an outage or is overloaded. Try again later.",
    );
  }
  if (status === 401 || status === 403 || status === 407) {
    return liveCheck(
      "E103",
      `${address} returns status ${status}, but a discovery document is public.`,
      ({ env }) =>
        `Most likely a firewall, a proxy or an access list blocks this machine. Otherwise compare ${env(setting)} with the provider's ${isIssuer ? "issuer" : "address"}.`,
    );
  }
  return liveCheck("E103", `${address} returns status ${status}.`, remedy);
}

function anotherIssuer(ours: string, theirs: unknown, expected: string): UnnamedFinding {
  if (typeof theirs !== "string")
    return liveCheck(
      "E104",
      "The discovery document doesn't contain an issuer.",
      "Have the provider correct the document.",
    );
  const shown = shownAddress(theirs);
  if (expected !== ours) {
    return liveCheck(
      "E104",
      ({ label }) =>
        `With ${label("issuer")} "${ours}", the issuer in the discovery document must be "${expected}", but it is ${shown === undefined ? "another one" : `"${shown}"`}.`,
      ({ env }) =>
        `${env("allowedTenants")} works only with Entra ID. For another provider, or a single tenant, set ${env("issuer")} to that issuer, and remove ${env("allowedTenants")}.`,
    );
  }
  if (isTemplate(theirs)) {
    return liveCheck(
      "E104",
      ({ label }) =>
        `${label("issuer")} is "${ours}", but the discovery document contains an issuer for several tenants.`,
      ({ env }) =>
        `For Entra ID, set ${env("issuer")} to exactly https://login.microsoftonline.com/organizations/v2.0 or ` +
        `https://login.microsoftonline.com/common/v2.0, and set ${env("allowedTenants")}.`,
    );
  }
  const how = (names: SettingNames) => {
    const differences = differencesOf(ours, theirs, names);
    return differences.length === 0 ? "" : ` Difference: ${listed(differences)}.`;
  };
  const named =
    shown === undefined
      ? "contains an issuer that isn't a plain http or https address"
      : `contains the issuer "${shown}"`;
  return liveCheck(
    "E104",
    (names) =>
      `${names.label("issuer")} is "${ours}", but the discovery document ${named}.${how(names)}`,
    shown === undefined
      ? undefined
      : ({ env }) => `If that is your provider, set ${env("issuer")} to exactly ${shown}`,
  );
}

/** Returns the differences of two issuers in words. Pure. */
export function differencesOf(ours: string, theirs: string, names: SettingNames): string[] {
  const issuer = names.env("issuer");
  const [left, right] = [parseUrl(ours), parseUrl(theirs)];
  if (left === undefined || right === undefined) return [];
  const trimmed = (text: string) => text.replace(/\/$/, "");
  if (ours.endsWith(WELL_KNOWN)) {
    const bare = ours.slice(0, -WELL_KNOWN.length);
    const added = `${issuer} ends with ${WELL_KNOWN}, which idpauth adds itself`;
    return bare === theirs ? [added] : [added, ...differencesOf(bare, theirs, names)];
  }
  const differences: string[] = [];
  if (left.protocol !== right.protocol)
    differences.push(
      `${left.protocol.slice(0, -1)} in ${issuer} but ${right.protocol.slice(0, -1)} in the document`,
    );
  if (left.hostname !== right.hostname) differences.push("the hostname");
  if (left.port !== right.port && left.protocol === right.protocol) differences.push("the port");
  if (trimmed(left.pathname) !== trimmed(right.pathname)) {
    const isCase = trimmed(left.pathname).toLowerCase() === trimmed(right.pathname).toLowerCase();
    differences.push(isCase ? "the letter case of the path" : "the path");
  }
  if (ours.endsWith("/") !== theirs.endsWith("/")) {
    differences.push(
      ours.endsWith("/")
        ? `only ${issuer} ends with a slash`
        : `${issuer} lacks the slash at the end`,
    );
  }
  // The URL parser made them equal, but the texts differ.
  if (differences.length === 0)
    differences.push(
      ours.toLowerCase() === theirs.toLowerCase() ? "the letter case" : "the spelling",
    );
  return differences;
}
