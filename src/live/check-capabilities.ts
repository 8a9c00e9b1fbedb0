import { askedAtLogin } from "../config/api-scopes.js";
import type { UnnamedFinding } from "../config/findings.js";
import type { Settings } from "../config/read-settings.js";
import { type SettingNames, type SettingText, textWith } from "../config/setting-names.js";
import type { TokenTarget } from "../ports/provider.js";
import { furtherParameters, loginScopes, refreshDoubt } from "../provider/authorization-request.js";
import { authenticationMethod } from "../provider/client-authentication.js";
import { withEndpointsInUse, type Document } from "../provider/endpoints-in-use.js";
import { endpointProblem, signingAlgorithms, stringsOf } from "../provider/provider-metadata.js";
import { liveCheck } from "./live-check-table.js";
import type { LiveFacts } from "./live-facts.js";
import { listed } from "./message-parts.js";

const OFFLINE_ACCESS = "offline_access";

// Compares the capabilities in the discovery document with the settings. All functions are pure.

export function flowFindings(document: Document): UnnamedFinding[] {
  const findings: UnnamedFinding[] = [];
  const responseTypes = stringsOf(document["response_types_supported"]);
  if (responseTypes?.includes("code") === false) {
    findings.push(
      liveCheck("E106", "The response types in the discovery document don't include `code`."),
    );
  }
  const grantTypes = stringsOf(document["grant_types_supported"]);
  if (grantTypes?.includes("authorization_code") === false) {
    findings.push(
      liveCheck(
        "E106",
        "The grant types in the discovery document don't include `authorization_code`.",
      ),
    );
  }
  // What only the profile excludes is E118.
  if (signingAlgorithms(document, { fapi: null }).length === 0) findings.push(liveCheck("E107"));
  return findings;
}

const PUSH_REQUIRED: SettingText = ({ env }) =>
  `If the provider has an endpoint that it doesn't advertise, add it to ${env("providerMetadata")}. Otherwise, have the provider advertise one.`;

/**
 * Compares whether the provider requires pushed requests with what a login does.
 */
export function checkRequests(
  document: Document,
  settings: Settings,
): {
  readonly fact: NonNullable<LiveFacts["requests"]>;
  readonly findings: readonly UnnamedFinding[];
} {
  const isRequired = document["require_pushed_authorization_requests"] === true;
  const { pushedRequests } = settings;
  if (pushedRequests !== "always" && !isRequired) return { fact: "plain", findings: [] };
  const name = "pushed_authorization_request_endpoint";
  const problem = endpointProblem(name, withEndpointsInUse(document, settings)[name], settings);
  if (problem === undefined) return { fact: "pushed", findings: [] };
  const why = ({ label }: SettingNames) =>
    isRequired
      ? "The provider requires pushed authorization requests"
      : `${label("pushedRequests")} is \`always\``;
  return {
    fact: "pushed",
    findings: [
      liveCheck(
        "E115",
        (names) => `${why(names)}, but the ${name} in the discovery document ${problem}.`,
        isRequired ? PUSH_REQUIRED : undefined,
      ),
    ],
  };
}

/** What a login requests. */
export interface CheckedLogin {
  readonly settings: Settings;
  /** The APIs for whose own tokens the provider is asked. */
  readonly targets: readonly TokenTarget[];
}

/** Returns the scopes, resources and prompt of a login that has no parameters of its own. */
export function loginFact(
  document: Document,
  { settings, targets }: CheckedLogin,
): NonNullable<LiveFacts["login"]> {
  const asked = askedAtLogin(targets, settings.issuer);
  const scopes = [...new Set([...loginScopes(settings, announcedIn(document)), ...asked.scopes])];
  const { prompt = [], resource = [] } = furtherParameters(settings, scopes);
  const resources = new Set([...[resource].flat(), ...asked.resources]);
  const fact = { scope: scopes.join(" "), prompt: [prompt].flat().join(" ") };
  return resources.size === 0 ? fact : { ...fact, resource: [...resources].join(" ") };
}

function announcedIn(document: Document): Parameters<typeof refreshDoubt>[1] {
  const endpoint = document["authorization_endpoint"];
  return {
    authorization_endpoint: typeof endpoint === "string" ? endpoint : undefined,
    scopes_supported: stringsOf(document["scopes_supported"]),
    grant_types_supported: stringsOf(document["grant_types_supported"]),
  };
}

/**
 * Whether the provider encrypts ID tokens for some clients. The discovery document does not name
 * these clients.
 */
export function mayEncryptIdTokens(document: Document): boolean {
  return (stringsOf(document["id_token_encryption_alg_values_supported"]) ?? []).length > 0;
}

