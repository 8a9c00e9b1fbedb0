// What bound tokens and client certificates keep, whoever attacks them: tests of the rows HA.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { readSettings } from "../../src/config/read-settings.js";
import { providerSource, type ApiOptions, type SourcedProviderOptions } from "../../src/index.js";
import { readDocument } from "../../src/provider/provider-metadata.js";
import type { SessionRecord } from "../../src/record/record.js";
import { createTenantFetch } from "../../src/tenants/tenant-fetch.js";
import { signIn, startTestProvider, TestClock } from "../../src/testing/index.js";
import { endScene, isSignedIn, nonceOf, startScene, statusFor } from "../guarantees/dpop-scene.js";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await endScene();
  for (const stop of stops.splice(0).reverse()) await stop();
});

type Answer = (headers: IncomingHttpHeaders, response: ServerResponse) => void;

/** Starts an API that answers as the test says. */
async function startApi(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request.headers, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

const DEMAND = { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "nonce-of-api" };

/** A user of an application whose provider binds tokens, and one API. */
async function application(answer: Answer) {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock, dpop: "required" });
  stops.push(() => provider.stop());
  const orders: ApiOptions = { url: await startApi(answer), path: "/api/orders/" };
  const app = express();
  const auth: ExpressIdpAuth = idpAuth({
    env: { ...provider.env, IDP_DPOP: "true" },
    clock,
    log: () => undefined,
    apis: { orders },
  });
  auth.mount(app);
  app.get("/fetched", async (request, response) => {
    const sent = await auth.fetchApi(request, "orders", "items");
    response.status(sent.status).end();
  });
  app.use(auth.proxyApi("orders"));
  const user = await signIn(createServer(app));
  stops.push(() => user.close());
  const headers = { cookie: user.cookie ?? "", "sec-fetch-site": "same-origin" };
  const get = (path: string) => fetch(`${user.origin}${path}`, { headers, redirect: "manual" });
  return { get, provider };
}

const WAYS = ["/api/orders/items", "/fetched"];

describe("a session's key and the nonce of its provider", () => {
  it("[HA-1] stand in the encrypted record alone", async () => {
    const { user, auth, recordOf, log } = await startScene({
      debug: true,
      provider: { dpopNonce: "always" },
    });
    const one = user();
    const callback = await one.approve();
    const pending = /"d":"([^"]+)"/.exec(await recordOf(one))?.[1] ?? "";
    const shown: unknown[] = [
      await one.get("/idpauth/debug"),
      await auth.readSessionRecord(one.request("/")),
    ];
    await one.get(callback);
    const record = JSON.parse(await recordOf(one)) as SessionRecord;
    const { key, nonce = "" } = record.idp_state.dpop ?? {};
    expect([pending.length, key?.d, nonce]).toEqual([
      43,
      pending,
      expect.stringMatching(/^\S{16,}$/),
    ]);
    const request = one.request("/");
    const { iss, sub } = (await auth.getSession(request))?.claims ?? {};
    shown.push(
      await one.get("/idpauth/debug"),
      await one.get("/idpauth/session"),
      await auth.readSessionRecord(request),
      await auth.getSession(request),
      await auth.getCredentials(request),
      await auth.clientState(request),
      await auth.listSessions({ iss: String(iss), sub: String(sub) }),
      log,
    );
    const text = JSON.stringify(shown);
    expect(text).toContain('"token_type"');
    expect([text.includes(pending), text.includes(nonce)]).toEqual([false, false]);
  });
});

