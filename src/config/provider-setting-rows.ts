import { certificate, certificateMistake, keyMistake, privateKeys } from "./key-kinds.js";
import { endpoints } from "./endpoints-kind.js";
import { authorizationParams, parameterMistake, parameterNames } from "./parameter-kinds.js";
import { GOOGLE_ISSUER } from "./issuers.js";
import { providerKey, providerKeys } from "./provider-keys.js";
import * as kind from "./setting-kinds.js";

/** The settings of the provider: the client's registration, what a login requests, and how requests are sent. */
export const PROVIDER_SETTINGS = {
  /** Their keys; null: one provider, without a key. */
  providers: {
    env: "IDP_PROVIDERS",
    kind: providerKeys,
    default: null,
    hidden: true,
  },
  defaultProvider: {
    env: "IDP_DEFAULT_PROVIDER",
    kind: providerKey,
    default: null,
  },
  clientId: {
    env: "IDP_CLIENT_ID",
    kind: kind.text,
    required: true,
  },
  clientSecret: {
    env: "IDP_CLIENT_SECRET",
    kind: kind.secret,
    secret: true,
    required: true,
  },
  /** The first one signs; null: the client has a secret. */
  privateKey: {
    env: "IDP_PRIVATE_KEY",
    kind: privateKeys,
    secret: true,
    default: null,
    remedyFor: keyMistake,
  },
  certificate: {
    env: "IDP_CERTIFICATE",
    kind: certificate,
    hidden: true,
    default: null,
    remedyFor: certificateMistake,
  },
  publishKeys: {
    env: "IDP_PUBLISH_KEYS",
    kind: kind.boolean,
    default: false,
  },
  /** null: what the provider documents. */
  clientAssertionAudience: {
    env: "IDP_CLIENT_ASSERTION_AUDIENCE",
    kind: kind.oneOf("issuer", "token_endpoint", "endpoint"),
    default: null,
  },
  issuer: {
    env: "IDP_ISSUER",
    kind: kind.issuer,
    default: GOOGLE_ISSUER,
  },
  allowedTenants: {
    env: "IDP_ALLOWED_TENANTS",
    kind: kind.tenants,
    default: null,
  },
  scope: {
    env: "SCOPE",
    kind: kind.scope,
    default: ["openid", "email", "profile"],
  },
  /** Seconds. */
  httpTimeout: {
    env: "IDP_HTTP_TIMEOUT",
    kind: kind.timeoutSeconds,
    unit: "seconds",
    default: 5,
  },
  refreshConcurrency: {
    env: "IDP_REFRESH_CONCURRENCY",
    kind: kind.count,
    default: 20,
  },
  tokenEndpointAuthMethod: {
    env: "IDP_TOKEN_ENDPOINT_AUTH_METHOD",
    kind: kind.oneOf("client_secret_post", "client_secret_basic", "client_secret_basic_raw"),
    default: "client_secret_post",
  },
  providerMetadata: {
    env: "IDP_PROVIDER_METADATA",
    kind: endpoints,
    default: {},
  },
  refreshWithoutIdToken: {
    env: "IDP_REFRESH_WITHOUT_ID_TOKEN",
    kind: kind.oneOf("userinfo", "refuse"),
    default: "userinfo",
  },
  userinfo: {
    env: "IDP_USERINFO",
    kind: kind.oneOf("when-needed", "always"),
    default: "when-needed",
  },
  /** Seconds. */
  clockTolerance: {
    env: "IDP_CLOCK_TOLERANCE",
    kind: kind.toleranceSeconds,
    unit: "seconds",
    default: 5,
  },
  /** null: the value that makes this provider give a refresh token. */
  loginPrompt: {
    env: "IDP_LOGIN_PROMPT",
    kind: kind.prompt,
    default: null,
  },
  authorizationParams: {
    env: "IDP_AUTHORIZATION_PARAMS",
    kind: authorizationParams,
    default: {},
    hidden: true,
    remedyFor: parameterMistake,
  },
  pushedRequests: {
    env: "IDP_PUSHED_REQUESTS",
    kind: kind.oneOf("when-required", "always", "never"),
    default: "when-required",
  },
  loginParams: {
    env: "IDP_LOGIN_PARAMS",
    kind: parameterNames,
    default: [],
  },
  /** Hostnames without port. */
  documentHosts: {
    env: "IDP_DOCUMENT_HOSTS",
    kind: kind.hosts,
  },
  trustedAudiences: {
    env: "IDP_TRUSTED_AUDIENCES",
    kind: kind.audiences,
    default: [],
  },
} as const satisfies Record<string, kind.SettingRow>;
