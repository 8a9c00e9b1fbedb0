/**
 * What is known of single vendors, and nothing else in src/ knows: a new provider is one row here,
 * and one page in docs/providers/. A row says only how its provider differs from `STANDARD`, which
 * is what every other provider gets.
 */
import { parseUrl } from "../http/redirects.js";

/** By what a provider is recognized. */
interface Recognized {
  readonly issuer: URL;
  /** Of the discovery document; undefined: it isn't known yet. */
  readonly authorizationEndpoint: URL | undefined;
}

/** A logout address that isn't the `end_session_endpoint`. It signs out without a question. */
export interface OwnLogoutAddress {
  readonly path: string;
  /** The URL on whose origin it is. */
  readonly at: "issuer" | "authorization_endpoint";
  /** The parameter for the address to which the browser comes back. */
  readonly returnParameter: string;
}

export interface ProviderProfile {
  /** Every rule asks this one function, so that no two rules disagree about a hostname. */
  readonly matches: (provider: Recognized) => boolean;
  /** Whether all of its customers have the same hostnames, which then name none of them. */
  readonly sharesHosts: boolean;
  /** How client IDs end. */
  readonly clientIdEnd: string;
  /** The hostnames of documents; undefined: the issuer's. */
  readonly documentHosts: readonly string[] | undefined;
  /** How a login asks for a refresh token; `nothing`: each login brings one. */
  readonly offline: "offline_access" | "access_type" | "nothing";
  /** The scope that requests the user's name. */
  readonly nameScope: "profile" | "name";
  /** Whether the response to a request for the name or the e-mail address must be a form. */
  readonly postsIdentity: boolean;
  /** The error code of a user who cancels the sign-in. */
  readonly cancelled: string;
  /** When a refresh token comes only with a consent in this login, and the prompt that asks for it. */
  readonly consent:
    | { readonly for: "every-login" | "offline_access"; readonly prompt: string }
    | { readonly for: "nothing" };
  /** Whether `prompt=select_account` works: always, or if the discovery document lists it. */
  readonly chooseAccount: "always" | "if-advertised";
  readonly stepUp: {
    /** Whether `max_age` has the user authenticate again. */
    readonly maxAge: boolean;
    /** The member of the parameter `claims` that requests an authentication context, too. */
    readonly contextClaim: "acrs" | undefined;
  };
  /** Of client assertions (`private_key_jwt`). */
  readonly assertion: {
    readonly audience: "issuer" | "token_endpoint" | "endpoint";
    /** If the discovery document lists none. */
    readonly algorithm: "RS256" | "PS256";
  };
  /** Of tokens for APIs. */
  readonly apiTokens: {
    /** `scope`: a request is for one resource at a time, and the scope names it. */
    readonly namedBy: "parameters" | "scope";
    /** Whether a token that isn't a JWT can be for the API that was asked for. */
    readonly mayBeOpaque: boolean;
  };
  /** Undefined: the `end_session_endpoint`. */
  readonly logout: OwnLogoutAddress | undefined;
  /** What a request to the `end_session_endpoint` says about its user. */
  readonly logoutHints: {
    /** The most characters of the address. A hint that makes it longer is left out. */
    readonly maxUrlLength: number;
    /** The claim whose value is the `logout_hint`. */
    readonly claim: string | undefined;
  };
  /** Whether some of its versions leave `exp` out of logout tokens. */
  readonly logoutTokensMayLackExp: boolean;
  /** Whether front-channel logouts name the issuer. */
  readonly frontchannelIss: boolean;
  /** The endpoints that several issuers of this provider have in common. */
  readonly sharedEndpoints: readonly ("userinfo_endpoint" | "jwks_uri")[];
}

/** What the standards say, for every provider without a row. */
const STANDARD: ProviderProfile = {
  matches: () => true,
  sharesHosts: false,
  clientIdEnd: "",
  documentHosts: undefined,
  // OpenID Connect Core section 11: without prompt=consent a provider may ignore the scope.
  offline: "offline_access",
  nameScope: "profile",
  postsIdentity: false,
  // RFC 6749 section 4.1.2.1.
  cancelled: "access_denied",
  consent: { for: "offline_access", prompt: "consent" },
  chooseAccount: "if-advertised",
  stepUp: { maxAge: true, contextClaim: undefined },
  assertion: { audience: "issuer", algorithm: "RS256" },
  apiTokens: { namedBy: "parameters", mayBeOpaque: true },
  logout: undefined,
  // Servers refuse longer addresses, and the user would see their error page.
  logoutHints: { maxUrlLength: 4096, claim: undefined },
  // OpenID Connect Back-Channel Logout 1.0 demands it.
  logoutTokensMayLackExp: false,
  frontchannelIss: true,
  sharedEndpoints: [],
};

/** A row: it has to say by what its provider is recognized. */
type Row = Pick<ProviderProfile, "matches"> & Partial<ProviderProfile>;