describe("a provider that wants to get rid of the keys", () => {
  it.each([undefined, "Bearer", "bearer", "N_A", "DPoP ", ["DPoP"]])(
    "[HA-2] has no token of the type %j stored or sent, and signs nobody out",
    async (type) => {
      const { expired, provider, recordOf, expire } = await startScene({
        userinfo: "always",
      });
      const one = await expired();
      const before = provider.requestsTo("userinfo").length;
      const issued: unknown[] = [];
      provider.tokenResponse = (tokens) => {
        issued.push(tokens["access_token"]);
        return { ...tokens, token_type: type };
      };
      expect(await statusFor(one)).toBe(503);
      expect(issued).toHaveLength(1);
      expect(await recordOf(one)).not.toContain(issued[0]);
      expect(provider.requestsTo("userinfo")).toHaveLength(before);
      provider.tokenResponse = undefined;
      expire();
      expect(await isSignedIn(one)).toBe(true);
      expect(await recordOf(one)).toContain('"token_type":"DPoP"');
    },
  );

  it.each([
    ["of 8,000 characters", "a".repeat(8_000)],
    ["with a space", "two words"],
    ["with a quotation mark", 'a"b'],
    ["with a letter outside of ASCII", "caf\u00e9"],
    ["without characters", ""],
  ])("[HA-3] has no nonce kept or sent back that is none: %s", async (_what, nonce) => {
    const { expired, provider, requests, expire, recordOf } = await startScene({
      provider: { dpopNonce: "none" },
    });
    const one = await expired();
    const demand = { "dpop-nonce": nonce, "content-type": "application/json" };
    const body = { error: "use_dpop_nonce" };
    const withdraw = provider.fault("token", {
      kind: "status",
      status: 400,
      body,
      headers: demand,
    }) as unknown;
    expect(await statusFor(one)).toBe(503);
    expect(requests().map(nonceOf)).toEqual([undefined]);
    expect(await recordOf(one)).not.toContain('"dpop":{"nonce"');
    if (typeof withdraw === "function") withdraw();
    expire();
    expect(await isSignedIn(one)).toBe(true);
    expect(requests().map(nonceOf)).toEqual([undefined, undefined]);
  });
});

describe("a request with a proof", () => {
  it("[HA-4] to a provider that demands another nonce each time is repeated once", async () => {
    const { expired, provider, requests, expire } = await startScene({
      provider: { dpopNonce: "none" },
    });
    const one = await expired();
    for (const nonce of ["first", "second"])
      provider.fault("token", {
        kind: "status",
        status: 400,
        body: { error: "use_dpop_nonce" },
        headers: { "dpop-nonce": nonce, "content-type": "application/json" },
        times: 1,
      });
    expect(await statusFor(one)).toBe(503);
    expect(requests().map(nonceOf)).toEqual([undefined, "first"]);
    expire();
    expect(await isSignedIn(one)).toBe(true);
    expect(requests().map(nonceOf)).toEqual([undefined, "first", "second"]);
  });

  it.each(WAYS)("[HA-4] to an API that demands another nonce each time, too: %s", async (path) => {
    let calls = 0;
    const { get } = await application((_headers, response) => {
      calls += 1;
      response.writeHead(401, { ...DEMAND, "dpop-nonce": `nonce-${String(calls)}` }).end();
    });
    expect((await get(path)).status).toBeGreaterThanOrEqual(401);
    expect(calls).toBe(2);
  });

  it.each(WAYS)(
    "[HA-4] that an API refuses costs no refresh, nor a repetition: %s",
    async (path) => {
      let calls = 0;
      const { get, provider } = await application((_headers, response) => {
        calls += 1;
        response
          .writeHead(401, { "www-authenticate": 'DPoP error="invalid_dpop_proof", algs="ES256"' })
          .end();
      });
      expect((await get(path)).status).toBe(path === "/fetched" ? 401 : 502);
      expect(calls).toBe(1);
      expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toEqual([]);
    },
  );

  it.each(WAYS)("[HA-4] isn't repeated after a logout: %s", async (path) => {
    const held: ServerResponse[] = [];
    let calls = 0;
    const { get } = await application((_headers, response) => {
      calls += 1;
      if (calls === 1) held.push(response);
      else response.writeHead(200).end();
    });
    const asked = get(path);
    await expect.poll(() => calls).toBe(1);
    expect((await get("/idpauth/logout/?response=json")).status).toBe(200);
    held[0]?.writeHead(401, DEMAND).end();
    expect((await asked).status).toBe(401);
    expect(calls).toBe(1);
  });

  it.each(WAYS)("[HA-6] follows no redirect of an API, nor does its token: %s", async (path) => {
    const elsewhere: IncomingHttpHeaders[] = [];
    const other = await startApi((headers, response) => {
      elsewhere.push(headers);
      response.end();
    });
    const { get } = await application((_headers, response) => {
      response.writeHead(307, { location: `${other}items` }).end();
    });
    expect([307, 502]).toContain((await get(path)).status);
    expect(elsewhere).toEqual([]);
  });

  it("[HA-6] follows no redirect of a provider, and the session stays", async () => {
    const elsewhere: IncomingHttpHeaders[] = [];
    const location = await startApi((headers, response) => {
      elsewhere.push(headers);
      response.end();
    });
    const { expired, provider, expire } = await startScene({ provider: { dpopNonce: "none" } });
    const one = await expired();
    provider.fault("token", { kind: "redirect", status: 307, location, times: 1 });
    expect(await statusFor(one)).toBe(503);
    expect(elsewhere).toEqual([]);
    expire();
    expect(await isSignedIn(one)).toBe(true);
  });
});

