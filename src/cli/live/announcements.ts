import { check } from "../../core/checks.js";
import type { Finding } from "../../core/errors.js";
import { isGoogleIssuer } from "../../core/idp-url.js";
import type { Settings } from "../../core/settings.js";
import { loginScopes, offlineParameters } from "../../provider/google.js";
import { SIGNING_ALGORITHMS } from "../../provider/id-token.js";
import type { Document } from "./discovery.js";
import type { LiveFacts } from "./facts.js";
import { listed } from "./shown.js";

const OFFLINE_ACCESS = "offline_access";

/** What the discovery document announces, against what the settings want. All pure. */

export function flowFindings(document: Document): Finding[] {
  const findings: Finding[] = [];
  const responseTypes = texts(document["response_types_supported"]);
  if (responseTypes?.includes("code") === false) {
    findings.push(check("E106", "The discovery document announces response types, and `code` is not among them."));
  }
  const grantTypes = texts(document["grant_types_supported"]);
  if (grantTypes?.includes("authorization_code") === false) {
    findings.push(check("E106", "The discovery document announces grant types, and `authorization_code` is not among them."));
  }
  if (algorithmsOf(document).length === 0) findings.push(check("E107"));
  return findings;
}

/** The algorithms that an ID token of this provider may have; RS256 when none is announced. */
export function algorithmsOf(document: Document): readonly string[] {
  const announced = texts(document["id_token_signing_alg_values_supported"]);
  return announced === undefined ? ["RS256"] : SIGNING_ALGORITHMS.filter((algorithm) => announced.includes(algorithm));
}

export function scopeFindings(document: Document, settings: Settings): Finding[] {
  const supported = texts(document["scopes_supported"]);
  if (supported === undefined) return [];
  // A refresh token is a question of its own.
  const unknown = settings.scope.filter((scope) => !supported.includes(scope) && scope !== OFFLINE_ACCESS);
  if (unknown.length === 0) return [];
  return [check("W102", `SCOPE (option scope) has ${listed(unknown)}, which the discovery document does not announce.`)];
}

/** Whether a sign-in will bring a refresh token, as far as the document tells. */
export function judgeRefresh(
  document: Document,
  settings: Settings,
): { readonly fact: NonNullable<LiveFacts["refreshToken"]>; readonly findings: readonly Finding[] } {
  if (!settings.sessionAutoRefresh) return { fact: "not wanted", findings: [] };
  const supported = texts(document["scopes_supported"]);
  const scopes = loginScopes(settings, supported);
  const google = isGoogleIssuer(settings.issuer);
  const unlikely = (why: string, remedy?: string) =>
    ({ fact: "unlikely", findings: [check("W103", `IDP_SESSION_AUTO_REFRESH is on, but ${why}.`, remedy)] }) as const;
  if (texts(document["grant_types_supported"])?.includes("refresh_token") === false) {
    return unlikely("the provider announces grant types, and `refresh_token` is not among them: it will hardly give a refresh token");
  }
  if (!google) {
    // Said by W004 already, which needs no provider to be seen.
    if (!scopes.includes(OFFLINE_ACCESS) && !settings.scopeIsDefault) return { fact: "unlikely", findings: [] };
    if (!scopes.includes(OFFLINE_ACCESS) || supported?.includes(OFFLINE_ACCESS) === false) {
      return unlikely("the provider does not announce the scope `offline_access`: it will hardly give a refresh token");
    }
  }
  const prompt = offlineParameters(settings, scopes)["prompt"]?.split(" ") ?? [];
  if (!prompt.includes("consent")) {
    return unlikely(
      "IDP_LOGIN_PROMPT (option loginPrompt) lacks `consent`, without which a provider may give none (OpenID Connect Core section 11)",
      "Add `consent` to IDP_LOGIN_PROMPT, or leave it out. Ignore this where the provider gives one anyway.",
    );
  }
  return { fact: "expected", findings: [] };
}

export function judgePkce(document: Document): { readonly fact: boolean; readonly findings: readonly Finding[] } {
  const methods = texts(document["code_challenge_methods_supported"]);
  if (methods?.includes("S256") === true) return { fact: true, findings: [] };
  if (methods === undefined || methods.length === 0) return { fact: false, findings: [check("W104")] };
  return { fact: false, findings: [check("W104", "The discovery document announces PKCE (RFC 7636), and S256 is not among its methods.")] };
}

export function announcesIss(document: Document): boolean {
  return document["authorization_response_iss_parameter_supported"] === true;
}

/** @param isAccepted the provider has accepted the client with this very method, whatever it announces */
export function authMethodFindings(document: Document, { tokenEndpointAuthMethod }: Settings, isAccepted: boolean): Finding[] {
  const announced = texts(document["token_endpoint_auth_methods_supported"]);
  // The default of OpenID Connect Discovery section 3.
  if (isAccepted || (announced ?? ["client_secret_basic"]).includes(tokenEndpointAuthMethod)) return [];
  const which = announced === undefined ? "announces none, which stands for `client_secret_basic`" : "announces others";
  return [
    check(
      "W105",
      `IDP_TOKEN_ENDPOINT_AUTH_METHOD (option tokenEndpointAuthMethod) is \`${tokenEndpointAuthMethod}\`; the provider ${which}.`,
    ),
  ];
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}
