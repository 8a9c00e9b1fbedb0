// The package oidc-provider as a process of its own, with its own pages for sign-in and consent.
import { randomBytes } from "node:crypto";
import { readTask, serve } from "./provider-process.mjs";

// What the package says about its defaults while it is loaded and configured is not about this run.
console.warn = console.info = () => {};

/** @type {any} */
const { Provider } = await load("oidc-provider");
/** @type {any} */
const { exportJWK, generateKeyPair } = await load("jose");

const { configuration, port, redirectUri, idTokenSeconds } = readTask();
const issuer = `http://127.0.0.1:${port}`;
const secret = () => randomBytes(32).toString("base64url");

/**
 * @typedef {object} Variant
 * @property {string} [algorithm] of ID tokens; default RS256
 * @property {Record<string, unknown>} [client]
 * @property {Record<string, unknown>} [options]
 * @property {boolean} [noIdTokenOnRefresh]
 */

const encryption = await generateKeyPair("RSA-OAEP-256", { extractable: true });

/** @type {Record<string, Variant>} */
const VARIANTS = {
  rs256: {},
  ps256: {
    algorithm: "PS256",
    options: { rotateRefreshToken: false, conformIdTokenClaims: false },
  },
  es256: {
    algorithm: "ES256",
    client: { client_id: "my-app", token_endpoint_auth_method: "client_secret_basic" },
  },
  eddsa: { algorithm: "EdDSA", options: { conformIdTokenClaims: false } },
  pairwise: {
    client: { subject_type: "pairwise" },
    options: {
      subjectTypes: ["public", "pairwise"],
      pairwiseIdentifier: (/** @type {unknown} */ _ctx, /** @type {string} */ accountId) =>
        `pairwise-${accountId}`,
    },
  },
  "no-id-token": { noIdTokenOnRefresh: true },
  par: {
    options: {
      features: {
        pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
      },
    },
  },
  encrypted: {
    client: {
      id_token_encrypted_response_alg: "RSA-OAEP-256",
      jwks: {
        keys: [
          {
            ...(await exportJWK(encryption.publicKey)),
            use: "enc",
            alg: "RSA-OAEP-256",
            kid: "enc",
          },
        ],
      },
    },
    options: { features: { encryption: { enabled: true } } },
  },
};

const variant = VARIANTS[configuration];
if (variant === undefined) throw new Error(`There is no configuration ${configuration}.`);
const { algorithm = "RS256", client = {}, options = {}, noIdTokenOnRefresh = false } = variant;
const signing = await generateKeyPair(algorithm, { extractable: true });
const { features = {}, ...others } = /** @type {Record<string, any>} */ (options);

const registered = {
  client_id: "interop",
  client_secret: secret(),
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "client_secret_post",
  id_token_signed_response_alg: algorithm,
  ...client,
};

const provider = new Provider(issuer, {
  clients: [registered],
  jwks: {
    keys: [{ ...(await exportJWK(signing.privateKey)), use: "sig", alg: algorithm, kid: "sig" }],
  },
  enabledJWA: { idTokenSigningAlgValues: [algorithm] },
  clientDefaults: { id_token_signed_response_alg: algorithm },
  cookies: { keys: [secret()] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  scopes: ["openid", "offline_access", "email", "profile"],
  findAccount: (/** @type {unknown} */ _ctx, /** @type {string} */ id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: true,
      name: `The user ${id}`,
    }),
  }),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  expiresWithSession: () => false,
  features: {
    devInteractions: { enabled: true },
    rpInitiatedLogout: { enabled: false },
    revocation: { enabled: true },
    ...features,
  },
  ttl: {
    IdToken: idTokenSeconds,
    // Without an ID token, the access token's life counts.
    AccessToken: noIdTokenOnRefresh ? idTokenSeconds : 3600,
    AuthorizationCode: 60,
    RefreshToken: 86_400,
    Grant: 86_400,
    Interaction: 600,
    Session: 3600,
  },
  ...others,
});

if (noIdTokenOnRefresh) {
  provider.use(async (/** @type {any} */ ctx, /** @type {() => Promise<void>} */ next) => {
    await next();
    if (
      ctx.oidc?.route === "token" &&
      ctx.oidc.params?.grant_type === "refresh_token" &&
      ctx.body !== undefined
    )
      delete ctx.body.id_token;
  });
}

await serve(provider.callback(), {
  port,
  tokenPath: "/token",
  client: { issuer, clientId: registered.client_id, clientSecret: registered.client_secret },
});

/**
 * Only this folder's installation has the package, so the compiler must not look for it.
 *
 * @param {string} name
 */
async function load(name) {
  return import(name);
}
