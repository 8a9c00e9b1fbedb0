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
    kind: providerKeys,
    default: null,
    hidden: true,
  },
  defaultProvider: {
    kind: providerKey,
    default: null,
  },
  clientId: {
    kind: kind.text,
    required: true,
  },
  clientSecret: {
    kind: kind.secret,
    secret: true,
    required: true,
  },
  /** The first one signs; null: the client has a secret. */
  privateKey: {
    kind: privateKeys,
    secret: true,
    default: null,
    remedyFor: keyMistake,
  },
  certificate: {
    kind: certificate,
    hidden: true,
    default: null,
    remedyFor: certificateMistake,
  },
  publishKeys: {
    kind: kind.boolean,
    default: false,
  },
  /** null: what the provider documents. */
  clientAssertionAudience: {
    kind: kind.oneOf("issuer", "token_endpoint", "endpoint"),
    default: null,
  },
  issuer: {
    kind: kind.issuer,
    default: GOOGLE_ISSUER,
  },
  allowedTenants: {
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
    kind: kind.timeoutSeconds,
    default: 5,
  },
  refreshConcurrency: {
    kind: kind.count,
    default: 20,
  },
  tokenEndpointAuthMethod: {
    kind: kind.oneOf("client_secret_post", "client_secret_basic", "client_secret_basic_raw"),
    default: "client_secret_post",
  },
  providerMetadata: {
    kind: endpoints,
    default: {},
  },
  refreshWithoutIdToken: {
    kind: kind.oneOf("userinfo", "refuse"),
    default: "userinfo",
  },
  userinfo: {
    kind: kind.oneOf("when-needed", "always"),
    default: "when-needed",
  },
  /** Seconds. */
  clockTolerance: {
    kind: kind.toleranceSeconds,
    default: 5,
  },
  /** null: the value that makes this provider give a refresh token. */
  loginPrompt: {
    kind: kind.prompt,
    default: null,
  },
  authorizationParams: {
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
    kind: parameterNames,
    default: [],
  },
  /** Hostnames without port. */
  documentHosts: {
    kind: kind.hosts,
  },
  trustedAudiences: {
    kind: kind.audiences,
    default: [],
  },
} as const satisfies Record<string, kind.WrittenRow>;
