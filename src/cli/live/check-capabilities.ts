import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import { isGoogleIssuer } from "../../config/document-hosts.js";
import type { Settings } from "../../config/read-settings.js";
import { loginScopes, offlineParameters } from "../../provider/authorization-parameters.js";
import { SIGNING_ALGORITHMS } from "../../provider/id-token.js";
import type { Document } from "./check-discovery.js";
import type { LiveFacts } from "./live-facts.js";
import { listed } from "./message-parts.js";

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

/** What the provider requires of an authorization request and idpauth does not do. */
export function requirementFindings(document: Document): Finding[] {
  const findings: Finding[] = [];
  if (document["require_pushed_authorization_requests"] === true) findings.push(check("E113"));
  if (document["require_signed_request_object"] === true) findings.push(check("E114"));
  return findings;
}

/** Whether the provider encrypts ID tokens for some of its clients. The discovery document does not tell for which. */
export function mayEncryptIdTokens(document: Document): boolean {
  return (texts(document["id_token_encryption_alg_values_supported"]) ?? []).length > 0;
}

export function scopeFindings(document: Document, settings: Settings): Finding[] {
  const supported = texts(document["scopes_supported"]);
  if (supported === undefined) return [];
  // A refresh token is a question of its own.
  const unknown = settings.scope.filter((scope) => !supported.includes(scope) && scope !== OFFLINE_ACCESS);
  if (unknown.length === 0) return [];
  return [check("W102", `SCOPE (option scope) has ${listed(unknown)}, which the discovery document does not announce.`)];
}

/** Whether the discovery document promises a refresh token. Some providers give one without announcing it. */
export function checkRefresh(
  document: Document,
  settings: Settings,
): { readonly fact: NonNullable<LiveFacts["refreshToken"]>; readonly findings: readonly Finding[] } {
  if (!settings.sessionAutoRefresh) return { fact: "not wanted", findings: [] };
  const supported = texts(document["scopes_supported"]);
  const scopes = loginScopes(settings, supported);
  const google = isGoogleIssuer(settings.issuer);
  const uncertain = (why: string, remedy?: string) => {
    const message = `IDP_SESSION_AUTO_REFRESH is on, but ${why}. You might not get a refresh token.`;
    return { fact: "uncertain", findings: [check("W103", message, remedy)] } as const;
  };
  if (texts(document["grant_types_supported"])?.includes("refresh_token") === false) {
    return uncertain("the provider announces grant types, and `refresh_token` is not among them");
  }
  if (!google) {
    // The startup checks report this as W004.
    if (!scopes.includes(OFFLINE_ACCESS) && !settings.scopeIsDefault) return { fact: "uncertain", findings: [] };
    if (!scopes.includes(OFFLINE_ACCESS) || supported?.includes(OFFLINE_ACCESS) === false) {
      return uncertain("the provider does not announce the scope `offline_access`");
    }
  }
  const prompt = offlineParameters(settings, scopes)["prompt"]?.split(" ") ?? [];
  if (!prompt.includes("consent")) {
    return uncertain(
      "IDP_LOGIN_PROMPT (option loginPrompt) lacks `consent`, and a provider may require it (OpenID Connect Core section 11)",
      "Add `consent` to IDP_LOGIN_PROMPT, or remove IDP_LOGIN_PROMPT. If your provider gives a refresh token anyway, ignore this warning.",
    );
  }
  return { fact: "expected", findings: [] };
}

export function checkPkce(document: Document): { readonly fact: boolean; readonly findings: readonly Finding[] } {
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
  // `client_secret_basic_raw` is idpauth's own name for a form of client_secret_basic.
  const method = tokenEndpointAuthMethod.replace(/_raw$/, "");
  // The default of OpenID Connect Discovery section 3.
  if (isAccepted || (announced ?? ["client_secret_basic"]).includes(method)) return [];
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
