import type { Jwk } from "../../index.js";
import type { RegisteredNames } from "../certificates/presented-certificate.js";
import type { NonceDemand } from "./dpop-nonces.js";
import { PROOF_ALGORITHMS } from "./dpop-proofs.js";

/**
 * The provider's behaviour. You can change it while the provider runs; the next request uses the
 * change.
 */
export interface ProviderSettings {
  /** Default `test-client`. */
  clientId: string;
  /**
   * The default contains characters that must be percent-encoded in a Basic header (RFC 6749
   * section 2.3.1).
   */
  clientSecret: string;
  /** The accepted redirect URIs, compared as text; undefined (default): any. */
  redirectUris: readonly string[] | undefined;
  /**
   * The client's public keys, as a list or a JWK set. If they are set, the client authenticates
   * with `private_key_jwt`, and its secret is refused. Undefined (default): it authenticates with
   * its secret.
   */
  clientJwks:
    | readonly Jwk[]
    | {
        /** Those of a JWK set (RFC 7517 section 5). */
        readonly keys: readonly Jwk[];
      }
    | undefined;
  /** The `aud` that a client assertion must have; default `issuer`. */
  clientAssertionAudience: "issuer" | "token_endpoint" | "endpoint";
  /**
   * Whether authorization requests can be pushed (RFC 9126); default false: the provider has no
   * endpoint for them.
   */
  pushedRequests: boolean;
  /**
   * Whether they have to be: the provider refuses any other authorization request. Default false.
   */
  requirePushedRequests: boolean;
  /** Lifetime of a pushed request, its `expires_in`; default 60. */
  pushedRequestSeconds: number;
  /** Default both. */
  tokenEndpointAuthMethods: readonly ("client_secret_post" | "client_secret_basic")[];
  /** Lifetime of an ID token, from `iat` to `exp`; default 3600. */
  idTokenSeconds: number;
  /** Default 3600. */
  accessTokenSeconds: number;
  /**
   * `jwt` (default): an API can verify an access token with the provider's keys (RFC 9068).
   * `opaque`: it is random text.
   */
  accessTokens: "jwt" | "opaque";
  /**
   * Whether a sign-in gives a refresh token: always (default), never, or if the request has the
   * scope `offline_access`.
   */
  issueRefreshToken: boolean | "offline_access";
  /**
   * Each refresh gives a new refresh token and spends the old one; default true. Otherwise no
   * refresh reply carries one.
   */
  rotation: boolean;
  /**
   * Reuse of a spent refresh token revokes all tokens of its sign-in; default true. Otherwise it is
   * only refused.
   */
  reuseDetection: boolean;
  /** Seconds during which a spent refresh token may be used again; default 0. */
  reuseGraceSeconds: number;
  /** Announces and sends `iss` in authorization responses (RFC 9207); default true. */
  announceIss: boolean;
  /** Default openid, email, profile, offline_access. */
  scopesSupported: readonly string[];
  /** `ignored`: the provider does not support PKCE. Default `required`, S256 only. */
  pkce: "required" | "ignored";
  /** `false`: the ID token contains only `sub`, and userinfo the other claims. Default true. */
  claimsInIdToken: boolean;
  /** The names of claims that only userinfo contains, such as `groups`; default none. */
  userinfoOnly: readonly string[];
  /**
   * `ignored`: the provider does not support `max_age`, `acr_values`, the claims `auth_time`, `acr`
   * and `acrs`, and `prompt=login`. Default `supported`: a request for them gets them.
   */
  stepUp: "supported" | "ignored";
  /**
   * The supported values of `acr` and `acrs`; a request for another value gets none. Undefined
   * (default): any value.
   */
  acrValues: readonly string[] | undefined;
  /**
   * The error of every request with `prompt=none`, such as `interaction_required`. Undefined
   * (default): `login_required` if nobody is signed in.
   */
  promptNoneError: string | undefined;
  /**
   * The tenant (GUID) of users without a claim `tid`. If it is set, the provider has several
   * tenants, as Entra ID at `/organizations/v2.0`: the issuer of the discovery document is a
   * template, and each ID token has `tid` and the issuer of that tenant. Default undefined.
   */
  tenant: string | undefined;
  /**
   * `ignored`: ID tokens and logout tokens have no `sid`. Default `supported`: each provider
   * session has an id, also after a refresh.
   */
  sid: "supported" | "ignored";
  /**
   * `ignored`: the discovery document names no `end_session_endpoint`, and its address is 404.
   * Default `supported` (OpenID Connect RP-Initiated Logout 1.0).
   */
  endSession: "supported" | "ignored";
  /**
   * The accepted values of `post_logout_redirect_uri`, compared as text; undefined (default): any.
   */
  postLogoutRedirectUris: readonly string[] | undefined;
  /**
   * The application's address for logout tokens, on this machine (OpenID Connect Back-Channel
   * Logout 1.0 section 2.2). Undefined (default): the provider sends none.
   */
  backchannelLogoutUri: string | undefined;
  /**
   * The application's address that the provider's logout page loads in a frame (OpenID Connect
   * Front-Channel Logout 1.0 section 2). Undefined (default): the page has no frame.
   */
  frontchannelLogoutUri: string | undefined;
  /** The query parameters of that address; default both. Entra ID sends `sid` alone. */
  frontchannelLogoutParams: readonly ("iss" | "sid")[];
  /**
   * If it is set, the provider departs from OpenID Connect as Sign in with Apple does: the client
   * secret is a JWT of this team and key (`clientJwks`), the name comes only in the posted response
   * to a user's first sign-in, `email_verified` is text, and there is no userinfo and no logout.
   * Undefined (default): it doesn't.
   */
  apple:
    | {
        /** The identifier of the team. */
        readonly teamId: string;
        /** The identifier of the key in `clientJwks`. */
        readonly keyId: string;
      }
    | undefined;
  /** The algorithm of the provider's signatures; default `RS256`. */
  signingAlg: "RS256" | "PS256";
  /**
   * Whether the provider binds tokens to a key (DPoP, RFC 9449). `ignored` (default): it doesn't
   * support it. `supported`: a token request with a proof gets tokens of the type DPoP. `required`:
   * any other token request is refused (`dpop_bound_access_tokens`).
   */
  dpop: "ignored" | "supported" | "required";
  /**
   * When a proof must have a nonce of the provider: never (`none`, default); always, and each nonce
   * works once (`always`); always, and a nonce works until it rotates (`rotates`); only during a
   * refresh, and each nonce works once (`refresh`).
   */
  dpopNonce: NonceDemand;
  /** How long a nonce works that rotates; default 300. `rotateDpopNonce()` ends it at once. */
  dpopNonceSeconds: number;
  /**
   * Whether the nonce is checked before the code or refresh token is spent (default), or afterwards,
   * as some providers do: the repetition then finds it spent.
   */
  dpopNonceCheck: "before-grant" | "after-grant";
  /** By how many seconds the `iat` of a proof may differ from the provider's clock; default 60. */
  dpopProofSeconds: number;
  /** Default ES256, PS256, EdDSA. */
  dpopSigningAlgs: readonly string[];
  /**
   * Whether a refresh token works only with the key of its sign-in, as a public client's does (RFC
   * 9449 section 5). Default false.
   */
  dpopBoundRefreshTokens: boolean;
  /**
   * How the client's certificate is registered, if it authenticates with one (RFC 8705), which needs
   * the option `tls`. `names`: the kit's authority issued it (`tls_client_auth`). `selfSigned`: the
   * certificates as PEM (`self_signed_tls_client_auth`). Undefined (default): it authenticates
   * otherwise. `clientJwks` then only has the keys of signed requests.
   */
  tlsClientAuth:
    | {
        /** One of them names the client. */
        readonly names: RegisteredNames;
      }
    | {
        /** The client's certificates as PEM. */
        readonly selfSigned: readonly string[];
      }
    | undefined;
  /**
   * Whether the provider binds access tokens to the client's certificate (RFC 8705 section 3), which
   * needs the option `tls`. `ignored` (default): it doesn't. `supported`: if the client presents
   * one. `required`: a token request without one is refused.
   */
  certificateBoundTokens: "ignored" | "supported" | "required";
  /**
   * Whether the parameters of an authorization request may be a JWT that a key of `clientJwks`
   * signed (JAR, RFC 9101). Default `ignored`. `required`: they have to be
   * (`require_signed_request_object`).
   */
  signedRequests: "ignored" | "supported" | "required";
  /**
   * Whether the provider signs authorization responses as a JWT (JARM), if the request has the
   * `response_mode` `jwt`, `query.jwt` or `form_post.jwt`. Default `ignored`. `required`: any other
   * mode is refused.
   */
  signedResponses: "ignored" | "supported" | "required";
}

