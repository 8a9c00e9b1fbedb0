import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { Server as NetServer, type AddressInfo, type ListenOptions } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import express from "express";
import type { createClient as createRedisClient } from "redis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { instrument, type Instrumentable } from "../../src/opentelemetry/instrument.js";
import * as kit from "../../src/testing/index.js";
import { getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { WebSocket } from "ws";
import { buildPackage } from "../support/build.js";
import { freePort } from "../support/free-port.js";
import { startConnectProxy } from "../support/connect-proxy.js";
import { startRedis } from "../support/redis-server.js";

// The files of docs/snippets, which the pages show, each run as an application loads it. What a
// file does not set comes from the test: the provider and its clock.

const given = vi.hoisted(
  (): {
    options: IdpAuthOptions;
    apis?: string;
    auths: unknown[];
    clients: { destroy(): void }[];
  } => ({
    options: {},
    auths: [],
    clients: [],
  }),
);

interface Entry {
  readonly idpAuth: (options?: IdpAuthOptions) => unknown;
}

/**
 * Replaces `idpAuth` by one that has the test's provider and clock, and the test's API in place of
 * the APIs.
 */
const withProvider = vi.hoisted(() => async (original: () => Promise<unknown>) => {
  const entry = (await original()) as Entry;
  const idpAuth = ({ apis, ...options }: IdpAuthOptions = {}) => {
    const rows = Object.entries(apis ?? {}).map(([name, api]) => {
      const url = new URL(api?.url ?? "");
      return [name, { ...api, url: `${given.apis ?? url.origin}${url.pathname}` }] as const;
    });
    const auth = entry.idpAuth({
      ...given.options,
      ...options,
      ...(apis && { apis: Object.fromEntries(rows) }),
    });
    given.auths.push(auth);
    return auth;
  };
  return { ...entry, idpAuth };
});

vi.mock("../../src/adapters/express/express.js", (original) => withProvider(original));
vi.mock("../../src/adapters/fetch/fetch.js", (original) => withProvider(original));
vi.mock("../../src/adapters/fastify/fastify.js", (original) => withProvider(original));
vi.mock("../../src/adapters/hono/hono.js", (original) => withProvider(original));
vi.mock("../../src/adapters/koa/koa.js", (original) => withProvider(original));
vi.mock("../../src/adapters/node/node.js", (original) => withProvider(original));

/** Behaves as zod does for the schema of a file, because idpauth doesn't install zod. */
vi.mock("zod", () => {
  const text = { default: () => text };
  const object = () => ({
    "~standard": {
      version: 1,
      vendor: "zod",
      validate: (claims: { groups?: unknown }) => ({ value: { groups: claims.groups ?? [] } }),
    },
  });
  return { z: { string: () => text, array: () => text, object } };
});

/** Collects the clients, which a file leaves connected, because its process exits. */
vi.mock("redis", async (original) => {
  const redis = await original<{ createClient: typeof createRedisClient }>();
  const createClient = ((options) => {
    const client = redis.createClient(options);
    given.clients.push(client);
    return client;
  }) as typeof createRedisClient;
  return { ...redis, createClient };
});

const SNIPPETS = path.resolve(import.meta.dirname, "../../docs/snippets");
/**
 * test/docs/apple.test.ts, test/docs/live-connections.test.ts, test/docs/shutdown.matrix.test.ts,
 * test/samples/shutdown-with-stores.matrix.test.ts,
 * test/docs/link-accounts.test.ts, test/docs/entra-id.test.ts,
 * test/docs/testing-first-sample.test.ts, test/docs/same-settings.test.ts,
 * test/events/access-logs.test.ts, test/browser/http-clients.browser.matrix.test.ts,
 * test/browser/helmet.browser.matrix.test.ts, test/browser/libraries.browser.matrix.test.ts and
 * test/browser/step-up.browser.matrix.test.ts run these.
 */
const RUN_ELSEWHERE =
  /^access-logs\/|^apple\/|^live-connections\/|^production\/|^stores\/|^tenants\/|^entra-id\/|^user-table\/link|^csrf\/helmet|^html-libraries\/|^http-clients\/|^same-settings\/|^step-up\/browser|^testing\/reports/;
const ADA = {
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  groups: ["admin", "staff"],
  locale: "en",
};
const GRACE = { email: "grace@example.com", email_verified: true, groups: ["staff"] };
const HOUR = 3_600_000;

let provider: kit.TestProvider;
let user: kit.TestBrowser | undefined;
let runs = 0;

beforeEach(async () => {
  provider = await kit.startTestProvider({ person: GRACE });
  given.options = {
    env: provider.env,
    clock: provider.clock,
    log: false,
    clientData: ({ data }) => data,
  };
  given.auths.length = 0;
});

/** Those of the test runner. The files add their own. */
const signalHandlers = process.listeners("SIGTERM");

afterEach(async () => {
  vi.restoreAllMocks();
  for (const added of process.listeners("SIGTERM"))
    if (!signalHandlers.includes(added)) process.removeListener("SIGTERM", added);
  await user?.close();
  user = undefined;
  await provider.stop();
});

const loaded = new Set<string>();

/** Loads a file of docs/snippets. @param isNew whether the file runs although it ran before */
async function load<Exports>(file: string, isNew = true): Promise<Exports> {
  loaded.add(file);
  return (await import(`${SNIPPETS}/${file}${isNew ? `?run=${++runs}` : ""}`)) as Exports;
}

/** Opens a browser at the application that a file exports. */
async function open(file: string): Promise<kit.TestBrowser> {
  const { app } = await load<{ app: kit.TestedApplication }>(file);
  return (user = await kit.browser(app));
}

/**
 * Loads a file that listens, and opens a browser at its application. Its server listens on a free
 * port.
 */
async function openListening(
  file: string,
  prepare: (server: Server) => void = () => undefined,
): Promise<kit.TestBrowser> {
  const servers: Server[] = [];
  const listen = NetServer.prototype.listen as (
    options: ListenOptions,
    done?: () => void,
  ) => Server;
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  const spy = vi.spyOn(NetServer.prototype, "listen").mockImplementation(function (
    this: Server,
    ...parameters: unknown[]
  ) {
    servers.push(this);
    prepare(this);
    const done = parameters.find((one) => typeof one === "function") as (() => void) | undefined;
    return listen.call(this, { port: 0, host: "127.0.0.1" }, done);
  });
  await load(file);
  spy.mockRestore();
  const [server] = servers;
  if (server === undefined) throw new Error(`${file} doesn't listen.`);
  return (user = await kit.browser(server));
}

describe.each(["home", "start"])("docs/snippets/%s", (folder) => {
  const files =
    folder === "home"
      ? ["express", "fastify", "hono", "koa"]
      : ["express", "fastify", "hono", "koa", "node"];

  it.each(files)("%s.ts signs a user in who opens /reports, and shows it", async (name) => {
    provider.person = ADA;
    const browser = await openListening(`${folder}/${name}.ts`);
    expect((await browser.get("/reports")).status).toBe(401);
    const page = await browser.follow("/reports");
    expect([page.status, page.json()]).toEqual([
      200,
      expect.objectContaining({ hello: "Ada Lovelace" }),
    ]);
    if (folder === "start")
      expect((await browser.navigate("/")).text).toBe('<a href="/reports">Reports</a>');
  });
});

describe("docs/snippets/authorization", () => {
  it("staff.mjs allows only staff", async () => {
    const browser = await open("authorization/staff.mjs");
    expect((await browser.follow("/idpauth/login/")).status).toBe(200);
    provider.person = { email: "eve@example.org", email_verified: true };
    expect((await browser.follow("/idpauth/login/")).status).toBe(403);
  });

  it("routes.mjs guards routes by group and by data", async () => {
    const browser = await open("authorization/routes.mjs");
    await browser.follow("/idpauth/login/");
    expect([(await browser.get("/admin")).status, (await browser.get("/billing")).text]).toEqual([
      403,
      "passed",
    ]);
    provider.person = { ...ADA, locale: "de" };
    await browser.follow("/idpauth/login/");
    expect([(await browser.get("/admin")).text, (await browser.get("/billing")).status]).toEqual([
      "passed",
      403,
    ]);
  });

  it("forbidden.mjs sends the application's own 403", async () => {
    const browser = await open("authorization/forbidden.mjs");
    await browser.follow("/idpauth/login/");
    const response = await browser.get("/admin");
    expect([response.status, response.text]).toEqual([403, "Ask your team lead for access."]);
  });

  it("rules.mjs combines rules", async () => {
    const browser = await open("authorization/rules.mjs");
    const publish = async (person: kit.PersonClaims) => {
      provider.person = person;
      await browser.follow("/idpauth/login/");
      return (await browser.get("/articles", { method: "POST" })).status;
    };
    expect(await publish({ ...GRACE, groups: ["editor"] })).toBe(200);
    expect(await publish({ ...GRACE, groups: ["author"] })).toBe(200);
    expect(await publish({ ...GRACE, groups: ["author"], email_verified: false })).toBe(403);
  });

  it("refresh.mjs decides again after each refresh", async () => {
    const { roles } = await load<{
      roles: { find: (iss: string, sub: string) => Promise<string | undefined> };
    }>("authorization/roles.mjs", false);
    let role: string | undefined = "reader";
    vi.spyOn(roles, "find").mockImplementation(async () => role);
    const browser = await open("authorization/refresh.mjs");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/reports")).text).toBe("passed");
    role = "writer";
    provider.clock.advance(HOUR + 1000);
    expect((await browser.get("/reports")).status).toBe(403);
    role = undefined;
    provider.clock.advance(HOUR + 1000);
    expect((await browser.get("/reports")).json()).toMatchObject({ reason: "denied" });
  });
});

/** Replaces the application's database. @returns the values of each query */
async function queriesOf(): Promise<unknown[][]> {
  interface Pool {
    query: (text: string, values: unknown[]) => Promise<{ rows: { id: string }[] }>;
  }
  const queries: unknown[][] = [];
  const { pool } = await load<{ pool: Pool }>("user-table/pool.mjs", false);
  vi.spyOn(pool, "query").mockImplementation(async (_text, values) => {
    queries.push(values);
    return { rows: [{ id: "7" }] };
  });
  return queries;
}

describe("docs/snippets/audit-log", () => {
  it("sign-in.mjs writes a row before the session begins", async () => {
    const queries = await queriesOf();
    const browser = await open("audit-log/sign-in.mjs");
    expect((await browser.follow("/idpauth/login/")).status).toBe(200);
    expect(queries).toEqual([[provider.issuer, expect.any(String), null]]);
  });
});

describe("docs/snippets/forward-auth", () => {
  const PAGE = { "sec-fetch-mode": "navigate" };

  it("nginx.mjs lets nginx check a request, and sends a user to the login", async () => {
    const browser = await openListening("forward-auth/nginx.mjs");
    expect((await browser.get("/auth/check")).status).toBe(401);
    expect(
      (await browser.get("/auth/login", { headers: { "x-original-uri": "/dashboard" } })).status,
    ).toBe(401);
    const login = await browser.get("/auth/login", {
      headers: { ...PAGE, "x-original-uri": "/dashboard" },
    });
    expect([login.status, login.headers.location]).toEqual([
      302,
      expect.stringContaining("/idpauth/login/"),
    ]);
    await browser.follow("/idpauth/login/");
    const check = await browser.get("/auth/check");
    expect([check.status, check.headers["x-user"]]).toEqual([204, expect.any(String)]);
  });

  it("traefik.mjs lets Traefik check a request, and sends a user to the login", async () => {
    const browser = await open("forward-auth/traefik.mjs");
    expect((await browser.get("/auth/check")).status).toBe(401);
    const login = await browser.get("/auth/check", {
      headers: { ...PAGE, "x-forwarded-method": "GET", "x-forwarded-uri": "/dashboard" },
    });
    expect([login.status, login.headers.location]).toEqual([
      302,
      expect.stringContaining("/idpauth/login/"),
    ]);
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/auth/check")).status).toBe(204);
  });
});

describe("docs/snippets/migrate", () => {
  it.each([
    ["auth-js.ts", "__Secure-authjs.session-token", "/auth/signin"],
    ["better-auth.ts", "__Secure-better-auth.session_token", "/sign-in"],
  ])(
    "%s accepts both sessions, moves new sign-ins with a setting, keeps the user's id, and ends the old session",
    async (file, oldCookie, oldSignIn) => {
      const { pool } = await load<{
        pool: { query: (text: string, values: string[]) => Promise<{ rows: object[] }> };
      }>("user-table/pool.mjs", false);
      let rows: object[] = [{ userId: "u7" }];
      const query = vi.spyOn(pool, "query").mockImplementation(async () => ({ rows }));
      const { old } = await load<{
        old: {
          userId: (req: unknown) => Promise<string | undefined>;
          endSession: (req: unknown) => Promise<void>;
        };
      }>("migrate/old.ts", false);
      vi.spyOn(old, "userId").mockResolvedValue("u3");
      const endSession = vi.spyOn(old, "endSession").mockResolvedValue();
      const browser = await open(`migrate/${file}`);
      expect((await browser.get("/orders")).json()).toBe("u3");

      await browser.follow("/idpauth/login/");
      expect(query.mock.lastCall?.[1]).toEqual([expect.any(String)]);
      const orders = await browser.get("/orders", {
        headers: { cookie: `${browser.cookie}; ${oldCookie}=old; theme=dark` },
      });
      expect(orders.json()).toBe("u7");
      expect(orders.headers["set-cookie"]).toEqual([
        expect.stringMatching(new RegExp(`^${oldCookie}=; Path=/; Expires=.*1970.*; Secure$`)),
      ]);
      expect(endSession).toHaveBeenCalledTimes(1);
      await browser.get("/sign-out", { headers: { cookie: `${oldCookie}=copied` } });
      expect(endSession).toHaveBeenCalledTimes(2);

      vi.spyOn(old, "userId").mockResolvedValue(undefined);
      await browser.follow("/sign-out");
      expect((await browser.get("/orders")).headers.location).toBe(oldSignIn);
      vi.stubEnv("SIGN_IN_WITH", "idpauth");
      expect((await browser.get("/orders")).status).toBe(401);
      vi.unstubAllEnvs();
      rows = [];
      expect((await browser.follow("/idpauth/login/")).status).toBe(403);
    },
  );

  it("oauth2-proxy.mjs sends oauth2-proxy's headers for staff only", async () => {
    const browser = await open("migrate/oauth2-proxy.mjs");
    expect((await browser.get("/auth/check")).status).toBe(401);
    await browser.follow("/idpauth/login/");
    const check = await browser.get("/auth/check");
    expect([check.status, check.headers["x-auth-request-email"]]).toEqual([204, GRACE.email]);
    expect(check.headers["x-auth-request-user"]).toEqual(expect.any(String));
    provider.person = { ...GRACE, groups: ["guests"] };
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/auth/check")).status).toBe(403);
  });
});

describe("docs/snippets/user-table", () => {
  let queries: unknown[][] = [];
  beforeEach(async () => {
    queries = await queriesOf();
  });

  it("sign-in.mjs stores the user's id when they sign in", async () => {
    const browser = await open("user-table/sign-in.mjs");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/orders")).json()).toBe(7);
    expect(queries).toEqual([[provider.issuer, expect.any(String), "grace@example.com"]]);
  });

  it("sign-in-again.mjs changes the newest data when the user signs in again", async () => {
    const browser = await open("user-table/sign-in-again.mjs");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/idpauth/session?details=true")).json()).toMatchObject({
      data: { theme: "light", userId: 7 },
    });
  });

  it("change.mjs changes the data later", async () => {
    const browser = await open("user-table/change.mjs");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/theme", { method: "POST" })).json()).toEqual({
      userId: 7,
      theme: "dark",
    });
  });

  it("older.ts reads the id, and reports a session that has none", async () => {
    const browser = await open("user-table/older.ts");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/orders")).json()).toBe(7);
    const [auth] = given.auths;
    const cookie = await kit.signedInAs(auth as kit.SignsInForTests, GRACE);
    expect((await browser.get("/orders", { headers: { cookie } })).json()).toContain(
      "This session is older than the hook.",
    );
  });

  it("sign-out.mjs records when a session ends", async () => {
    const browser = await open("user-table/sign-out.mjs");
    await browser.follow("/idpauth/login/");
    await browser.follow("/idpauth/logout/");
    await expect
      .poll(() => queries)
      .toEqual([[provider.issuer, expect.any(String), "logout", undefined]]);
  });
});

