import { exportJWK, generateKeyPair, exportPKCS8 } from "jose";
import express from "express";
import { afterEach, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions, Jwk } from "../../src/index.js";
import {
  signIn,
  startTestApi,
  startTestProvider,
  testCertificate,
  type TestApiOptions,
  type TestProviderOptions,
} from "../../src/testing/index.js";

// The kit's checks are strict, so an application of the library has to pass them as a real
// provider's and API's.

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const key = await generateKeyPair("ES256", { extractable: true });
const clientJwks = [(await exportJWK(key.publicKey)) as Jwk];
const IDP_PRIVATE_KEY = await exportPKCS8(key.privateKey);
const certificate = testCertificate();
const CERTIFIED = {
  IDP_CLIENT_CERTIFICATE: certificate.cert,
  IDP_CLIENT_CERTIFICATE_KEY: certificate.key,
};
const NAMES = { tlsClientAuth: { names: { subjectDn: "CN=test-client" } } } as const;
const ALIASES = { tls: true, mtlsAliases: true } as const;
const BOUND = { certificateBoundTokens: "required" } as const;

interface Situation {
  readonly provider: TestProviderOptions;
  readonly env?: Readonly<Record<string, string>>;
  readonly api?: TestApiOptions;
  readonly certificate?: true;
}

it.each<[string, Situation]>([
  ["DPoP without nonces", { provider: { dpop: "required" } }],
  [
    "DPoP with a new nonce each time",
    { provider: { dpop: "required", dpopNonce: "always" }, api: { dpopNonce: "always" } },
  ],
  [
    "DPoP with nonces that rotate",
    { provider: { dpop: "required", dpopNonce: "rotates" }, api: { dpopNonce: "rotates" } },
  ],
  [
    "DPoP with a nonce at each refresh, and bound refresh tokens",
    { provider: { dpop: "required", dpopNonce: "refresh", dpopBoundRefreshTokens: true } },
  ],
  [
    "pushed requests with DPoP",
    { provider: { dpop: "required", dpopNonce: "always", requirePushedRequests: true } },
  ],
  [
    "a certificate for client and tokens, at aliases",
    {
      provider: { ...ALIASES, ...NAMES, ...BOUND, requirePushedRequests: true },
      env: CERTIFIED,
      api: { tls: true },
      certificate: true,
    },
  ],
  [
    "a certificate for the tokens of a client with a key, at one port",
    {
      provider: { tls: true, clientJwks, ...BOUND },
      env: { ...CERTIFIED, IDP_PRIVATE_KEY },
      api: { tls: true },
      certificate: true,
    },
  ],
  [
    "tokens that are bound to key and certificate",
    {
      provider: { ...ALIASES, ...BOUND, dpop: "required" },
      env: CERTIFIED,
      api: { tls: true },
      certificate: true,
    },
  ],
  [
    "signed requests and responses",
    {
      provider: { clientJwks, signedRequests: "required", signedResponses: "required" },
      env: { IDP_PRIVATE_KEY },
    },
  ],
  [
    "FAPI 2.0",
    {
      provider: {
        tls: true,
        clientJwks,
        dpop: "required",
        requirePushedRequests: true,
        signedRequests: "required",
        signedResponses: "required",
        signingAlg: "PS256",
      },
      env: { IDP_PRIVATE_KEY, IDP_FAPI: "2", IDP_PUSHED_REQUESTS: "always" },
    },
  ],
])("an application works with %s: sign-in, userinfo, API, refresh", async (_name, situation) => {
  const provider = await startTestProvider({ userinfoOnly: ["groups"], ...situation.provider });
  cleanups.push(() => provider.stop());
  const api = await startTestApi(provider, situation.api);
  cleanups.push(() => api.stop());
  const options: IdpAuthOptions = {
    env: { ...provider.env, ...situation.env },
    clock: provider.clock,
    log: false,
    userinfo: "always",
    apis: {
      orders: {
        url: api.url,
        path: "/api/orders/",
        ...(situation.certificate === true && { certificate: true }),
      },
    },
  };
  const app = express();
  const auth = idpAuth(options);
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  const user = await signIn(app, { sub: "ada", email: "ada@example.com", groups: ["staff"] });
  cleanups.push(() => user.close());
  expect((await user.get("/api/orders/items?a=b")).status).toBe(200);
  provider.clock.advance(3_600_000);
  expect((await user.get("/api/orders/items?a=b")).status).toBe(200);
  expect(provider.requestsTo("userinfo").length).toBeGreaterThan(0);
  expect(provider.reuses).toBe(0);
});
