import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import { parseUrl } from "../../http/redirects.js";
import type { Settings } from "../../config/read-settings.js";
import { allowsHttpTo } from "../../provider/discovery.js";
import type { Document } from "./check-discovery.js";
import type { EndpointFacts } from "./live-facts.js";

/** What a sign-in cannot do without. */
const REQUIRED = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;

/** The endpoints that the discovery document names, by the rules of the application itself. Pure. */
export function checkEndpoints(
  document: Document,
  settings: Settings,
): { readonly facts: EndpointFacts; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  for (const name of REQUIRED) {
    const problem = problemOf(document[name], settings);
    if (problem !== undefined) findings.push(check("E105", `The ${name} of the discovery document ${problem}.`));
  }
  const userinfo = problemOf(document["userinfo_endpoint"], settings);
  if (userinfo !== undefined) {
    findings.push(
      check("W101", `The userinfo_endpoint of the discovery document ${userinfo}: name, email and picture come from the ID token alone.`),
    );
  }
  const revocation = problemOf(document["revocation_endpoint"], settings);
  if (revocation !== undefined && settings.tokenRevokeOnLogout) {
    findings.push(
      check(
        "W101",
        `The revocation_endpoint of the discovery document ${revocation}: IDP_TOKEN_REVOKE_ON_LOGOUT is on, but a logout cannot revoke tokens; they live until they expire.`,
        "Where that is accepted, set IDP_TOKEN_REVOKE_ON_LOGOUT to false.",
      ),
    );
  }
  const usable = (name: string) => (problemOf(document[name], settings) === undefined ? (document[name] as string) : null);
  const facts = {
    authorization: usable("authorization_endpoint"),
    token: usable("token_endpoint"),
    jwks: usable("jwks_uri"),
    userinfo: usable("userinfo_endpoint"),
    revocation: usable("revocation_endpoint"),
  };
  return { facts, findings };
}

function problemOf(value: unknown, settings: Settings): string | undefined {
  if (value === undefined) return "is missing";
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  if (url === undefined) return "is no address";
  if (url.username !== "" || url.password !== "" || url.hash !== "") return "has user info or a fragment, which an endpoint must not have";
  if (url.protocol === "https:" || (url.protocol === "http:" && allowsHttpTo(url, settings))) return undefined;
  return url.protocol === "http:" ? "is an http address: secrets and tokens would travel in the clear" : "is no https address";
}