describe("a customer whose client has a certificate", () => {
  const { cert, key } = createCertificate({ name: "app" });
  const issuer = "https://idp.customer.example";
  const [{ settings } = {}] = readSettings({
    secretKey: "a long enough secret key for 32 bytes!",
    baseUrl: "https://app.example",
    issuer,
    clientId: "app",
    clientCertificate: cert,
    clientCertificateKey: key,
    tokenEndpointAuthMethod: "tls_client_auth",
  }).providers;
  const network = createTenantFetch();

  const read = (aliases: object) => {
    if (settings === undefined) throw new TypeError("The settings are wrong.");
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/a`,
      token_endpoint: `${issuer}/t`,
      jwks_uri: `${issuer}/k`,
      mtls_endpoint_aliases: aliases,
    };
    return readDocument(
      { status: 200, headers: new Headers(), text: JSON.stringify(document) },
      settings,
      { misconfiguredAs: (reason) => new Error(reason) as never, allows: network.allows },
    );
  };

  it.each([
    "token_endpoint",
    "userinfo_endpoint",
    "revocation_endpoint",
    "pushed_authorization_request_endpoint",
  ])("[HA-7] reaches no private address by the alias of the %s", (name) => {
    for (const host of [
      "10.0.0.1",
      "169.254.169.254",
      "127.0.0.1:8443",
      "[::1]:8443",
      "db.internal",
    ])
      expect(() => read({ [name]: `https://${host}/` }), host).toThrow("address_refused");
    const alias = "https://mtls.customer.example/";
    expect(read({ [name]: alias })).toMatchObject({ [name]: alias });
  });

  it("[HA-7] reaches no private address by a name, and shows it to no http address", async () => {
    if (settings === undefined) throw new TypeError("The settings are wrong.");
    const certified = createTenantFetch({
      lookup: (_name, _options, done) => {
        done(null, [{ address: "10.0.0.1", family: 4 }]);
      },
    }).certified(settings);
    await expect(certified?.fetch("https://mtls.customer.example/")).rejects.toMatchObject({
      reason: "address_refused",
    });
    await expect(certified?.fetch("http://mtls.customer.example/")).rejects.toThrow();
  });

  it.each(["clientCertificate", "clientCertificateKey"])(
    "[HA-7] has no file of this machine read as its %s",
    async (name) => {
      const { another } = await startScene();
      const typed = { issuer, clientId: "app", clientCertificate: cert, clientCertificateKey: key };
      const auth = another({
        ...{ issuer: undefined, clientId: undefined, clientSecret: undefined, dpop: false },
        providers: providerSource({ find: () => undefined }),
      });
      const options = { ...typed, [name]: "file:/dev/zero" } as SourcedProviderOptions;
      const findings = await auth.checkProvider(options);
      expect(findings.map(({ code }) => code)).toEqual(["E006"]);
      expect(JSON.stringify(findings)).not.toContain("/dev/zero");
    },
  );
});