/** Returns the settings of a provider that a test has not changed. */
export function defaultSettings(): ProviderSettings {
  return {
    clientId: "test-client",
    clientSecret: "test secret:+%/é",
    clientJwks: undefined,
    clientAssertionAudience: "issuer",
    redirectUris: undefined,
    pushedRequests: false,
    requirePushedRequests: false,
    pushedRequestSeconds: 60,
    tokenEndpointAuthMethods: ["client_secret_post", "client_secret_basic"],
    idTokenSeconds: 3600,
    accessTokenSeconds: 3600,
    accessTokens: "jwt",
    issueRefreshToken: true,
    rotation: true,
    reuseDetection: true,
    reuseGraceSeconds: 0,
    announceIss: true,
    scopesSupported: ["openid", "email", "profile", "offline_access"],
    pkce: "required",
    claimsInIdToken: true,
    userinfoOnly: [],
    stepUp: "supported",
    acrValues: undefined,
    promptNoneError: undefined,
    tenant: undefined,
    sid: "supported",
    endSession: "supported",
    postLogoutRedirectUris: undefined,
    backchannelLogoutUri: undefined,
    frontchannelLogoutUri: undefined,
    frontchannelLogoutParams: ["iss", "sid"],
    apple: undefined,
    ...assuranceSettings(),
  };
}

/** Without what high assurance demands. */
function assuranceSettings() {
  return {
    signingAlg: "RS256",
    dpop: "ignored",
    dpopNonce: "none",
    dpopNonceSeconds: 300,
    dpopNonceCheck: "before-grant",
    dpopProofSeconds: 60,
    dpopSigningAlgs: PROOF_ALGORITHMS,
    dpopBoundRefreshTokens: false,
    tlsClientAuth: undefined,
    certificateBoundTokens: "ignored",
    signedRequests: "ignored",
    signedResponses: "ignored",
  } as const;
}