describe("docs/snippets/users-and-claims", () => {
  it("session.mjs shows the user", async () => {
    provider.person = ADA;
    const browser = await open("users-and-claims/session.mjs");
    await browser.follow("/idpauth/login/");
    const since = expect.any(Number) as number;
    expect((await browser.get("/profile")).json()).toEqual({
      name: "Ada Lovelace",
      locale: "en",
      since,
    });
  });

  it("schema.ts gives claims a type and a default", async () => {
    provider.person = { email: "grace@example.com" };
    const browser = await open("users-and-claims/schema.ts");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/groups")).json()).toEqual([]);
  });

  it("version.mjs validates the claims with the schema", async () => {
    const browser = await open("users-and-claims/version.mjs");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/groups")).json()).toEqual(["staff"]);
  });

  it("userinfo.mjs requests the userinfo endpoint when a user signs in", async () => {
    const browser = await open("users-and-claims/userinfo.mjs");
    expect((await browser.follow("/idpauth/login/")).status).toBe(200);
    expect(provider.requestsTo("userinfo")).toHaveLength(1);
  });

  it("client-data.mjs shows a browser no more than it may see", async () => {
    const browser = await open("users-and-claims/client-data.mjs");
    await browser.follow("/idpauth/login/");
    const state = (await browser.get("/app")).json();
    expect(state).toMatchObject({
      authenticated: true,
      user: { email: "grace@example.com" },
      data: { isAdmin: false },
    });
    expect(JSON.stringify(state)).not.toContain(provider.clientSecret);
  });
});

