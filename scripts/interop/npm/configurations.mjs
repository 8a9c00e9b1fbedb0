// The configurations of the providers from npm, with the expected result of each step of steps.mjs.

/**
 * @typedef {object} Configuration
 * @property {string} key
 * @property {string} title
 * @property {"better-auth" | "oidc-provider"} program
 * @property {Record<string, string>} [env] of the application
 * @property {number} [possible] steps; default all
 * @property {Record<number, { expected: string, reason: string }>} [expected] by the step's number;
 *   every other step is `good`
 */

/** @type {readonly Configuration[]} */
export const CONFIGURATIONS = [
  {
    key: "better-auth",
    program: "better-auth",
    title: "better-auth with its OAuth provider plugin (EdDSA)",
    expected: {
      1: {
        expected: "client not known",
        reason: "better-auth checks the refresh token before it checks the client.",
      },
    },
  },
  { key: "rs256", program: "oidc-provider", title: "RS256, refresh tokens rotate" },
  { key: "ps256", program: "oidc-provider", title: "PS256, refresh tokens do not rotate" },
  {
    key: "es256",
    program: "oidc-provider",
    title: "ES256, `client_secret_basic` with the client id `my-app`",
    env: { IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic" },
  },
  { key: "eddsa", program: "oidc-provider", title: "EdDSA" },
  { key: "pairwise", program: "oidc-provider", title: "Pairwise subjects" },
  { key: "no-id-token", program: "oidc-provider", title: "No ID token on refresh" },
  {
    key: "par",
    program: "oidc-provider",
    title: "Pushed authorization requests required",
  },
  {
    key: "encrypted",
    program: "oidc-provider",
    title: "Encrypted ID tokens",
    possible: 4,
    expected: {
      4: {
        expected: "not set up",
        reason:
          "idpauth doesn't support encrypted ID tokens. The response is 503 with the code `provider_misconfigured`, and the log names the cause.",
      },
    },
  },
];
