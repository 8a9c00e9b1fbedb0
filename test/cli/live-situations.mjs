// The mistakes on which `idpauth check --live` is tested.
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { createCertificate } from "../../scripts/certificate.mjs";

/** @typedef {import("../../src/testing/provider/test-provider.js").TestProvider} TestProvider */

/**
 * What a situation happens on: a provider of its own, with which everything is right, and an empty
 * folder.
 *
 * @typedef {object} Stage
 * @property {TestProvider} provider
 * @property {string} folder
 * @property {(close: () => Promise<void>) => void} atEnd
 */

/**
 * @typedef {object} Setup
 * @property {Record<string, string | undefined>} env over the right settings; undefined takes one
 *   away
 * @property {string} [store] for `--store`
 * @property {boolean} [inFolder] the check is run in the stage's folder instead of the project's
 * @property {number} [clock] milliseconds by which this machine's clock is ahead
 */

/**
 * @typedef {object} Situation
 * @property {string} title
 * @property {readonly string[]} codes exactly those that are found
 * @property {(stage: Stage) => Setup | Promise<Setup>} prepare
 */

export const REDIRECT_URI = "https://app.example/idpauth/login-callback";

/**
 * What the provider of a stage is started with: it knows this application, and nothing is wrong.
 */
export const PROVIDER = {
  clientId: "shop",
  clientSecret: "the secret that the provider gave out",
  redirectUris: [REDIRECT_URI, "http://localhost:3000/idpauth/login-callback"],
};

/**
 * The right settings.
 *
 * @param {TestProvider} provider
 * @returns {Record<string, string>}
 */
export function settingsFor(provider) {
  return {
    SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
    IDP_ISSUER: provider.issuer,
    IDP_CLIENT_ID: PROVIDER.clientId,
    IDP_CLIENT_SECRET: PROVIDER.clientSecret,
    SCOPE: "openid email profile offline_access",
    BASE_URL: "https://app.example",
  };
}

/**
 * A store in the memory of its process whose `replace` compares first and writes a moment later.
 */
const RACING_STORE = `import { randomUUID } from "node:crypto";

const entries = new Map();
const live = (key) => {
  const found = entries.get(key);
  return found !== undefined && found.expiresAt > Date.now() / 1000 ? found : undefined;
};

export default {
  name: "racing",
  get: async (key) => live(key),
  async insert(key, entry) {
    if (live(key) !== undefined) return false;
    entries.set(key, { ...entry, version: randomUUID() });
    return true;
  },
  async replace(key, entry, version) {
    if (live(key)?.version !== version) return false;
    await new Promise((resolve) => setImmediate(resolve));
    entries.set(key, { ...entry, version: randomUUID() });
    return true;
  },
  async touch(key, lastActive, expiresAt) {
    const found = live(key);
    if (found === undefined) return false;
    entries.set(key, { ...found, lastActive: lastActive ?? found.lastActive, expiresAt });
    return true;
  },
  async delete(key) {
    const found = live(key);
    entries.delete(key);
    return found;
  },
  listBySubject: async (subject) => ({ entries: new Map([...entries].filter(([key]) => live(key)?.subject === subject)) }),
  listBySid: async (sid) => ({ entries: new Map([...entries].filter(([key]) => live(key)?.sid === sid)) }),
};
`;

