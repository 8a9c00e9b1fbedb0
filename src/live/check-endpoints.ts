import type { Endpoints } from "../config/endpoints-kind.js";
import type { UnnamedFinding } from "../config/findings.js";
import type { Settings } from "../config/read-settings.js";
import { withEndpointsInUse, type Document } from "../provider/endpoints-in-use.js";
import { endpointProblem, usableEndpoint } from "../provider/provider-metadata.js";
import { liveCheck } from "./live-check-table.js";
import type { EndpointFacts } from "./live-facts.js";
import { shownAddress } from "./message-parts.js";

/** The endpoints that a sign-in needs. */
const REQUIRED = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;

/** Checks the endpoints in the discovery document by the application's own rules. Pure. */
export function checkEndpoints(
  announced: Document,
  settings: Settings,
): { readonly facts: EndpointFacts; readonly findings: readonly UnnamedFinding[] } {
  const document = withEndpointsInUse(announced, settings);
  const usable = (name: keyof Endpoints) => usableEndpoint(name, document, settings) ?? null;
  const facts = {
    authorization: usable("authorization_endpoint"),
    token: usable("token_endpoint"),
    jwks: usable("jwks_uri"),
    userinfo: usable("userinfo_endpoint"),
    revocation: usable("revocation_endpoint"),
    endSession: usable("end_session_endpoint"),
  };
  return { facts, findings: endpointFindings(document, settings) };
}

function endpointFindings(document: Document, settings: Settings): UnnamedFinding[] {
  const findings: UnnamedFinding[] = [];
  for (const name of REQUIRED) {
    const problem = endpointProblem(name, document[name], settings);
    if (problem !== undefined)
      findings.push(liveCheck("E105", `The ${name} in the discovery document ${problem}.`));
  }
  const userinfo = endpointProblem("userinfo_endpoint", document["userinfo_endpoint"], settings);
  if (userinfo !== undefined && settings.userinfo === "always") {
    findings.push(
      liveCheck(
        "E105",
        ({ label }) =>
          `The userinfo_endpoint in the discovery document ${userinfo}, but ${label("userinfo")} is always, so sign-ins can't start.`,
        ({ env }) =>
          `Set ${env("userinfo")} to when-needed, or name the endpoint in ${env("providerMetadata")}.`,
      ),
    );
  } else if (userinfo !== undefined) {
    findings.push(
      liveCheck(
        "W101",
        `The userinfo_endpoint in the discovery document ${userinfo}. Name, email and picture come only from the ID token.`,
        ({ env }) =>
          `If the provider has this endpoint without advertising it, add it to ${env("providerMetadata")}. If you don't need it, ignore this warning.`,
      ),
    );
  }
  const revocation = endpointProblem(
    "revocation_endpoint",
    document["revocation_endpoint"],
    settings,
  );
  if (revocation !== undefined && settings.tokenRevokeOnLogout) {
    findings.push(
      liveCheck(
        "W101",
        ({ label }) =>
          `The revocation_endpoint in the discovery document ${revocation}, but ${label("tokenRevokeOnLogout")} is on. A logout can't revoke tokens, so they stay valid until they expire.`,
        ({ env }) =>
          `If the provider has this endpoint without advertising it, add it to ${env("providerMetadata")}. If you accept that tokens aren't revoked, set ${env("tokenRevokeOnLogout")} to false.`,
      ),
    );
  }
  return findings;
}

/** Returns the endpoints as a report shows them. */
export function shownEndpoints(endpoints: EndpointFacts): EndpointFacts {
  const { authorization, token, jwks, userinfo, revocation, endSession } = endpoints;
  const shown = (address: string | null) => shownAddress(address) ?? null;
  return {
    authorization: shown(authorization),
    token: shown(token),
    jwks: shown(jwks),
    userinfo: shown(userinfo),
    revocation: shown(revocation),
    endSession: shown(endSession),
  };
}