/** Which scopes of a login the discovery document lacks: those of SCOPE, and of each API. */
export function unlistedScopeFindings(
  document: Document,
  { settings, targets }: CheckedLogin,
): UnnamedFinding[] {
  const supported = stringsOf(document["scopes_supported"]);
  if (supported === undefined) return [];
  // checkRefresh covers this scope.
  const unknownOf = (scopes: readonly string[]) =>
    scopes.filter((scope) => !supported.includes(scope) && scope !== OFFLINE_ACCESS);
  const own = unknownOf(settings.scope);
  const ofApis = targets.flatMap((target) => {
    const { scopes } = askedAtLogin([target], settings.issuer, target.api);
    const unknown = unknownOf(scopes.filter((scope) => !own.includes(scope)));
    return unknown.length === 0 ? [] : [{ place: `\`apis.${target.api}\``, unknown }];
  });
  const places = own.length === 0 ? ofApis : [{ place: undefined, unknown: own }, ...ofApis];
  return places.map(({ place, unknown }) =>
    liveCheck(
      "W102",
      ({ label }) =>
        `${place ?? label("scope")} ${place === undefined ? "contains" : "requests"} ${listed(unknown)}, but the discovery document doesn't advertise ${unknown.length === 1 ? "it" : "them"}.`,
    ),
  );
}

/** Whether a login may ask for `offline_access`: the document lists it, or lists no scopes. */
export function advertisesOffline(document: Document): boolean {
  return stringsOf(document["scopes_supported"])?.includes(OFFLINE_ACCESS) !== false;
}

/**
 * Checks whether the discovery document announces refresh tokens. Some providers give one without
 * announcing it.
 */
export function checkRefresh(
  document: Document,
  settings: Settings,
): {
  readonly fact: NonNullable<LiveFacts["refreshToken"]>;
  readonly findings: readonly UnnamedFinding[];
} {
  if (!settings.sessionAutoRefresh) return { fact: "not wanted", findings: [] };
  const doubt = refreshDoubt(settings, announcedIn(document));
  const uncertain = (why: SettingText, remedy?: SettingText) => {
    const message: SettingText = (names) =>
      `${names.label("sessionAutoRefresh")} is on, but ${textWith(names, why)}. You might not get a refresh token.`;
    return { fact: "uncertain", findings: [liveCheck("W103", message, remedy)] } as const;
  };
  switch (doubt) {
    case undefined:
      return { fact: "expected", findings: [] };
    case "grant":
      return uncertain("the grant types in the discovery document don't include `refresh_token`");
    case "scope":
      // The startup checks report this as W004, whose remedy is that scope.
      if (
        !settings.scope.includes(OFFLINE_ACCESS) &&
        !settings.scopeIsDefault &&
        advertisesOffline(document)
      )
        return { fact: "uncertain", findings: [] };
      return uncertain("the provider doesn't advertise the scope `offline_access`");
    case "prompt": {
      const isParameter = settings.authorizationParams["prompt"] !== undefined;
      const setting = isParameter ? "authorizationParams" : "loginPrompt";
      const place = ({ env }: SettingNames) =>
        `${isParameter ? "the `prompt` of " : ""}${env(setting)}`;
      return uncertain(
        ({ label }) =>
          `${label(setting)} doesn't contain \`consent\`, which a provider may require (OpenID Connect Core section 11)`,
        (names) =>
          `Add \`consent\` to ${place(names)}, or remove ${place(names)}. If your provider sends a refresh token anyway, ignore this warning.`,
      );
    }
  }
}

export function checkPkce(document: Document): {
  readonly fact: boolean;
  readonly findings: readonly UnnamedFinding[];
} {
  const methods = stringsOf(document["code_challenge_methods_supported"]);
  if (methods?.includes("S256") === true) return { fact: true, findings: [] };
  if (methods === undefined || methods.length === 0)
    return { fact: false, findings: [liveCheck("W104")] };
  return {
    fact: false,
    findings: [
      liveCheck(
        "W104",
        "The PKCE methods in the discovery document don't include S256 (RFC 7636).",
      ),
    ],
  };
}

export function announcesIss(document: Document): boolean {
  return document["authorization_response_iss_parameter_supported"] === true;
}

const KEY_METHOD: SettingText = ({ env }) =>
  `Turn on \`private_key_jwt\` for the client at the provider, or set ${env("clientSecret")} in place of ${env("privateKey")}.`;

/**
 * @param isAccepted the provider has accepted the client with this method, even if it does not
 *   announce the method
 */
export function authMethodFindings(
  document: Document,
  settings: Settings,
  isAccepted: boolean,
): UnnamedFinding[] {
  const announced = stringsOf(document["token_endpoint_auth_methods_supported"]);
  const method = authenticationMethod(settings);
  // OpenID Connect Discovery section 3: the default is client_secret_basic.
  if (isAccepted || (announced ?? ["client_secret_basic"]).includes(method)) return [];
  const which =
    announced === undefined
      ? "doesn't advertise any method, which means `client_secret_basic`"
      : "advertises other methods";
  if (method === "private_key_jwt")
    return [
      liveCheck(
        "W105",
        ({ label }) =>
          `${label("privateKey")} is set, but the provider ${which}, not \`private_key_jwt\`.`,
        KEY_METHOD,
      ),
    ];
  return [
    liveCheck(
      "W105",
      ({ label }) =>
        `${label("tokenEndpointAuthMethod")} is \`${method}\`, but the provider ${which}.`,
    ),
  ];
}
