// A page that calls an API through the proxy, and goes to `login_url` when it gets a 401, as front
// ends do. Whatever the session lacks, it goes there at most once.
import { once } from "node:events";
import http, { type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import { ApiTokenError, type IdpAuthOptions, type LogEntry } from "../../src/index.js";
import {
  CookieBrowser,
  startTestProvider,
  TestClock,
  type TestProvider,
} from "../../src/testing/index.js";

const clock = new TestClock();
let provider: TestProvider;
let api: Server;
let isRejecting = false;
const servers: Server[] = [];
const log: LogEntry[] = [];

async function listen(listener: http.RequestListener): Promise<Server> {
  const server = http.createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return server;
}

const originOf = (server: Server) =>
  `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

beforeEach(async () => {
  log.length = 0;
  provider = await startTestProvider({ clock });
  isRejecting = false;
  api = await listen((request, response) => {
    response.writeHead(isRejecting ? 401 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ authorization: request.headers.authorization }));
  });
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await provider.stop();
});

/** A page of an application, and what it does until the API responds with something but 401. */
async function page(options: Partial<IdpAuthOptions> = {}) {
  const app = express();
  const server = await listen(app);
  const origin = originOf(server);
  const auth: ExpressIdpAuth = idpAuth({
    env: {},
    baseUrl: origin,
    debug: true,
    secretKey: "a secret key of at least 32 bytes",
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    issuer: provider.issuer,
    clock,
    log: (entry) => log.push(entry),
    apis: {
      orders: {
        url: `${originOf(api)}/`,
        path: "/api/orders/",
        resource: "https://orders.example.com",
      },
      billing: { url: `${originOf(api)}/`, path: "/api/billing/", scope: "billing" },
      own: { url: `${originOf(api)}/`, path: "/api/own/" },
    },
    ...options,
  });
  auth.mount(app);
  for (const name of ["orders", "billing", "own"]) app.use(auth.proxyApi(name));
  app.get("/token", auth.idpRequired, async (request, response) => {
    const failure = await auth.fetchApi(request, "orders", "x").then(
      () => undefined,
      (error: unknown) => error as ApiTokenError,
    );
    response.json({ ...failure, isApi: failure instanceof ApiTokenError });
  });
  app.get("/", (_request, response) => void response.send("page"));
  const browser = new CookieBrowser({ origin, now: () => clock.now() });
  await browser.follow("/idpauth/login/");
  return {
    browser,
    get: (path: string) => browser.get(path, { headers: { accept: "application/json" } }),
    /** Calls the API as a page's script, and follows its `login_url`. */
    async calls(path: string) {
      for (let logins = 0; ; logins += 1) {
        const response = await browser.get(path, { headers: { accept: "application/json" } });
        const { login_url: loginUrl } = response.json() as { login_url?: string };
        if (loginUrl === undefined || logins === 4) return { logins, response };
        await browser.follow(loginUrl);
      }
    },
  };
}

describe("a signed-in user whose API has its own token, and no refresh token", () => {
  it("is sent to one login for the API, and gets the token if that brings a refresh token", async () => {
    provider.settings.issueRefreshToken = false;
    const { calls, get } = await page();
    const first = await get("/api/orders/x");
    expect(first.status).toBe(401);
    expect(first.json()).toEqual({
      authenticated: true,
      error: "insufficient_user_authentication",
      login_url: "/idpauth/login/?api=orders",
    });
    provider.settings.issueRefreshToken = true;
    const { logins, response } = await calls("/api/orders/x");
    expect([logins, response.status]).toEqual([1, 200]);
  });

  it("is sent to one login at most, also with several APIs, and then gets 403 with the reason", async () => {
    provider.settings.issueRefreshToken = false;
    const { calls, get, browser } = await page();
    const { logins, response } = await calls("/api/orders/x");
    expect([logins, response.status]).toEqual([1, 403]);
    expect(response.json()).toMatchObject({
      status: 403,
      code: "api_token_missing",
      reason: "no_refresh_token",
    });
    expect((await get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
    for (const path of ["/api/billing/x", "/api/orders/x", "/api/billing/x"]) {
      clock.advance(61_000);
      expect(await calls(path)).toMatchObject({ logins: 0, response: { status: 403 } });
    }
    expect((await browser.get("/token")).json()).toMatchObject({
      isApi: true,
      code: "api_token_missing",
      reason: "no_refresh_token",
    });
    // The session's own token needs none.
    expect((await get("/api/own/x")).status).toBe(200);
    const lines = log.filter(({ code }) => code === "api_token_failed");
    expect(lines.map(({ level, details }) => ({ level, ...details }))).toEqual([
      { level: "warn", reason: "no_refresh_token", api: "orders" },
      { level: "warn", reason: "no_refresh_token", api: "billing" },
    ]);
    expect(lines[0]?.message).toContain("docs/providers/index.md");
  });

  it("who opens the API's address is redirected to one login and back, and then gets a page", async () => {
    provider.settings.issueRefreshToken = false;
    const { browser } = await page();
    const logins = () => provider.requestsTo("authorize").length;
    const before = logins();
    const opened = await browser.follow("/api/orders/x");
    expect([opened.url.pathname, opened.status, logins() - before]).toEqual([
      "/api/orders/x",
      403,
      1,
    ]);
    expect(opened.headers["content-type"]).toContain("text/html");
    expect((await browser.follow("/api/orders/x")).status).toBe(403);
    expect(logins() - before).toBe(1);
  });

  it("gets 403 at once if automatic refresh is off, since no login can help", async () => {
    const { calls, browser } = await page({ sessionAutoRefresh: false });
    const { logins, response } = await calls("/api/orders/x");
    expect([logins, response.status]).toEqual([0, 403]);
    expect(response.json()).toMatchObject({
      code: "api_token_missing",
      reason: "auto_refresh_off",
    });
    expect((await browser.get("/token")).json()).toMatchObject({
      isApi: true,
      code: "api_token_missing",
      reason: "auto_refresh_off",
    });
    const [line] = log.filter(({ code }) => code === "api_token_failed");
    expect(line?.message).toContain("IDP_SESSION_AUTO_REFRESH");
  });

  it("is sent to one login if the provider has refused the refresh token, and not again while it goes on", async () => {
    const { calls } = await page();
    clock.advance(61_000);
    const refuse = () => {
      provider.fault("token", {
        kind: "status",
        status: 400,
        body: { error: "invalid_grant" },
        when: ({ params }) => params.get("grant_type") === "refresh_token",
      });
    };
    refuse();
    const { logins, response } = await calls("/api/orders/x");
    expect([logins, response.status]).toEqual([1, 403]);
    expect(response.json()).toMatchObject({ reason: "refresh_rejected" });
    provider.clearFaults();
    clock.advance(61_000);
    expect(await calls("/api/orders/x")).toMatchObject({ logins: 1, response: { status: 200 } });
  });

  it.each(["/api/orders/x", "/api/own/x"])(
    "or whose token the API rejects and the provider doesn't renew, is sent to one login (%s)",
    async (path) => {
      const { calls, get } = await page();
      expect((await get(path)).status).toBe(200);
      const refusing = (api: boolean) => {
        isRejecting = api;
        provider.fault("token", {
          kind: "status",
          status: 400,
          body: { error: "invalid_grant" },
          when: ({ params }) => params.get("grant_type") === "refresh_token",
        });
      };
      refusing(true);
      const rejected = await get(path);
      expect([rejected.status, rejected.json()]).toEqual([
        401,
        {
          authenticated: true,
          error: "insufficient_user_authentication",
          login_url: `/idpauth/login/?api=${path.split("/")[2]!}`,
        },
      ]);
      // The API rejects every token, and the provider refuses every refresh.
      expect((await calls(path)).logins).toBeLessThanOrEqual(1);
      isRejecting = false;
      provider.clearFaults();
      clock.advance(61_000);
      expect(await calls(path)).toMatchObject({ logins: 1, response: { status: 200 } });
    },
  );

  it.each(["interaction_required", "consent_required", "login_required"])(
    "or of whom the provider demands more and more (%s), is sent to one login at most",
    async (error) => {
      const { calls } = await page();
      provider.fault("token", {
        kind: "status",
        status: 400,
        body: { error },
        when: ({ params }) =>
          params.has("resource") && params.get("grant_type") === "refresh_token",
      });
      const { logins, response } = await calls("/api/orders/x");
      expect([logins, response.status]).toEqual([1, 502]);
      clock.advance(61_000);
      provider.clearFaults();
      expect(await calls("/api/orders/x")).toMatchObject({ logins: 0, response: { status: 200 } });
    },
  );
});

describe("a signed-in user whose own token has expired, without a refresh token", () => {
  it("is sent to one login, which brings the next one", async () => {
    provider.settings.issueRefreshToken = false;
    provider.settings.accessTokenSeconds = 120;
    const { calls, get } = await page();
    expect((await get("/api/own/x")).status).toBe(200);
    clock.advance(121_000);
    expect((await get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
    expect((await get("/api/own/x")).json()).toMatchObject({
      authenticated: true,
      login_url: "/idpauth/login/?api=own",
    });
    expect(await calls("/api/own/x")).toMatchObject({ logins: 1, response: { status: 200 } });
  });

  it("gets 403 if each token has expired when it comes", async () => {
    provider.settings.issueRefreshToken = false;
    provider.settings.accessTokenSeconds = 0;
    const { calls } = await page();
    const { logins, response } = await calls("/api/own/x");
    expect([logins, response.status]).toEqual([0, 403]);
    expect(response.json()).toMatchObject({ code: "api_token_missing", reason: "token_expired" });
  });
});
