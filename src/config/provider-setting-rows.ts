import {
  certificate,
  certificateMistake,
  clientCertificate,
  clientCertificateKey,
  clientCertificateKeyMistake,
  clientCertificateMistake,
  keyMistake,
  privateKeys,
} from "./client-key-kinds.js";
import { endpoints } from "./endpoints-kind.js";
import { authorizationParams, parameterMistake, parameterNames } from "./parameter-kinds.js";
import { providerKey, providerKeys } from "./provider-keys.js";
import { DEFAULT_ISSUER } from "./provider-profiles.js";
import * as kind from "./setting-kinds.js";
import { setting, type RowsOfOptions } from "./setting-row.js";
import { SIGNING_ALGORITHMS } from "./signing-algorithms.js";

/**
 * The settings of the provider: the client's registration, what a login requests, and how requests
 * are sent.
 */
export const PROVIDER_SETTINGS = {
  /** Their keys; null: one provider, without a key. */
  providers: setting(providerKeys, null, { hidden: true }),
  defaultProvider: setting(providerKey, null),
  clientId: {
    per: "own",
    kind: kind.text,
    required: true,
  },
  clientSecret: {
    per: "own",
    kind: kind.secret,
    secret: true,
    required: true,
  },
  /** The first one signs; null: the client has a secret. */
  privateKey: setting(privateKeys, null, { per: "own", secret: true, remedyFor: keyMistake }),
  certificate: setting(certificate, null, {
    per: "own",
    hidden: true,
    remedyFor: certificateMistake,
  }),
  /** null: connections show no certificate. */
  clientCertificate: setting(clientCertificate, null, {
    per: "own",
    hidden: true,
    remedyFor: clientCertificateMistake,
  }),
  clientCertificateKey: setting(clientCertificateKey, null, {
    per: "own",
    secret: true,
    remedyFor: clientCertificateKeyMistake,
  }),
  /** null: what the provider documents. */
  clientAssertionAudience: setting(kind.oneOf("issuer", "token_endpoint", "endpoint"), null, {
    per: "inherited",
  }),
  /** null: the provider isn't Apple, or the client has a secret that somebody made. */
  appleTeamId: setting(kind.appleId, null, { per: "own" }),
  appleKeyId: setting(kind.appleId, null, { per: "own" }),
  issuer: setting(kind.issuer, DEFAULT_ISSUER, { per: "own" }),
  /** null: the issuer's. */
  discoveryUrl: setting(kind.documentUrl, null, { per: "own" }),
  allowedTenants: setting(kind.tenants, null, { per: "inherited" }),
  scope: setting(kind.scope, ["openid", "email", "profile"], { per: "inherited", env: "SCOPE" }),
  /** Seconds. */
  httpTimeout: setting(kind.timeoutSeconds, 5),
  refreshConcurrency: setting(kind.count, 20),
  tokenEndpointAuthMethod: setting(
    kind.oneOf(
      "client_secret_post",
      "client_secret_basic",
      "tls_client_auth",
      "self_signed_tls_client_auth",
    ),
    "client_secret_post",
    { per: "inherited" },
  ),
  providerMetadata: setting(endpoints, {}, { per: "own" }),
  refreshWithoutIdToken: setting(kind.oneOf("userinfo", "refuse"), "userinfo", {
    per: "inherited",
  }),
  /** null: any algorithm that the discovery document lists. */
  idTokenSignedResponseAlg: setting(kind.oneOf(...SIGNING_ALGORITHMS), null, { per: "inherited" }),
  userinfo: setting(kind.oneOf("when-needed", "always"), "when-needed", { per: "inherited" }),
  /** Seconds. */
  clockTolerance: setting(kind.toleranceSeconds, 5),
  /** null: the value that makes this provider give a refresh token. */
  loginPrompt: setting(kind.prompt, null, { per: "inherited" }),
  authorizationParams: setting(
    authorizationParams,
    {},
    { per: "inherited", hidden: true, remedyFor: parameterMistake },
  ),
  responseMode: setting(kind.oneOf("query", "form_post", "jwt"), "query", { per: "inherited" }),
  signedRequests: setting(kind.oneOf("when-required", "always"), "when-required", {
    per: "inherited",
  }),
  dpop: setting(kind.boolean, false, { per: "inherited" }),
  /** null: no profile. */
  fapi: setting(kind.fapiVersion, null, { per: "inherited" }),
  pushedRequests: setting(kind.oneOf("when-required", "always"), "when-required", {
    per: "inherited",
  }),
  loginParams: setting(parameterNames, []),
  /** null: if a route has `maxAge`. */
  requestAuthTime: setting(kind.boolean, null, { per: "inherited" }),
  trustedAudiences: setting(kind.audiences, [], { per: "inherited" }),
} as const satisfies Partial<RowsOfOptions>;
