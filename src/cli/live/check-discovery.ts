import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import { parseUrl } from "../../http/redirects.js";
import type { Settings } from "../../config/read-settings.js";
import { jsonObject } from "../../provider/token-responses.js";
import type { ProviderResponse, Backchannel } from "../../provider/transport.js";
import { documentAddress, fetchDocument } from "../../provider/discovery.js";
import { failureOf } from "./explain-connection-error.js";
import { listed, shownAddress, shownEndpoint } from "./message-parts.js";

export type Document = Readonly<Record<string, unknown>>;

export interface Discovered {
  /** Undefined: there is none. */
  readonly document: Document | undefined;
  /** The document's issuer is IDP_ISSUER, to the letter; nothing secret may be sent to the endpoints of another one. */
  readonly isOurs: boolean;
  readonly findings: readonly Finding[];
}

const WELL_KNOWN = "/.well-known/openid-configuration";

/** Fetches the discovery document (OpenID Connect Discovery section 4) and compares its issuer. */
export async function discover({ issuer, httpTimeout }: Settings, backchannel: Backchannel): Promise<Discovered> {
  const address = documentAddress(issuer);
  let response: ProviderResponse;
  try {
    response = await fetchDocument(issuer, backchannel);
  } catch (error) {
    const { kind, words, remedy } = failureOf(error, httpTimeout);
    if (kind === "too_large") return none(check("E103", `${address} ${words}, which is no discovery document.`));
    return none(check(kind === "certificate" ? "E102" : "E101", `The provider at IDP_ISSUER (${issuer}) ${words}.`, remedy));
  }
  const document = response.status === 200 ? jsonObject(response) : undefined;
  if (document === undefined) return none(noDocument(address, response));
  const isOurs = document["issuer"] === issuer;
  return { document, isOurs, findings: isOurs ? [] : [anotherIssuer(issuer, document["issuer"])] };
}

function redirectTarget({ status, headers }: ProviderResponse, address: string): URL | undefined {
  const location = headers.get("location");
  if (status < 300 || status >= 400 || location === null || !URL.canParse(location, address)) return undefined;
  return new URL(location, address);
}

function none(finding: Finding): Discovered {
  return { document: undefined, isOurs: false, findings: [finding] };
}

function noDocument(address: string, response: ProviderResponse): Finding {
  const { status } = response;
  if (status >= 300 && status < 400) {
    const target = redirectTarget(response, address);
    const shown = target && shownEndpoint(target.href);
    const where =
      target === undefined ? "without a usable Location" : shown === undefined ? "to an address that is not shown here" : `to ${shown}`;
    return check(
      "E103",
      `${address} redirects ${where} (status ${status}). Only a redirect that adds or removes one slash at the end is followed, and once.`,
      "Set IDP_ISSUER to the issuer whose discovery document is served without a redirect. The usual differences are http and https, and a www.",
    );
  }
  if (status === 200) return check("E103", `${address} answers, but not with a JSON object.`);
  if (status >= 500 || status === 429 || status === 408) {
    return check("E101", `${address} is answered with ${status}.`, "The provider is in trouble or overloaded; try again later.");
  }
  if (status === 401 || status === 403 || status === 407) {
    return check(
      "E103",
      `${address} is answered with ${status}, and a discovery document is public.`,
      "Most likely a firewall, a proxy or an access list in between does not let this machine through. Otherwise compare IDP_ISSUER with the " +
        "provider's issuer.",
    );
  }
  return check("E103", `${address} is answered with ${status}.`);
}

function anotherIssuer(ours: string, theirs: unknown): Finding {
  if (typeof theirs !== "string") return check("E104", "The discovery document names no issuer.", "This is the provider's mistake.");
  const shown = shownAddress(theirs);
  const differences = differencesOf(ours, theirs);
  const how = differences.length === 0 ? "" : ` The difference: ${listed(differences)}.`;
  const named = shown === undefined ? "names an issuer that is not a plain http or https address" : `names "${shown}"`;
  return check(
    "E104",
    `IDP_ISSUER (option issuer) is "${ours}", and the discovery document ${named}.${how}`,
    shown === undefined ? undefined : `If that is your provider, set IDP_ISSUER to exactly ${shown}`,
  );
}

/** In what two issuers differ, in words. Pure. */
export function differencesOf(ours: string, theirs: string): string[] {
  const [left, right] = [parseUrl(ours), parseUrl(theirs)];
  if (left === undefined || right === undefined) return [];
  const trimmed = (text: string) => text.replace(/\/$/, "");
  if (ours.endsWith(WELL_KNOWN)) {
    const bare = ours.slice(0, -WELL_KNOWN.length);
    const added = `IDP_ISSUER ends with ${WELL_KNOWN}, which is added by itself`;
    return bare === theirs ? [added] : [added, ...differencesOf(bare, theirs)];
  }
  const differences: string[] = [];
  if (left.protocol !== right.protocol) differences.push(`${left.protocol.slice(0, -1)} here and ${right.protocol.slice(0, -1)} there`);
  if (left.hostname !== right.hostname) differences.push("the host name");
  if (left.port !== right.port && left.protocol === right.protocol) differences.push("the port");
  if (trimmed(left.pathname) !== trimmed(right.pathname)) {
    const isCase = trimmed(left.pathname).toLowerCase() === trimmed(right.pathname).toLowerCase();
    differences.push(isCase ? "the letter case of the path" : "the path");
  }
  if (ours.endsWith("/") !== theirs.endsWith("/")) {
    differences.push(
      ours.endsWith("/") ? "IDP_ISSUER ends with a slash, and the other does not" : "IDP_ISSUER lacks the slash at the other's end",
    );
  }
  // What a parser makes the same is not the same to the letter.
  if (differences.length === 0) differences.push(ours.toLowerCase() === theirs.toLowerCase() ? "the letter case" : "the spelling");
  return differences;
}
