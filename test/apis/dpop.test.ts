// Tokens that are bound to a key of the session, from the login to the API. The kit's provider and
// API check each proof (RFC 9449).
import { once } from "node:events";
import { createServer } from "node:http";
import express from "express";
import { decodeJwt } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions, LogEntry } from "../../src/index.js";
import {
  signIn,
  startTestApi,
  startTestProvider,
  TestClock,
  type TestApi,
  type TestApiOptions,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";

const HOUR_MS = 3_600_000;
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Setting {
  readonly provider?: TestProviderOptions;
  readonly api?: TestApiOptions;
  readonly audience?: string;
  readonly options?: Partial<IdpAuthOptions>;
}

interface Bound {
  readonly auth: ExpressIdpAuth;
  readonly provider: TestProvider;
  readonly api: TestApi;
  readonly clock: TestClock;
  readonly log: LogEntry[];
  readonly user: Awaited<ReturnType<typeof signIn>>;
}

/** A user who has signed in at a provider that binds tokens, and an API that checks them. */
async function bound({ options, audience, ...setting }: Setting = {}): Promise<Bound> {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock, dpop: "required", ...setting.provider });
  stops.push(() => provider.stop());
  const api = await startTestApi(provider, setting.api);
  stops.push(() => api.stop());
  const log: LogEntry[] = [];
  const orders = { url: api.url, path: "/api/orders/", ...(audience && { audience }) };
  const app = express();
  const auth = idpAuth({
    env: { ...provider.env, IDP_DPOP: "true" },
    clock,
    log: (entry) => log.push(entry),
    apis: { orders },
    ...options,
  });
  auth.mount(app);
  app.get("/fetched", async (request, response) => {
    const sent = await auth.fetchApi(request, "orders", "items?page=2");
    response.status(sent.status).json(await sent.json());
  });
  app.get("/own-client", async (request, response) => {
    const credentials = await auth.getCredentials(request);
    const [url, method] = [`${api.url}items?page=3#top`, "GET"];
    const accessToken = credentials?.token ?? "";
    const proof = await auth.dpopProof(request, { method, url, accessToken });
    const sent = await fetch(url, {
      headers: { authorization: `DPoP ${accessToken}`, dpop: proof ?? "" },
    });
    response.json({ status: sent.status, type: credentials?.token_type, proof });
  });
  app.use(auth.proxyApi("orders"));
  const server = createServer(app);
  server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
  const user = await signIn(server);
  stops.push(() => user.close());
  return { auth, provider, api, clock, log, user };
}

describe.each(["none", "always", "rotates"] as const)(
  "with nonces that are demanded: %s",
  (dpopNonce) => {
    it("logins, userinfo, refreshes, the proxy and fetchApi prove the session's key", async () => {
      const { provider, api, clock, user } = await bound({
        provider: { dpopNonce, claimsInIdToken: false },
        api: { dpopNonce },
        options: { userinfo: "always" },
      });
      for (let round = 0; round < 3; round++) {
        expect((await user.get("/api/orders/items")).status).toBe(200);
        expect((await user.get("/fetched")).status).toBe(200);
        const posted = await user.post("/api/orders/items", { body: { ordered: true } });
        expect(posted.status).toBe(200);
        clock.advance(HOUR_MS);
        provider.rotateDpopNonce();
        api.rotateDpopNonce();
      }
      const tokens = api.requests.map(({ headers }) => headers.authorization ?? "");
      expect(tokens.every((value) => value.startsWith("DPoP "))).toBe(true);
      expect(provider.reuses).toBe(0);
    });
  },
);

describe("an API that demands a nonce", () => {
  it("gets a request again only if its body was kept, and the next one has the nonce", async () => {
    const { api, user } = await bound({ api: { dpopNonce: "rotates" } });
    const body = { items: "x".repeat(100_000) };
    const first = await user.post("/api/orders/items", {
      body,
    });
    expect([first.status, first.json()]).toMatchObject([503, { code: "api_nonce_demanded" }]);
    expect(first.headers["retry-after"]).toBe("1");
    const second = await user.post("/api/orders/items", {
      body,
    });
    expect(second.status).toBe(200);
    expect(api.requests).toHaveLength(2);
  });

  it("sends its nonce to nobody but the application", async () => {
    const { user } = await bound({ api: { dpopNonce: "always" } });
    const response = await user.get("/api/orders/items", { headers: { dpop: "of the browser" } });
    expect(response.status).toBe(200);
    expect(Object.keys(response.headers).filter((name) => name.includes("dpop"))).toEqual([]);
  });

  it("opens a WebSocket with a proof for the GET", async () => {
    const { api, user } = await bound({ api: { dpopNonce: "always" } });
    const socket = new WebSocket(`${user.origin.replace("http", "ws")}/api/orders/socket`, {
      origin: user.origin,
      headers: { cookie: user.cookie ?? "" },
    });
    await once(socket, "open");
    socket.close();
    const { headers } = api.requests.at(-1) ?? {};
    expect(decodeJwt(String(headers?.["dpop"]))).toMatchObject({
      htm: "GET",
      htu: `${api.url}socket`,
    });
  });
});

describe("a token", () => {
  it("of the API's own is bound to the same key", async () => {
    const audience = "https://orders.example.com";
    const { api, user } = await bound({
      audience,
      api: { audience },
      provider: { dpopNonce: "always" },
    });
    expect((await user.get("/api/orders/items")).status).toBe(200);
    expect(decodeJwt(String(api.requests[0]?.headers.authorization).slice(5))).toMatchObject({
      aud: audience,
    });
  });

  it("that the API rejects is replaced, and the new one is proven, too", async () => {
    const { api, user } = await bound({ api: { dpopNonce: "always" } });
    await user.get("/api/orders/items");
    api.refuseNext();
    expect((await user.get("/api/orders/items")).status).toBe(200);
    const [first, last] = [api.requests[0], api.requests.at(-1)].map(
      (one) => one?.headers.authorization,
    );
    expect(first).not.toBe(last);
  });

  it("is worthless without the key", async () => {
    const { api, auth, user } = await bound();
    const seen = await user.get("/own-client");
    expect(seen.json()).toMatchObject({ status: 200, type: "DPoP" });
    const { proof } = seen.json() as { proof: string };
    const { htu, ath, htm } = decodeJwt(proof);
    expect({ htu, htm, ath: typeof ath }).toEqual({
      htu: `${api.url}items`,
      htm: "GET",
      ath: "string",
    });
    const { authorization } = api.requests.at(-1)?.headers ?? {};
    const stolen = [
      { authorization: String(authorization).replace("DPoP", "Bearer") },
      { authorization: String(authorization) },
      { authorization: String(authorization), dpop: proof },
    ];
    for (const headers of stolen)
      expect((await fetch(`${api.url}items`, { headers })).status).toBe(401);
    await auth.close();
  });
});

it("a bearer token in place of a bound one is the operator's fault, and no sign-out", async () => {
  const { api, provider, clock, log, user } = await bound();
  provider.tokenResponse = (tokens) => ({ ...tokens, token_type: "Bearer" });
  clock.advance(HOUR_MS);
  for (let call = 0; call < 3; call++) expect((await user.get("/fetched")).status).toBe(503);
  const lines = log.filter(({ message }) => message.includes("IDP_DPOP"));
  expect(lines).toMatchObject([{ level: "error", details: { reason: "token_type" } }]);
  expect(api.requests).toEqual([]);
  provider.tokenResponse = undefined;
  clock.advance(HOUR_MS);
  expect((await user.get("/fetched")).status).toBe(200);
});