describe("docs/snippets/step-up", () => {
  it("routes.mjs requires a recent sign-in, or a strong one", async () => {
    const browser = await open("step-up/routes.mjs");
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/transfer", { method: "POST" })).text).toBe("passed");
    provider.clock.advance(660_000);
    expect((await browser.get("/transfer", { method: "POST" })).status).toBe(401);
    expect((await browser.follow("/transfer")).text).toBe("passed");
    expect((await browser.get("/transfer", { method: "POST" })).text).toBe("passed");
    expect(
      (await browser.get("/payout", { method: "POST" })).headers["www-authenticate"],
    ).toContain("acr_values=");
  });

  it("test.mjs tests a step-up without a provider", async () => {
    const { app } = await load<{ app: kit.TestedApplication }>("step-up/routes.mjs", false);
    user = await kit.browser(app);
    const { origin } = user;
    const request = globalThis.fetch;
    vi.stubGlobal("fetch", (url: string, init: RequestInit) =>
      request(url.replace("http://localhost:3000", origin), init),
    );
    const { response } = await load<{ response: Response }>("step-up/test.mjs").finally(() =>
      vi.unstubAllGlobals(),
    );
    expect(response.status).toBe(401);
  });
});

describe("docs/snippets/telemetry", () => {
  it("app.mjs instruments its `auth`", async () => {
    const { auth } = await load<{ auth: Instrumentable }>("telemetry/app.mjs");
    expect(() => instrument(auth)).toThrow("instrumented already");
  });
});