const ROWS = {
  google: {
    matches: hostIs("accounts.google.com"),
    sharesHosts: true,
    clientIdEnd: ".apps.googleusercontent.com",
    documentHosts: ["docs.google.com"],
    // https://developers.google.com/identity/openid-connect/openid-connect#access-type-param
    offline: "access_type",
    consent: { for: "every-login", prompt: "select_account consent" },
    chooseAccount: "always",
    // Google documents no `max_age`.
    stepUp: { maxAge: false, contextClaim: undefined },
  },
  entra: {
    // With the national clouds, and the issuer of version 1.0.
    matches: hostIs(
      "login.microsoftonline.com",
      "login.microsoftonline.us",
      "login.partner.microsoftonline.cn",
      "sts.windows.net",
    ),
    sharesHosts: true,
    // https://learn.microsoft.com/en-us/entra/identity-platform/scopes-oidc
    consent: { for: "nothing" },
    chooseAccount: "always",
    // Authentication contexts, which ID tokens report in the claim `acrs`.
    stepUp: { maxAge: true, contextClaim: "acrs" },
    // The discovery document lists no algorithms. Microsoft documents PS256.
    assertion: { audience: "token_endpoint", algorithm: "PS256" },
    apiTokens: { namedBy: "scope", mayBeOpaque: true },
    // Its logout refuses addresses of somewhat more than 2,000 characters, which an ID token with
    // 30 groups reaches. The hint is short:
    // https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc#send-a-sign-out-request
    logoutHints: { maxUrlLength: 2000, claim: "login_hint" },
    frontchannelIss: false,
    // All tenants have the same userinfo endpoint, and those of version 1.0 the same keys.
    sharedEndpoints: ["userinfo_endpoint", "jwks_uri"],
  },
  apple: {
    matches: hostIs("appleid.apple.com"),
    sharesHosts: true,
    documentHosts: ["developer.apple.com"],
    // https://developer.apple.com/documentation/signinwithapplerestapi/request-an-authorization-to-the-sign-in-with-apple-server
    offline: "nothing",
    nameScope: "name",
    postsIdentity: true,
    cancelled: "user_cancelled_authorize",
    consent: { for: "nothing" },
    // Apple documents neither `max_age` nor `prompt`.
    stepUp: { maxAge: false, contextClaim: undefined },
  },
  auth0: {
    matches: hostEndsWith(".auth0.com"),
    // https://auth0.com/docs/secure/tokens/refresh-tokens/get-refresh-tokens
    consent: { for: "nothing" },
    chooseAccount: "always",
    // For a forbidden audience, Auth0 sends a token for the default one, which is opaque.
    apiTokens: { namedBy: "parameters", mayBeOpaque: false },
    // https://auth0.com/docs/api/authentication/logout/auth-0-logout
    logout: { path: "/v2/logout", at: "issuer", returnParameter: "returnTo" },
  },
  okta: {
    matches: hostEndsWith(".okta.com", ".oktapreview.com", ".okta-emea.com"),
    // https://developer.okta.com/docs/guides/refresh-tokens/main/
    consent: { for: "nothing" },
    assertion: { audience: "endpoint", algorithm: "RS256" },
  },
  cognito: {
    matches: ({ issuer }) =>
      /^cognito-idp\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/.test(issuer.hostname),
    // https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
    logout: { path: "/logout", at: "authorization_endpoint", returnParameter: "logout_uri" },
  },
  keycloak: {
    // It runs on every operator's own hostname. Known only from the discovery document.
    matches: ({ authorizationEndpoint }) =>
      /\/realms\/[^/]+\/protocol\/openid-connect\/auth$/.test(
        authorizationEndpoint?.pathname ?? "",
      ),
    // The scope would create an offline session, which outlives the user's session:
    // https://www.keycloak.org/docs/latest/server_admin/#_offline-access
    offline: "nothing",
  },
  hydra: {
    // It runs on every operator's own hostname, too.
    matches: ({ authorizationEndpoint }) => authorizationEndpoint?.pathname === "/oauth2/auth",
    assertion: { audience: "token_endpoint", algorithm: "RS256" },
    // https://github.com/ory/hydra/issues/4035
    logoutTokensMayLackExp: true,
  },
} as const satisfies Readonly<Record<string, Row>>;

/** A provider that has a row. */
export type KnownProvider = keyof typeof ROWS;

/** Every row, with the standard where it says nothing. */
export const PROVIDER_PROFILES = Object.fromEntries(
  Object.entries<Row>(ROWS).map(([name, row]) => [name, { ...STANDARD, ...row }]),
) as Readonly<Record<KnownProvider, ProviderProfile>>;

/** The issuer if `IDP_ISSUER` is unset. */
export const DEFAULT_ISSUER = "https://accounts.google.com";

/** Returns what is known of an issuer's provider. @param document as far as it is known */
export function profileOf(
  issuer: string,
  document: { readonly authorization_endpoint?: string | undefined } = {},
): ProviderProfile {
  const url = parseUrl(issuer);
  if (url === undefined) return STANDARD;
  const authorizationEndpoint = parseUrl(document.authorization_endpoint ?? "");
  const provider = { issuer: url, authorizationEndpoint };
  return Object.values(PROVIDER_PROFILES).find(({ matches }) => matches(provider)) ?? STANDARD;
}

/** The settings that say where a logout goes. */
export interface LogoutSettings {
  readonly issuer: string;
  /** The name of a provider replaces the endpoint that the document advertises. */
  readonly logoutAtProvider: boolean | "auth0";
}

/**
 * Returns the logout address of the provider that the setting names, or else the issuer's.
 * Undefined: the `end_session_endpoint`, which asks the user unless the request has an
 * `id_token_hint`.
 */
export function ownLogoutAddress({
  issuer,
  logoutAtProvider: setting,
}: LogoutSettings): OwnLogoutAddress | undefined {
  return (typeof setting === "string" ? PROVIDER_PROFILES[setting] : profileOf(issuer)).logout;
}

/** Returns the hostnames of a provider's documents. */
export function documentHosts(issuer: string): readonly string[] {
  const host = parseUrl(issuer)?.hostname ?? "";
  return profileOf(issuer).documentHosts ?? (host === "" ? [] : [host]);
}

function hostIs(...hosts: readonly string[]): ProviderProfile["matches"] {
  return ({ issuer }) => hosts.includes(issuer.hostname);
}

function hostEndsWith(...ends: readonly string[]): ProviderProfile["matches"] {
  return ({ issuer }) => ends.some((end) => issuer.hostname.endsWith(end));
}
