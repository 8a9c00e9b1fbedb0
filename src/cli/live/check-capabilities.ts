import type { Finding } from "../../errors.js";
import type { Settings } from "../../config/read-settings.js";
import { refreshDoubt } from "../../provider/authorization-request.js";
import { signingAlgorithms, stringsOf, type Document } from "../../provider/discovery.js";
import { liveCheck } from "./live-check-table.js";
import type { LiveFacts } from "./live-facts.js";
import { listed } from "./message-parts.js";

const OFFLINE_ACCESS = "offline_access";

// Compares the capabilities in the discovery document with the settings. All functions are pure.

export function flowFindings(document: Document): Finding[] {
  const findings: Finding[] = [];
  const responseTypes = stringsOf(document["response_types_supported"]);
  if (responseTypes?.includes("code") === false) {
    findings.push(liveCheck("E106", "The response types in the discovery document don't include `code`."));
  }
  const grantTypes = stringsOf(document["grant_types_supported"]);
  if (grantTypes?.includes("authorization_code") === false) {
    findings.push(liveCheck("E106", "The grant types in the discovery document don't include `authorization_code`."));
  }
  if (signingAlgorithms(document).length === 0) findings.push(liveCheck("E107"));
  return findings;
}

/** Finds the forms of authorization request that the provider requires and idpauth does not support. */
export function requirementFindings(document: Document): Finding[] {
  const findings: Finding[] = [];
  if (document["require_pushed_authorization_requests"] === true) findings.push(liveCheck("E113"));
  if (document["require_signed_request_object"] === true) findings.push(liveCheck("E114"));
  return findings;
}

/** Whether the provider encrypts ID tokens for some clients. The discovery document does not name these clients. */
export function mayEncryptIdTokens(document: Document): boolean {
  return (stringsOf(document["id_token_encryption_alg_values_supported"]) ?? []).length > 0;
}

export function scopeFindings(document: Document, settings: Settings): Finding[] {
  const supported = stringsOf(document["scopes_supported"]);
  if (supported === undefined) return [];
  // checkRefresh covers this scope.
  const unknown = settings.scope.filter((scope) => !supported.includes(scope) && scope !== OFFLINE_ACCESS);
  if (unknown.length === 0) return [];
  return [
    liveCheck(
      "W102",
      `SCOPE (option scope) contains ${listed(unknown)}, but the discovery document doesn't advertise ${unknown.length === 1 ? "it" : "them"}.`,
    ),
  ];
}

/** Checks whether the discovery document announces refresh tokens. Some providers give one without announcing it. */
export function checkRefresh(
  document: Document,
  settings: Settings,
): { readonly fact: NonNullable<LiveFacts["refreshToken"]>; readonly findings: readonly Finding[] } {
  if (!settings.sessionAutoRefresh) return { fact: "not wanted", findings: [] };
  const endpoint = document["authorization_endpoint"];
  const doubt = refreshDoubt(settings, {
    authorization_endpoint: typeof endpoint === "string" ? endpoint : undefined,
    scopes_supported: stringsOf(document["scopes_supported"]),
    grant_types_supported: stringsOf(document["grant_types_supported"]),
  });
  const uncertain = (why: string, remedy?: string) => {
    const message = `IDP_SESSION_AUTO_REFRESH is on, but ${why}. You might not get a refresh token.`;
    return { fact: "uncertain", findings: [liveCheck("W103", message, remedy)] } as const;
  };
  switch (doubt) {
    case undefined:
      return { fact: "expected", findings: [] };
    case "grant":
      return uncertain("the grant types in the discovery document don't include `refresh_token`");
    case "scope":
      // The startup checks report this as W004.
      if (!settings.scope.includes(OFFLINE_ACCESS) && !settings.scopeIsDefault) return { fact: "uncertain", findings: [] };
      return uncertain("the provider doesn't advertise the scope `offline_access`");
    case "prompt": {
      const isParameter = settings.authorizationParams["prompt"] !== undefined;
      const [name, option] = isParameter ? ["IDP_AUTHORIZATION_PARAMS", "authorizationParams"] : ["IDP_LOGIN_PROMPT", "loginPrompt"];
      const place = isParameter ? "the `prompt` of IDP_AUTHORIZATION_PARAMS" : "IDP_LOGIN_PROMPT";
      return uncertain(
        `${name} (option ${option}) doesn't contain \`consent\`, which a provider may require (OpenID Connect Core section 11)`,
        `Add \`consent\` to ${place}, or remove ${place}. If your provider sends a refresh token anyway, ignore this warning.`,
      );
    }
  }
}

export function checkPkce(document: Document): { readonly fact: boolean; readonly findings: readonly Finding[] } {
  const methods = stringsOf(document["code_challenge_methods_supported"]);
  if (methods?.includes("S256") === true) return { fact: true, findings: [] };
  if (methods === undefined || methods.length === 0) return { fact: false, findings: [liveCheck("W104")] };
  return {
    fact: false,
    findings: [liveCheck("W104", "The PKCE methods in the discovery document don't include S256 (RFC 7636).")],
  };
}

export function announcesIss(document: Document): boolean {
  return document["authorization_response_iss_parameter_supported"] === true;
}

const KEY_METHOD = "Turn on `private_key_jwt` for the client at the provider, or set IDP_CLIENT_SECRET in place of IDP_PRIVATE_KEY.";

/** @param isAccepted the provider has accepted the client with this method, even if it does not announce the method */
export function authMethodFindings(document: Document, { tokenEndpointAuthMethod, privateKey }: Settings, isAccepted: boolean): Finding[] {
  const announced = stringsOf(document["token_endpoint_auth_methods_supported"]);
  // Providers announce `client_secret_basic_raw` as client_secret_basic.
  const method = privateKey === null ? tokenEndpointAuthMethod.replace(/_raw$/, "") : "private_key_jwt";
  // OpenID Connect Discovery section 3: the default is client_secret_basic.
  if (isAccepted || (announced ?? ["client_secret_basic"]).includes(method)) return [];
  const which = announced === undefined ? "doesn't advertise any method, which means `client_secret_basic`" : "advertises other methods";
  if (privateKey !== null)
    return [
      liveCheck("W105", `IDP_PRIVATE_KEY (option privateKey) is set, but the provider ${which}, not \`private_key_jwt\`.`, KEY_METHOD),
    ];
  return [
    liveCheck(
      "W105",
      `IDP_TOKEN_ENDPOINT_AUTH_METHOD (option tokenEndpointAuthMethod) is \`${tokenEndpointAuthMethod}\`, but the provider ${which}.`,
    ),
  ];
}