describe("docs/snippets/many-origins", () => {
  const at = (host: string) => ({
    headers: {
      "sec-fetch-mode": "navigate",
      "x-forwarded-host": host,
      "x-forwarded-proto": "https",
    },
  });
  const redirectUri = ({ headers }: kit.BrowserResponse) =>
    new URL(String(headers["location"])).searchParams.get("redirect_uri");

  it("list.ts serves the origins of the list, and no other", async () => {
    const browser = await open("many-origins/list.ts");
    const login = await browser.get("/idpauth/login/", at("acme.app.example.com"));
    expect(redirectUri(login)).toBe("https://acme.app.example.com/idpauth/login-callback");
    for (const host of ["a.b.app.example.com", "app.example.org"])
      expect((await browser.get("/idpauth/login/", at(host))).status).toBe(421);
  });

  it("function.ts serves the shops, each at its main host", async () => {
    await load("many-origins/shops.ts", false);
    const { auth } = await load<{ auth: ExpressIdpAuth }>("many-origins/function.ts");
    const app = express();
    app.set("trust proxy", 1);
    auth.mount(app);
    const browser = (user = await kit.browser(app));
    const login = await browser.get("/idpauth/login/", at("shop.customer.example"));
    expect(redirectUri(login)).toBe("https://shop.customer.example/idpauth/login-callback");
    const first = await browser.get("/idpauth/login/", at("www.shop.customer.example"));
    expect(first.headers.location).toMatch(/^https:\/\/shop\.customer\.example\/idpauth\/login\//);
    expect((await browser.get("/idpauth/login/", at("evil.example"))).status).toBe(421);
  });
});

describe("docs/snippets/login-parameters", () => {
  const requested = () => provider.requestsTo("authorize").at(-1)?.query;

  it("every-login.mjs sends the same parameters with every login", async () => {
    await (await open("login-parameters/every-login.mjs")).follow("/idpauth/login/");
    expect(requested()?.get("audience")).toBe("https://api.example.com");
  });

  it("one-login.mjs sends the parameters of one login", async () => {
    const { url } = await (await open("login-parameters/one-login.mjs")).follow("/welcome");
    expect([requested()?.get("login_hint"), requested()?.get("ui_locales")]).toEqual([
      "ada@example.com",
      "de",
    ]);
    expect(url.pathname).toBe("/reports");
  });

  it("check-claim.mjs verifies the claim", async () => {
    const browser = await open("login-parameters/check-claim.mjs");
    expect((await browser.follow("/reports")).status).toBe(403);
    provider.person = { ...GRACE, hd: "example.com" };
    await browser.follow("/idpauth/login/");
    expect((await browser.follow("/reports")).text).toBe("The reports");
  });

  it("silent.mjs checks once for a session at the provider", async () => {
    provider = await provider.stop().then(() => kit.startTestProvider());
    given.options = { ...given.options, env: provider.env, clock: provider.clock };
    const browser = await open("login-parameters/silent.mjs");
    const signedOut = await browser.follow("/");
    expect([signedOut.status, signedOut.url.search, signedOut.text]).toEqual([
      200,
      "?checked=yes",
      "Welcome",
    ]);
    expect(requested()?.get("prompt")).toBe("none");
    expect((await browser.follow("/?checked=yes")).trail).toHaveLength(1);
    await browser.follow("/idpauth/login/");
    expect((await browser.follow("/")).trail).toHaveLength(1);
  });
});

describe("docs/snippets/reaching-the-provider", () => {
  it("proxy.mjs sends the requests to the provider through the proxy of the environment", async () => {
    const proxy = await startConnectProxy();
    const dispatcher = getGlobalDispatcher();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    vi.stubEnv("NO_PROXY", "");
    try {
      const browser = await open("reaching-the-provider/proxy.mjs");
      expect((await browser.follow("/idpauth/login/")).status).toBe(200);
      expect(new Set(proxy.targets)).toContain(new URL(provider.issuer).host);
    } finally {
      vi.unstubAllEnvs();
      setGlobalDispatcher(dispatcher);
      await proxy.stop();
    }
  });
});

describe("docs/snippets/keys", () => {
  it("service.mjs signs in with a key that a service keeps", async () => {
    const { keyService } = await load<{ keyService: { publicJwk: { kid: string } } }>(
      "keys/key-service.mjs",
      false,
    );
    provider.settings.clientJwks = [keyService.publicJwk];
    given.options = { ...given.options, env: provider.env };
    expect((await (await open("keys/service.mjs")).follow("/idpauth/login/")).status).toBe(200);
    expect(
      provider
        .requestsTo("token")
        .map(({ params }) => [params.has("client_assertion"), params.has("client_secret")]),
    ).toEqual([[true, false]]);
  });
});

/** An API that records the requests it gets, and upgrades to WebSockets. */
async function startApi() {
  const requests: {
    method: string;
    target: string;
    token: string;
    headers: IncomingMessage["headers"];
  }[] = [];
  const api = { requests, bodies: [] as string[], aborted: 0, status: 200, stop: () => api };
  const record = ({ method = "", url = "", headers }: IncomingMessage) => {
    requests.push({
      method,
      target: url,
      token: (headers.authorization ?? "").replace("Bearer ", ""),
      headers,
    });
  };
  const server = createServer((request, response) => {
    record(request);
    let body = "";
    request
      .on("data", (chunk: Buffer) => (body += chunk.toString()))
      .once("error", () => (api.aborted += 1))
      .once("end", () => {
        api.bodies.push(body);
        response.writeHead(api.status, { "Content-Type": "application/json" }).end('["order 1"]');
      });
  });
  server.on("upgrade", (request, socket) => {
    record(request);
    socket.end(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello",
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  given.apis = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  api.stop = () => {
    delete given.apis;
    server.closeAllConnections();
    server.close();
    return api;
  };
  return api;
}

describe("docs/snippets/call-an-api", () => {
  let api: Awaited<ReturnType<typeof startApi>>;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => {
    api.stop();
  });

  const refreshes = () =>
    provider
      .requestsTo("token")
      .filter(({ params }) => params.get("grant_type") === "refresh_token");

  it.each(["express", "fastify", "hono", "koa"])(
    "%s.mjs sends the session's token, and a new one after a 401",
    async (name) => {
      const browser = await open(`call-an-api/${name}.mjs`);
      expect((await browser.get("/open-orders")).status).toBe(401);
      await browser.follow("/idpauth/login/");
      expect((await browser.get("/open-orders")).json()).toEqual(["order 1"]);
      const newest = () => provider.issued.findLast(({ kind }) => kind === "access_token")?.value;
      expect(api.requests).toMatchObject([
        { method: "GET", target: "/v2/items?open=true", token: newest() },
      ]);
      api.status = 401;
      expect((await browser.get("/open-orders")).status).toBe(502);
      expect(api.requests.map(({ token }) => token)).toEqual([
        api.requests[0]?.token,
        api.requests[0]?.token,
        newest(),
      ]);
      expect(api.requests[2]?.token).not.toBe(api.requests[0]?.token);
    },
  );

  it("table.mjs requests a token for each API", async () => {
    const browser = await open("call-an-api/table.mjs");
    await browser.follow("/idpauth/login/");
    const asked = provider.requestsTo("authorize").at(-1)?.query;
    expect([asked?.getAll("resource"), asked?.has("audience"), asked?.get("scope")]).toEqual([
      ["https://orders.example.com"],
      false,
      expect.stringContaining("calendar.readonly"),
    ]);
    expect((await browser.get("/calls")).json()).toEqual([200, 200, 200]);
    const parameters = ["resource", "audience", "scope"].map((name) =>
      refreshes().flatMap(({ params }) => params.get(name) ?? []),
    );
    expect(parameters).toEqual([
      ["https://orders.example.com"],
      ["https://billing.example.com"],
      ["https://www.googleapis.com/auth/calendar.readonly"],
    ]);
    expect(new Set(api.requests.map(({ token }) => token)).size).toBe(3);
  });

  it("consent.mjs gives a login that requests what is missing, and remembers the refusal for a minute", async () => {
    const browser = await open("call-an-api/consent.mjs");
    await browser.follow("/idpauth/login/");
    const error = {
      status: 400,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ error: "consent_required" }),
    };
    const consent = provider.fault("token", { kind: "status", ...error });
    const blocked = await browser.get("/invoices");
    expect([blocked.status, blocked.json()]).toEqual([
      401,
      { authenticated: true, login_url: "/idpauth/login/?api=billing" },
    ]);
    expect([(await browser.get("/invoices")).status, refreshes().length]).toEqual([401, 1]);
    provider.clock.advance(61_000);
    consent();
    expect((await browser.get("/invoices")).status).toBe(200);
  });

  it("token.mjs sends a new token once if the API refuses one", async () => {
    const browser = await open("call-an-api/token.mjs");
    await browser.follow("/idpauth/login/");
    const original = globalThis.fetch;
    vi.spyOn(globalThis, "fetch").mockImplementation((url, init) =>
      original(
        typeof url === "string" ? url.replace("https://orders.internal", given.apis ?? "") : url,
        init,
      ),
    );
    expect((await browser.get("/orders")).json()).toEqual(["order 1"]);
    api.status = 401;
    expect((await browser.get("/orders")).status).toBe(502);
    expect([
      api.requests.length,
      new Set(api.requests.map(({ token }) => token)).size,
      refreshes().length,
    ]).toEqual([3, 2, 2]);
  });
});

describe("docs/snippets/write-an-api", () => {
  const resource = "https://orders.example.com";
  let api: Server | undefined;
  afterEach(() => {
    vi.unstubAllEnvs();
    api?.close();
  });

  async function startChecking(jwks = `${provider.issuer}/jwks`): Promise<string> {
    vi.stubEnv("IDP_ISSUER", provider.issuer);
    vi.stubEnv("JWKS_URI", jwks);
    vi.stubEnv("PORT", "0");
    const listen = vi.spyOn(NetServer.prototype, "listen");
    await load("write-an-api/express.mjs");
    api = listen.mock.contexts.at(-1) as Server;
    listen.mockRestore();
    if (!api.listening) await once(api, "listening");
    return `http://127.0.0.1:${String((api.address() as AddressInfo).port)}/`;
  }

  /** Signs Ada in to an application that calls the API. */
  async function openApplication(url: string): Promise<kit.TestBrowser> {
    const app = express();
    const auth = idpAuth({
      apis: {
        orders: { url, path: "/api/", resource, scope: ["orders"] },
        unscoped: { url, resource, scope: ["profile"] },
        billing: { url, resource: "https://billing.example.com", scope: ["orders"] },
      },
    });
    auth.mount(app);
    app.use(auth.proxyApi("orders"));
    app.get("/token/:api", async (req, res) =>
      res.json(
        await auth.getAccessToken(req, {
          api: req.params.api as "orders" | "unscoped" | "billing",
        }),
      ),
    );
    user = await kit.browser(app);
    await user.follow("/idpauth/login/");
    return user;
  }

  /** What the API sends for a token. */
  async function call(url: string, token?: string): Promise<[number, string | null]> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}orders`, { headers });
    return [response.status, response.headers.get("www-authenticate")];
  }

  it("express.mjs accepts only access tokens for this API that have its scope", async () => {
    const url = await startChecking();
    const browser = await openApplication(url);
    const tokenFor = async (name: string) => (await browser.get(`/token/${name}`)).json() as string;
    const idToken = provider.issued.findLast(({ kind }) => kind === "id_token")?.value;
    const token = await tokenFor("orders");
    const [header = "", , signature = ""] = token.split(".");
    const claims = { iss: provider.issuer, aud: resource, scope: "orders", sub: "eve", exp: 9e9 };
    const forged = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const invalid = 'Bearer error="invalid_token"';
    expect([
      await call(url, token),
      await call(url, await tokenFor("unscoped")),
      await call(url, await tokenFor("billing")),
      await call(url, idToken),
      await call(url, `${header}.${forged}.${signature}`),
      await call(url),
    ]).toEqual([
      [200, null],
      [403, 'Bearer error="insufficient_scope"'],
      [401, invalid],
      [401, invalid],
      [401, invalid],
      [401, "Bearer"],
    ]);
    expect((await browser.get("/api/orders")).status).toBe(200);
  });

  it("express.mjs responds with 503 while it can't get the keys", async () => {
    const url = await startChecking(`http://127.0.0.1:${String(await freePort())}/`);
    const browser = await openApplication(url);
    const token = (await browser.get("/token/orders")).json() as string;
    expect(await call(url, token)).toEqual([503, null]);
  });

  it("express.mjs requires a step-up if the user authenticated too long ago", async () => {
    const pay = async (seconds: number) => {
      provider.person = { ...ADA, auth_time: Math.floor(Date.now() / 1000) - seconds };
      const browser = await openApplication(await startChecking());
      const headers = { "sec-fetch-site": "same-origin" };
      return (await browser.get("/api/payments", { method: "POST", headers })).json();
    };
    expect(await pay(60)).toEqual({ paid: true });
    await user?.close();
    api?.close();
    expect(await pay(600)).toMatchObject({
      error: "insufficient_user_authentication",
      login_url: expect.stringContaining("max_age=300") as string,
    });
  });
});