/** @type {readonly Situation[]} */
export const SITUATIONS = [
  {
    title: "Everything is right",
    codes: [],
    prepare: () => ({ env: {} }),
  },
  {
    title: "Another issuer",
    codes: ["E104"],
    prepare({ provider }) {
      provider.discoveryDocument = (document) => ({
        ...document,
        issuer: "https://login.example/realms/shop",
      });
      return { env: {} };
    },
  },
  {
    title: "A slash too much",
    codes: ["E104"],
    prepare: ({ provider }) => ({ env: { IDP_ISSUER: `${provider.issuer}/` } }),
  },
  {
    title: "A wrong client secret",
    codes: ["E109"],
    prepare: () => ({ env: { IDP_CLIENT_SECRET: "the secret of the other environment" } }),
  },
  {
    title: "A wrong client id",
    codes: ["E109", "W107"],
    prepare: () => ({ env: { IDP_CLIENT_ID: "shop-staging" } }),
  },
  {
    title: "A redirect URI that is not registered",
    codes: ["W107"],
    prepare: () => ({ env: { IDP_PATH_PREFIX: "/portal" } }),
  },
  {
    title: "A provider that looks at the refresh token first",
    codes: [],
    prepare({ provider }) {
      provider.fault("token", { kind: "status", status: 400, body: { error: "invalid_grant" } });
      return { env: { IDP_CLIENT_SECRET: "the secret of the other environment" } };
    },
  },
  {
    title: "Pushed authorization requests are required, without an endpoint",
    codes: ["E115"],
    prepare({ provider }) {
      provider.discoveryDocument = (document) => ({
        ...document,
        require_pushed_authorization_requests: true,
      });
      return { env: {} };
    },
  },
  {
    title: "Signed request objects are required",
    codes: ["E114"],
    prepare({ provider }) {
      provider.discoveryDocument = (document) => ({
        ...document,
        require_signed_request_object: true,
      });
      return { env: {} };
    },
  },
  {
    title: "Encrypted ID tokens are possible",
    codes: [],
    prepare({ provider }) {
      provider.discoveryDocument = (document) => ({
        ...document,
        id_token_encryption_alg_values_supported: ["RSA-OAEP-256"],
      });
      return { env: {} };
    },
  },
  {
    title: "A scope that the provider does not know",
    codes: ["W102"],
    prepare: () => ({ env: { SCOPE: "openid email profil offline_access" } }),
  },
  {
    title: "Maybe no refresh token",
    codes: ["W103"],
    prepare({ provider }) {
      provider.settings.scopesSupported = ["openid", "email", "profile"];
      return { env: {} };
    },
  },
  {
    title: "A self-signed certificate",
    codes: ["E102"],
    async prepare({ atEnd }) {
      const server = createServer(createCertificate({ name: "localhost" }), (_request, response) =>
        response.end(),
      );
      await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
      atEnd(() => new Promise((resolve) => server.close(() => resolve(undefined))));
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      return { env: { IDP_ISSUER: `https://localhost:${port}` } };
    },
  },
  {
    title: "A discovery document that redirects",
    codes: ["E103"],
    prepare({ provider }) {
      const location = "https://login.example/realms/shop/.well-known/openid-configuration";
      provider.fault("discovery", { kind: "redirect", status: 301, location });
      return { env: {} };
    },
  },
  {
    title: "No discovery document",
    codes: ["E103"],
    prepare: ({ provider }) => ({ env: { IDP_ISSUER: `${provider.issuer}/realms/shop` } }),
  },
  {
    title: "A token endpoint that does not exist",
    codes: ["E101"],
    prepare({ provider }) {
      provider.discoveryDocument = (document) => ({
        ...document,
        token_endpoint: "https://old-login.invalid/token",
      });
      return { env: {} };
    },
  },
  {
    title: "An authorization endpoint that does not exist",
    codes: ["E101"],
    prepare({ provider }) {
      provider.discoveryDocument = (document) => ({
        ...document,
        authorization_endpoint: "https://old-login.invalid/authorize",
      });
      return { env: {} };
    },
  },
  {
    title: "No signing keys",
    codes: ["E108"],
    prepare({ provider }) {
      provider.jwks.publishEmpty();
      return { env: {} };
    },
  },
  {
    title: "A clock that is five minutes behind",
    codes: ["E110"],
    prepare: () => ({ env: {}, clock: -300_000 }),
  },
  {
    title: "A cookie that browsers refuse",
    codes: ["E011"],
    prepare: () => ({ env: { BASE_URL: "http://localhost:3000", IDP_COOKIE_NAME: "__Host-shop" } }),
  },
  {
    title: "No BASE_URL",
    codes: ["W001"],
    prepare: () => ({ env: { BASE_URL: undefined } }),
  },
  {
    title: "A store that is down",
    codes: ["E111"],
    prepare: () => ({ env: {}, store: "redis://127.0.0.1:1" }),
  },
  {
    title: "A store that is not atomic",
    codes: ["E112"],
    prepare({ folder }) {
      writeFileSync(path.join(folder, "store.mjs"), RACING_STORE);
      return { env: {}, store: "./store.mjs", inFolder: true };
    },
  },
];

/**
 * Runs a task on a stage that is cleared away afterwards.
 *
 * @template Result
 * @param {(options: object) => Promise<TestProvider>} startTestProvider
 * @param {string} folder
 * @param {(stage: Stage) => Promise<Result>} task
 * @returns {Promise<Result>}
 */
export async function onStage(startTestProvider, folder, task) {
  const provider = await startTestProvider(PROVIDER);
  /** @type {(() => Promise<void>)[]} */
  const closers = [() => stopAfterRefusals(provider)];
  try {
    return await task({ provider, folder, atEnd: (close) => void closers.unshift(close) });
  } finally {
    for (const close of closers) await close();
  }
}

/**
 * Stops a provider that had to refuse the client, which it records as a violation.
 *
 * @param {TestProvider} provider
 */
export async function stopAfterRefusals(provider) {
  const { violations } = provider;
  const others = violations.filter((text) => !/^\w+: invalid_client/.test(text));
  violations.splice(0, violations.length, ...others);
  await provider.stop();
}