describe("docs/snippets/single-page-applications", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-front-end-"));
    vi.spyOn(process, "cwd").mockReturnValue(folder);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const APP = "single-page-applications/fastify/app.mjs";
  const SERVER = "single-page-applications/fastify/server.mjs";

  it("fastify/server.mjs serves the API and the built front end, with one page for all views, and stops after SIGTERM", async () => {
    await load(APP, false); // the file imports it
    mkdirSync(path.join(folder, "dist"));
    writeFileSync(path.join(folder, "dist/index.html"), "the page");
    writeFileSync(path.join(folder, "dist/main.js"), "the script");
    await stopsAfter(SERVER, async (browser) => {
      const paths = ["/", "/users/ada?tab=1", "/main.js", "/missing.js", "/api/none", "/api/items"];
      const responses = await Promise.all(paths.map((one) => browser.get(one)));
      const policy = expect.stringContaining("script-src 'self'") as string;
      expect(
        responses
          .slice(0, 3)
          .map(({ text, headers }) => [text, headers["content-security-policy"]]),
      ).toEqual([
        ["the page", policy],
        ["the page", policy],
        ["the script", policy],
      ]);
      expect(responses.slice(3).map(({ status }) => status)).toEqual([404, 404, 401]);
      const post = async (site: string, text: string) => {
        const headers = { "sec-fetch-site": site, "content-type": "application/json" };
        const body = JSON.stringify({ text });
        return (await browser.get("/api/items", { method: "POST", headers, body })).status;
      };
      expect([await post("same-site", "Two"), await post("same-origin", "Two")]).toEqual([
        403, 401,
      ]);
      await browser.follow("/idpauth/login/");
      expect([
        await post("same-site", "Two"),
        await post("same-origin", "x".repeat(101)),
        await post("same-origin", "Two"),
      ]).toEqual([403, 400, 200]);
      expect((await browser.get("/api/items")).json()).toEqual([
        { id: 1, text: "Order punched cards" },
        { id: 2, text: "Two" },
      ]);
    });
  });

  it("fastify/app.mjs responds with 404 until the front end is built", async () => {
    const { createApp } = await load<{
      createApp: () => Promise<{ app: kit.TestedApplication }>;
    }>(APP);
    user = await kit.browser((await createApp()).app);
    expect((await user.get("/")).status).toBe(404);
  });
});

describe("docs/snippets/proxy", () => {
  let api: Awaited<ReturnType<typeof startApi>>;
  beforeEach(async () => {
    api = await startApi();
  });
  afterEach(() => {
    api.stop();
  });

  it.each(["express", "fastify", "koa", "hono", "node", "fetch"])(
    "%s.ts passes requests on with the user's token",
    async (name) => {
      const browser = await (name === "node" ? openListening : open)(`proxy/${name}.ts`);
      expect([(await browser.get("/api/orders/items")).status, api.requests]).toEqual([401, []]);
      await browser.follow("/idpauth/login/");
      const headers = { "sec-fetch-site": "same-origin" };
      const response = await browser.get("/api/orders/items?open=true", {
        method: "POST",
        headers,
      });
      expect([
        response.status,
        response.json(),
        response.headers["content-security-policy"],
      ]).toEqual([200, ["order 1"], "sandbox"]);
      const token = provider.issued.findLast(({ kind }) => kind === "access_token")?.value;
      expect(api.requests).toMatchObject([
        { method: "POST", target: "/v2/items?open=true", token },
      ]);
      expect(api.requests[0]?.headers).not.toHaveProperty("cookie");
      const sibling = await browser.get("/api/orders/items", {
        headers: { "sec-fetch-site": "same-site" },
      });
      expect([
        sibling.status,
        (await browser.get("/api/orders/a%5cb")).status,
        api.requests.length,
      ]).toEqual([403, 400, 1]);
    },
  );

  it("rule.mjs passes only what the table and the rule allow", async () => {
    const browser = await open("proxy/rule.mjs");
    await browser.follow("/idpauth/login/");
    const deleted = await browser.get("/api/orders/items/1", {
      method: "DELETE",
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect([deleted.status, deleted.headers.allow]).toEqual([405, "GET, POST"]);
    provider.clock.advance(3_610_000);
    expect((await browser.get("/api/orders/items")).json()).toMatchObject({
      error: "insufficient_user_authentication",
    });
    expect((await browser.follow("/api/orders/items")).json()).toEqual(["order 1"]);
    expect(api.requests).toMatchObject([{ headers: { "x-api-version": "2" } }]);
    provider.person = { ...ADA, groups: ["guests"] };
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/api/orders/items")).status).toBe(403);
  });

  it("paths.mjs requires more for some paths and methods", async () => {
    const browser = await open("proxy/paths.mjs");
    await browser.follow("/idpauth/login/");
    const statusOf = async (path: string, method = "GET") =>
      (
        await browser.get(`/api/orders/${path}`, {
          method,
          headers: { "sec-fetch-site": "same-origin" },
        })
      ).status;
    expect(await Promise.all(["items", "admin", "Admin/users"].map((path) => statusOf(path)))).toEqual([200, 403, 403]); // prettier-ignore
    provider.clock.advance(310_000);
    expect([await statusOf("payments"), await statusOf("payments", "POST")]).toEqual([200, 401]);
    provider.person = { ...ADA, groups: ["guests"] };
    await browser.follow("/idpauth/login/");
    expect([await statusOf("items"), await statusOf("items/1", "DELETE")]).toEqual([200, 403]);
  });

  it.each(["uploads", "uploads-hono"])(
    "%s.ts lets an upload take longer than Node.js's limit, after which the user gets 408",
    async (name) => {
      let server: Server | undefined;
      const browser = await openListening(`proxy/${name}.ts`, (listening) => {
        // Node.js checks every 30 s.
        Object.assign((server = listening), { connectionsCheckingInterval: 20 });
      });
      await browser.follow("/idpauth/login/");
      const upload = () =>
        new Promise<number | undefined>((resolve, reject) => {
          const asked = httpRequest(`${browser.origin}/api/orders/files`, {
            method: "POST",
            headers: { cookie: browser.cookie, origin: browser.origin },
          });
          asked.once("response", ({ statusCode }) => resolve(statusCode)).once("error", reject);
          asked.write("first");
          setTimeout(() => asked.end("last"), 400);
        });
      expect([await upload(), server?.requestTimeout, api.bodies]).toEqual([
        200,
        3_600_000,
        ["firstlast"],
      ]);
      Object.assign(server!, { headersTimeout: 100, requestTimeout: 100 });
      expect([await upload(), api.bodies]).toEqual([408, ["firstlast"]]);
      await expect.poll(() => api.aborted).toBe(1);
      expect((await browser.get("/api/orders/items")).status).toBe(200);
    },
  );

  it("streamed-text.mjs keeps middleware from compressing what the API sends piece by piece", async () => {
    const browser = await open("proxy/streamed-text.mjs");
    await browser.follow("/idpauth/login/");
    const response = await browser.get("/api/chat/answer");
    expect([response.status, response.headers["cache-control"]]).toEqual([
      200,
      "private, no-store, no-transform",
    ]);
  });

  it("Fastify doesn't limit how long a request takes to arrive", async () => {
    const { app } = await load<{ app: { server: Server } }>("proxy/fastify.ts");
    expect(app.server.requestTimeout).toBe(0);
  });

  /** What an upgrade receives: the first text, the status, or "closed". */
  const upgrade = ({ origin, cookie }: kit.TestBrowser, path: string) =>
    new Promise<string>((resolve) => {
      const headers = { connection: "Upgrade", upgrade: "websocket", origin, cookie };
      const asked = httpRequest(`${origin}${path}`, { headers });
      asked.once("upgrade", (_response, socket, head) => {
        let text = head.toString();
        socket
          .on("data", (chunk: Buffer) => (text += chunk.toString()))
          .once("end", () => resolve(text));
      });
      asked
        .once("response", ({ statusCode }) => resolve(String(statusCode)))
        .once("error", () => resolve("closed"));
      asked.end();
    });

  it.each([
    ["upgrade", "closes every other upgrade", "closed"],
    ["upgrade-hono", "closes every other upgrade", "closed"],
    ["upgrade-fastify", "gives every other upgrade to the application", "404"],
  ])("%s.ts passes a WebSocket on, and %s", async (name, _behaviour, other) => {
    const browser = await openListening(`proxy/${name}.ts`);
    await browser.follow("/idpauth/login/");
    expect(await upgrade(browser, "/api/orders/live")).toBe("hello");
    expect(await upgrade(browser, "/elsewhere")).toBe(other);
    expect(api.requests).toMatchObject([
      { target: "/v2/live", token: expect.any(String) as string },
    ]);
  });

  it("upgrade-fastify.ts keeps the application's own WebSockets", async () => {
    const browser = await openListening("proxy/upgrade-fastify.ts");
    await browser.follow("/idpauth/login/");
    const headers = { cookie: browser.cookie };
    const socket = new WebSocket(`${browser.origin.replace("http", "ws")}/api/ws`, { headers });
    const [data] = (await once(socket, "message")) as [Buffer];
    socket.terminate();
    expect(data.toString()).toBe("own");
  });
});

describe("docs/snippets/csrf", () => {
  it("express.mjs blocks requests from other sites", async () => {
    const browser = await open("csrf/express.mjs");
    await browser.follow("/idpauth/login/");
    const create = (site: string) =>
      browser.get("/api/items", { method: "POST", headers: { "sec-fetch-site": site } });
    expect((await create("same-origin")).json()).toEqual({ created: true });
    expect((await create("cross-site")).status).toBe(403);
  });
});

describe("docs/snippets/signing-out", () => {
  it("sessions-page.mjs shows the user's devices, and its form signs out everywhere", async () => {
    const { app } = await load<{ app: RequestListener }>("signing-out/sessions-page.mjs");
    let agent = "";
    const server = createServer((req, res) => {
      req.headers["user-agent"] = agent;
      app(req, res);
    });
    const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";
    const agents = {
      "Edge on Windows": `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
      "Chrome on Android": `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/140.0.0.0 Mobile Safari/537.36`,
      "Safari on iPhone": `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${webKit} Version/18.6 Mobile/15E148 Safari/604.1`,
      "Unknown device": "curl/8.14.1",
    };
    const devices: kit.TestBrowser[] = [];
    for (const one of Object.values(agents)) {
      agent = one;
      devices.push((user = await kit.signIn(server, GRACE)));
    }
    const [first] = devices;
    const page = await first?.navigate("/idpauth/sessions");
    for (const label of Object.keys(agents)) expect(page?.text).toContain(label);

    const [, action = "", name = "", value = ""] =
      /action="(.+?)".+?name="(.+?)" value="(.+?)"/s.exec(
        (await first?.get("/account"))?.text ?? "",
      ) ?? [];
    const ended = await first?.post(action, new URLSearchParams({ [name]: value }), {
      headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
    });
    expect([ended?.status, ended?.headers.location]).toEqual([303, "/idpauth/"]);
    await expect.poll(() => provider.requestsTo("revoke")).not.toEqual([]);
    const states = await Promise.all(
      devices.map((each) => each.get("/idpauth/session?details=true")),
    );
    expect(states.map((state) => state.json())).toMatchObject([
      { authenticated: false, reason: "no_credentials" },
      ...Array.from({ length: 3 }, () => ({ authenticated: false, reason: "ended_everywhere" })),
    ]);
  });

  it("at-provider.mjs ends the session at the provider, too", async () => {
    const browser = await open("signing-out/at-provider.mjs");
    await browser.follow("/idpauth/login/");
    await browser.follow("/idpauth/logout/");
    expect(provider.requestsTo("endSession")).toHaveLength(1);
  });

  it("lock-out.mjs ends the sessions of a user that an administrator blocks, and refuses new ones", async () => {
    const { pool } = await load<{
      pool: { query: (text: string, values: string[]) => Promise<{ rows: object[] }> };
    }>("user-table/pool.mjs", false);
    const blocked = new Set<string | undefined>();
    vi.spyOn(pool, "query").mockImplementation(async (text, [, sub]) => {
      if (text.startsWith("update")) blocked.add(sub);
      return { rows: [{ blocked: blocked.has(sub) }] };
    });
    const { app } = await load<{ app: kit.TestedApplication }>("signing-out/lock-out.mjs");
    provider.person = { ...GRACE, sub: "grace" };
    user = await kit.browser(app);
    await user.follow("/idpauth/login/");
    expect((await user.get("/orders")).status).toBe(200);

    provider.person = { ...ADA, sub: "ada" };
    const admin = await kit.browser(app);
    await admin.follow("/idpauth/login/");
    const response = await admin.get("/admin/block", {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ iss: provider.issuer, sub: "grace" }),
    });
    expect(response.json()).toEqual({ ended: 1 });
    expect((await admin.get("/orders")).status).toBe(200);
    await admin.close();

    expect((await user.get("/orders")).status).toBe(401);
    provider.person = { ...GRACE, sub: "grace" };
    expect((await user.follow("/idpauth/login/")).status).toBe(403);
  });
});

describe("docs/snippets/your-pages", () => {
  it("appearance.ts shows the name and the colors", async () => {
    const { text } = await (await open("your-pages/appearance.ts")).navigate("/idpauth/");
    expect(text).toContain("Example Shop");
  });

  it("texts.ts replaces a line", async () => {
    const { text } = await (await open("your-pages/texts.ts")).navigate("/idpauth/");
    expect(text).toContain("Welcome");
  });

  it("render.ts renders the error page, and no other page", async () => {
    const browser = await open("your-pages/render.ts");
    const error = await browser.navigate("/idpauth/login-callback");
    expect([error.status, error.text]).toEqual([
      400,
      expect.stringContaining('<main class="card"><h1>'),
    ]);
    expect((await browser.navigate("/idpauth/")).text).not.toContain('<main class="card"><h1>');
  });
});

describe("docs/snippets/client", () => {
  it("typed.ts starts with the server's state, and greets the user", async () => {
    provider.person = ADA;
    const browser = await open("users-and-claims/client-data.mjs");
    const { startClient, greetingOf } = await load<{
      startClient: (state: unknown) => { getState(): unknown };
      greetingOf: (state: unknown) => string;
    }>("client/typed.ts");
    const greeting = async () => {
      const state = (await browser.get("/idpauth/session?details=true")).json();
      return greetingOf(startClient(state).getState());
    };
    expect(await greeting()).toBe("Please sign in.");
    await browser.follow("/idpauth/login/");
    expect(await greeting()).toBe("Hello Ada Lovelace, your plan is free.");
    expect(greetingOf(startClient(null).getState())).toBe("Please sign in.");
  });

  it.each(["express", "fastify"])("%s.mjs serves the client's file", async (name) => {
    await buildPackage();
    const response = await (await open(`client/${name}.mjs`)).get("/idpauth-client.js");
    expect(response.headers["content-type"]).toMatch(/^text\/javascript/);
    expect(response.text).toBe(
      readFileSync(new URL("../../dist/client/browser.js", import.meta.url), "utf8"),
    );
  });
});

describe("docs/snippets/mounting", () => {
  it.each(["express", "fastify", "hono", "koa", "node", "fetch"])(
    "%s.ts mounts the endpoints",
    async (name) => {
      const browser = await (name === "node" ? openListening : open)(`mounting/${name}.ts`);
      expect((await browser.follow("/idpauth/login/")).status).toBe(200);
      expect((await browser.get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
    },
  );

  it("below.ts mounts them below a path", async () => {
    const browser = await open("mounting/below.ts");
    expect((await browser.follow("/area/idpauth/login/")).status).toBe(200);
    expect((await browser.get("/area/idpauth/session")).json()).toMatchObject({
      authenticated: true,
    });
  });
});

it("docs/snippets/several-providers/express.ts has a page to choose, and a route for users of one provider", async () => {
  const customers = await kit.startTestProvider({ person: ADA, clock: provider.clock });
  const { IDP_ISSUER, IDP_CLIENT_ID, IDP_CLIENT_SECRET, ...env } = provider.env;
  const variables = (key: string, one: kit.TestProvider) => ({
    [`IDP_PROVIDER_${key}_ISSUER`]: one.issuer,
    [`IDP_PROVIDER_${key}_CLIENT_ID`]: one.clientId,
    [`IDP_PROVIDER_${key}_CLIENT_SECRET`]: one.clientSecret,
  });
  given.options = {
    ...given.options,
    env: {
      ...env,
      IDP_PROVIDERS: "staff customers",
      ...variables("STAFF", provider),
      ...variables("CUSTOMERS", customers),
    },
  };
  const browser = await open("several-providers/express.ts");
  const page = await browser
    .navigate("/reports")
    .then(({ location = "" }) => browser.navigate(location));
  const links = [...page.text.matchAll(/href="([^"]+provider=[^"]+)"/g)].map(([, link = ""]) =>
    link.replaceAll("&amp;", "&"),
  );
  expect(links.map((link) => new URLSearchParams(link.split("?")[1]).get("provider"))).toEqual([
    "staff",
    "customers",
  ]);
  expect((await browser.follow(links[1] ?? "")).json()).toEqual({
    hello: "Ada Lovelace",
    provider: "customers",
  });
  expect((await browser.get("/payroll")).status).toBe(401);
  expect((await browser.follow("/payroll")).text).toBe("The payroll");
  await customers.stop();
});

describe("docs/snippets/several-components", () => {
  it("express.ts has a sign-in for each provider", async () => {
    provider.person = ADA;
    // The kit's key is only for providers on this machine.
    given.options = { ...given.options, secretKey: "a secret key of at least 32 bytes" };
    const browser = await open("several-components/express.ts");
    expect((await browser.follow("/reports")).json()).toEqual({ hello: "Ada Lovelace" });
    const blocked = await browser.get("/partners/orders");
    expect([blocked.status, blocked.text]).toEqual([
      401,
      expect.stringContaining("/partners/idpauth/login/"),
    ]);
  });

  it("either.ts opens a route to users of either provider, and lets others choose", async () => {
    provider.person = ADA;
    given.options = { ...given.options, secretKey: "a secret key of at least 32 bytes" };
    const browser = await open("several-components/either.ts");
    const blocked = await browser.navigate("/news");
    const links = [...blocked.text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
    expect([blocked.status, links]).toEqual([
      401,
      [
        expect.stringMatching(/^\/idpauth\/login\/.*news/),
        expect.stringMatching(/^\/partners\/idpauth\/login\/.*news/),
      ],
    ]);
    expect((await browser.follow(links[0] ?? "")).json()).toEqual({ hello: "Ada Lovelace" });
  });

  it("tenant.ts allows only users of a known customer", async () => {
    provider.person = { ...ADA, tenant: "acme" };
    const browser = await open("several-components/tenant.ts");
    expect((await browser.follow("/orders")).json()).toEqual({ ordersOf: "acme" });
    await browser.get("/idpauth/logout/?response=json");
    provider.person = { ...GRACE, tenant: "unknown" };
    expect((await browser.follow("/orders")).status).toBe(403);
  });
});

describe("docs/snippets/guarding", () => {
  const names = ["express", "fastify", "hono", "koa", "node", "fetch"];

  it.each(names)("guard-%s.ts lets only signed-in users use a route", async (name) => {
    provider.person = ADA;
    const browser = await open(`guarding/guard-${name}.ts`);
    expect((await browser.get("/reports")).status).toBe(401);
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/reports")).json()).toEqual({ hello: "Ada Lovelace" });
  });

  it.each(names)("own-%s.ts sends the application's own response", async (name) => {
    const response = await (await open(`guarding/own-${name}.ts`)).get("/reports");
    expect([response.status, response.json()]).toEqual([
      401,
      {
        authenticated: false,
        login_url: expect.stringContaining("/idpauth/login/") as string,
      },
    ]);
  });

  it("form-express.ts sends a page to a browser that submits a form, and JSON to a script", async () => {
    const browser = await open("guarding/form-express.ts");
    const submit = (accept: string) =>
      browser.get("/orders", { method: "POST", headers: { accept } });
    const page = await submit("text/html,application/xhtml+xml,*/*;q=0.8");
    expect([page.status, page.text]).toEqual([
      401,
      expect.stringContaining('<a href="/idpauth/login/" target="_blank">'),
    ]);
    expect((await submit("*/*")).json()).toEqual({
      authenticated: false,
      login_url: "/idpauth/login/",
    });
    await browser.follow("/idpauth/login/");
    expect((await submit("text/html")).text).toBe("passed");
  });

  it.each([
    ["koa-prefix.mjs", 401],
    ["koa-sensitive.mjs", 404],
  ])("%s guards the router in every letter case", async (file, status) => {
    const browser = await open(`guarding/${file}`);
    expect([
      (await browser.get("/api/reports")).status,
      (await browser.get("/API/reports")).status,
    ]).toEqual([401, status]);
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/api/reports")).json()).toEqual([]);
  });

  it("keep-private.mjs adds the header to the application's own response", async () => {
    const browser = await open("guarding/keep-private.mjs");
    expect((await browser.get("/")).status).toBe(401);
    await browser.follow("/idpauth/login/");
    const response = await browser.get("/");
    expect([response.text, response.headers["cache-control"]]).toEqual([
      "passed",
      "private, no-store",
    ]);
  });
});

describe("docs/snippets/session-end", () => {
  it("ended.mjs closes the connection when the session ends", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const browser = await open("session-end/ended.mjs");
    await browser.follow("/idpauth/login/");
    const cookie = browser.cookie;
    const response = await fetch(`${browser.origin}/wait`, { headers: { cookie } });
    const text = response.text();
    await browser.follow("/idpauth/logout/");
    expect([await text, log.mock.calls]).toEqual(["", [["session_ended", "logout"]]]);
  });
});

describe("docs/snippets/testing", () => {
  it("roles.mjs tests that a rule lets administrators pass, and no other user", async () => {
    const before = expect.getState().assertionCalls;
    await load("testing/roles.mjs");
    expect(expect.getState().assertionCalls - before).toBe(2);
  });

  it("proxied-route.mjs tests a proxied route: a refused token, a step-up, a stream and a socket", async () => {
    const before = expect.getState().assertionCalls;
    await load("testing/proxied-route.mjs");
    expect(expect.getState().assertionCalls - before).toBe(10);
  });

  it.each([
    ["several-providers.mjs", "tests that one of two providers' users passes", 2],
    [
      "customers.mjs",
      "tests that a user of a customer added later passes at that customer alone",
      2,
    ],
    ["private-key.mjs", "tests a sign-in for which the app authenticates with its key", 1],
    ["dpop.mjs", "tests bound tokens with a nonce at each refresh and each request to an API", 4],
    ["tenants.mjs", "tests that a user of another tenant is refused", 1],
    ["userinfo.mjs", "tests a claim that only userinfo contains", 1],
  ])("%s %s", async (file, _behaviour, assertions) => {
    const before = expect.getState().assertionCalls;
    await load("testing/app.mjs", false); // the file imports it
    await load(`testing/${file}`);
    expect(expect.getState().assertionCalls - before).toBe(assertions);
  });
});

describe("docs/snippets/high-assurance", () => {
  it("own-client.mjs sends a proof, and another one with the nonce that the API demands", async () => {
    await using bound = await kit.startTestProvider({ person: GRACE, dpop: "required" });
    await using api = await kit.startTestApi(bound, { dpopNonce: "always" });
    given.options = { env: bound.env, clock: bound.clock, log: false };
    vi.stubEnv("ORDERS_URL", api.url);
    const browser = await open("high-assurance/own-client.mjs");
    vi.unstubAllEnvs();
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/orders")).json()).toMatchObject({ path: "/items?open=true" });
    expect(api.requests.map(({ status }) => status)).toEqual([401, 200]);
    const proofs = api.requests.map(({ headers }) => headers["dpop"]);
    expect([new Set(proofs).size, api.requests[1]?.headers.authorization]).toEqual([
      2,
      expect.stringMatching(/^DPoP /),
    ]);
  });

  it("own-client.mjs sends a token that isn't bound as a bearer token", async () => {
    await using api = await kit.startTestApi(provider);
    vi.stubEnv("ORDERS_URL", api.url);
    const browser = await open("high-assurance/own-client.mjs");
    vi.unstubAllEnvs();
    await browser.follow("/idpauth/login/");
    expect((await browser.get("/orders")).status).toBe(200);
    const [{ headers } = { headers: {} as IncomingMessage["headers"] }] = api.requests;
    expect([headers["dpop"], headers.authorization]).toEqual([
      undefined,
      expect.stringMatching(/^Bearer /),
    ]);
  });
});

describe("docs/snippets/containers", () => {
  it.each(["server.mjs", "server-fastify.mjs"])(
    "%s reports that it is healthy, and closes the server, the store and its client after SIGTERM",
    async (name) => {
      const redis = await startRedis();
      vi.stubEnv("REDIS_URL", redis.url);
      await stopsAfter(`containers/${name}`, async (browser) => {
        expect((await browser.get("/livez")).status).toBe(200);
        await expect.poll(async () => (await browser.get("/healthz")).status).toBe(200);
        expect((await browser.follow("/")).text).toBe("Hello");
      }).finally(() => {
        vi.unstubAllEnvs();
        return redis.stop();
      });
    },
  );
});

/** Loads a file that listens, uses its application, and runs its handler of SIGTERM. */
async function stopsAfter(
  file: string,
  use: (browser: kit.TestBrowser) => Promise<unknown>,
): Promise<void> {
  const once = vi.spyOn(process, "once");
  const browser = await openListening(file);
  const [, stop] = once.mock.calls.find(([event]) => event === "SIGTERM") ?? [];
  await use(browser);
  await (stop as () => Promise<void>)();
  await expect(fetch(browser.origin)).rejects.toThrow();
}

it("every file of docs/snippets ran", () => {
  const files = readdirSync(SNIPPETS, { recursive: true, encoding: "utf8" }).map((file) =>
    file.replaceAll(path.sep, "/"),
  );
  const code = files.filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !RUN_ELSEWHERE.test(file));
  expect([...loaded].toSorted()).toEqual(code.toSorted());
});
