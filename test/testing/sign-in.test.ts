import "reflect-metadata";
import { once } from "node:events";
import {
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import { Controller, Get, Module, UseGuards } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import express from "express";
import session from "express-session";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { IdpAuthModule } from "../../examples/nestjs/idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "../../examples/nestjs/idp-auth/idp-required.guard.js";
import * as expressAdapter from "../../src/adapters/express/express.js";
import * as fastifyAdapter from "../../src/adapters/fastify/fastify.js";
import * as fetchAdapter from "../../src/adapters/fetch/fetch.js";
import * as honoAdapter from "../../src/adapters/hono/hono.js";
import * as koaAdapter from "../../src/adapters/koa/koa.js";
import * as nodeAdapter from "../../src/adapters/node/node.js";
import { deny, emailDomain, type IdpAuthOptions } from "../../src/index.js";
import {
  browser,
  providersEnv,
  signIn,
  SignInError,
  startTestProvider,
  TestClock,
  type Fault,
  type SignInOptions,
  type TestedApplication,
  type TestProvider,
} from "../../src/testing/index.js";
import { emptyFolder, startProvider } from "../cli/provider-run.js";
import { byStranger } from "../support/foreign-signature.js";

const GRACE = { email: "grace@example.com", name: "Grace Hopper" };

let provider: TestProvider;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  provider = await startTestProvider();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await provider.stop();
});

function options(own: IdpAuthOptions = {}): IdpAuthOptions {
  return { env: provider.env, log: false, ...own };
}

/** The application of each test, by Express: a guarded page that says who is there, and a form. */
function expressApp(
  own: IdpAuthOptions = {},
  first: express.RequestHandler[] = [],
): express.Express {
  const app = express();
  const auth = expressAdapter.idpAuth(options(own));
  for (const handler of first) app.use(handler);
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) =>
    res.json((await auth.requireSession(req)).user),
  );
  app.post(
    "/reports",
    auth.idpRequired,
    express.json(),
    express.urlencoded({ extended: false }),
    express.text(),
    (req, res) => {
      res.json({ body: req.body });
    },
  );
  return app;
}

function fetchApp(own: IdpAuthOptions = {}): (request: Request) => Promise<Response | undefined> {
  const auth = fetchAdapter.idpAuth(options(own));
  const reports = auth.idpRequired(async (request) =>
    request.method === "POST"
      ? Response.json({ body: await request.json() })
      : Response.json((await auth.requireSession(request)).user),
  );
  return async (request) =>
    (await auth.fetch(request)) ??
    (new URL(request.url).pathname === "/reports" ? await reports(request) : undefined);
}

async function nestApp() {
  @Controller()
  class ReportsController {
    @Get("reports")
    @UseGuards(IdpRequiredGuard)
    reports(): object {
      return { email: GRACE.email };
    }
  }
  @Module({ imports: [IdpAuthModule.forRoot(options())], controllers: [ReportsController] })
  class AppModule {}

  return NestFactory.create<NestExpressApplication>(AppModule, { logger: false });
}

async function listening<Listening extends Server>(server: Listening): Promise<Listening> {
  server.listen(0, "127.0.0.1");
  cleanups.push(() => server.close());
  await once(server, "listening");
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const APPLICATIONS: readonly [string, () => TestedApplication | Promise<TestedApplication>][] = [
  ["an application of Express", () => expressApp()],
  [
    "an application of Koa",
    () => {
      const app = new Koa();
      const auth = koaAdapter.idpAuth(options());
      const router = new Router();
      router.get("/reports", auth.idpRequired, async (ctx) => {
        ctx.body = (await auth.requireSession(ctx)).user;
      });
      return app.use(auth.routes).use(router.routes());
    },
  ],
  [
    "an application of Fastify",
    async () => {
      const app = fastify();
      const auth = fastifyAdapter.idpAuth(options());
      await app.register(auth.plugin);
      app.get(
        "/reports",
        { preHandler: auth.idpRequired },
        async (request) => (await auth.requireSession(request)).user,
      );
      return app;
    },
  ],
  [
    "an application of Hono",
    () => {
      const auth = honoAdapter.idpAuth(options());
      return new Hono()
        .route("/", auth.routes)
        .get("/reports", auth.idpRequired, async (c) =>
          c.json((await auth.requireSession(c)).user),
        );
    },
  ],
  ["an application of NestJS", nestApp],
  [
    "a listener of node:http",
    () => {
      const auth = nodeAdapter.idpAuth(options());
      const reports = auth.idpRequired(async (request, response) => {
        response.end(JSON.stringify((await auth.requireSession(request)).user));
      });
      return auth.listener(reports);
    },
  ],
  ["a server that does not listen", () => createServer(expressApp())],
  ["a server that listens", () => listening(createServer(expressApp()))],
  ["a function of the Fetch standard's style", () => fetchApp()],
  ["an object with such a function", () => ({ fetch: fetchApp() })],
  [
    "an origin as text",
    async () => `http://localhost:${portOf(await listening(createServer(expressApp())))}`,
  ],
  [
    "an origin as URL",
    async () => new URL(`http://127.0.0.1:${portOf(await listening(createServer(expressApp())))}`),
  ],
];

describe.each(APPLICATIONS)("%s", (_name, create) => {
  it("signs a user in by the real flow, and returns who it is", async () => {
    const app = await create();
    const user = await signIn(app, GRACE);
    cleanups.push(() => user.close());
    const reports = await user.get("/reports");
    expect([reports.status, reports.json().email]).toEqual([200, GRACE.email]);
    const flow = provider.requests.map(({ endpoint }) => endpoint);
    expect(flow.filter((endpoint) => endpoint === "authorize" || endpoint === "token")).toEqual([
      "authorize",
      "token",
    ]);
    expect(user.cookie).toMatch(/^idpauth=\S+$/);

    // The cookie alone signs the user in, in any client.
    expect(
      (await fetch(`${user.origin}/reports`, { headers: { cookie: user.cookie } })).status,
    ).toBe(200);
    expect((await fetch(`${user.origin}/reports`)).status).toBe(401);
  });
});

it("an application of Fastify is reached at its own server, which gets upgrades too", async () => {
  const app = fastify();
  const accepted =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";
  app.server.on("upgrade", (_message, socket) => socket.end(accepted));
  const user = await browser(app);
  cleanups.push(() => user.close());
  const request = get(user.origin, { headers: { connection: "upgrade", upgrade: "test" } });
  const [response] = (await once(request, "upgrade")) as [IncomingMessage];
  expect(response.statusCode).toBe(101);
  // A second browser finds the server listening.
  const other = await browser(app);
  cleanups.push(() => other.close());
  expect(other.origin).toBe(user.origin);
});

it("an application of Fastify that listens is reached where it does", async () => {
  const app = fastify();
  cleanups.push(() => app.close());
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  expect((await browser(app)).origin).toBe(address);
});

describe("a user", () => {
  it("is signed in also if the application pushes its login requests", async () => {
    provider.settings.requirePushedRequests = true;
    const user = await signIn(expressApp({ mountPath: "/account/" }), GRACE, {
      mountPath: "/account/",
      returnTo: "/reports",
    });
    expect((await user.get("/reports")).json().email).toBe("grace@example.com");
    const [authorization] = provider.requestsTo("authorize");
    expect([...authorization!.query.keys()]).toEqual(["client_id", "request_uri"]);
  });

  it("without a named user signs in the provider's", async () => {
    provider.person = { email: "joan@example.com" };
    expect((await (await signIn(expressApp())).get("/reports")).json().email).toBe(
      "joan@example.com",
    );
  });

  it("has a verified address unless set otherwise", async () => {
    const verified = async (person: object) => {
      const app = express();
      const auth = expressAdapter.idpAuth({ env: provider.env, clock: provider.clock, log: false });
      auth.mount(app);
      app.get("/verified", async (req, res) =>
        res.json((await auth.getSession(req))?.user.email_verified ?? null),
      );
      return (await (await signIn(app, person as never)).get("/verified")).json() as unknown;
    };
    expect(await verified(GRACE)).toBe(true);
    expect(await verified({ ...GRACE, email_verified: false })).toBe(false);
    expect(await verified({ sub: "grace" })).toBeNull();
  });

  it("signs in again as the same user, at a later login such as a step-up, until set otherwise", async () => {
    const user = await signIn(expressApp({ clock: provider.clock }), GRACE);
    provider.clock.advance(60_000);
    expect((await user.follow("/idpauth/login/?max_age=30")).status).toBe(200);
    expect((await user.get("/reports")).json().email).toBe("grace@example.com");
    user.person = { email: "joan@example.com" };
    await user.follow("/idpauth/login/");
    expect((await user.get("/reports")).json().email).toBe("joan@example.com");
  });

  it("whom onSignIn refuses: the error names the function, its message and the rule to check", async () => {
    const app = express();
    const auth = expressAdapter.idpAuth({
      env: provider.env,
      log: false,
      clock: provider.clock,
      onSignIn: ({ claims }) =>
        emailDomain("example.org")({ claims }) ? undefined : deny("Only staff may sign in."),
    });
    auth.mount(app);
    const error = await signIn(app, GRACE).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ step: "callback", status: 403, code: "sign_in_denied" });
    for (const part of ["`onSignIn`", "Only staff may sign in.", "emailDomain"])
      expect(String(error)).toContain(part);
  });

  it("does not take options as the data of a POST", async () => {
    const user = await browser(expressApp());
    // @ts-expect-error -- options are the third parameter
    await user.post("/reports", { headers: { "x-a": "1" } });
    await user.post("/reports", { method: "card", body: "a" }, { headers: { "x-a": "1" } });
  });

  it("returns to the requested path", async () => {
    const user = await signIn(expressApp(), GRACE, { returnTo: "/reports?month=10" });
    expect(user.returnedTo?.href).toBe(`${user.origin}/reports?month=10`);
    expect((await signIn(expressApp(), GRACE)).returnedTo?.pathname).toBe("/idpauth/");
  });

  it("posts JSON, a form, or text", async () => {
    const user = await signIn(expressApp(), GRACE);
    const sent = async (data?: Parameters<typeof user.post>[1]) =>
      (await user.post("/reports", data)).json().body;
    expect(await sent({ month: 10 })).toEqual({ month: 10 });
    expect(await sent(new URLSearchParams({ month: "10" }))).toEqual({ month: "10" });
    expect(await sent("ten")).toBe("ten");
    expect(
      (await user.post("/reports", "<x/>", { headers: { "Content-Type": "application/xml" } }))
        .status,
    ).toBe(200);
    const elsewhere = await signIn(fetchApp(), GRACE);
    expect((await elsewhere.post("/reports", { month: 10 })).json()).toEqual({
      body: { month: 10 },
    });
  });

  it("has cookies that end by the clock that is given", async () => {
    const { clock } = provider;
    const user = await signIn(expressApp({ clock }), GRACE, { clock });
    expect(user.cookie).not.toBe("");
    clock.advance(401 * 24 * 3_600_000);
    expect(user.cookie).toBe("");
  });

  it("finds endpoints that live elsewhere", async () => {
    const app = expressApp({ mountPath: "/account/" });
    expect(
      (await (await signIn(app, GRACE, { mountPath: "/account" })).get("/reports")).status,
    ).toBe(200);
  });

  it("follows a framework that removes the slash from the path, as Next.js does", async () => {
    const slashless: express.RequestHandler = (req, res, next) => {
      if (req.path === "/idpauth/login/") res.redirect(308, "/idpauth/login");
      else next();
    };
    const user = await signIn(expressApp({}, [slashless]), GRACE, { returnTo: "/reports" });
    expect(user.returnedTo?.pathname).toBe("/reports");
  });

  it("can be signed in with the framework's own session", async () => {
    const app = expressApp({ session: "host" }, [
      session({ secret: "the framework's own", resave: false, saveUninitialized: false }),
    ]);
    const user = await signIn(app, GRACE);
    expect((await user.get("/reports")).json().email).toBe(GRACE.email);
    expect(user.cookie).toContain("connect.sid=");
  });
});

it.each<[string, Readonly<Record<string, string>>]>([
  ["a key", { IDP_PRIVATE_KEY: "file:idp-private-key.pem" }],
  ["pushed requests", { IDP_PUSHED_REQUESTS: "always" }],
  [
    "several providers",
    {
      IDP_PROVIDERS: "staff,customers",
      IDP_PROVIDER_STAFF_ISSUER: "http://127.0.0.1:9400/staff",
      IDP_PROVIDER_CUSTOMERS_ISSUER: "http://127.0.0.1:9400/customers",
    },
  ],
])("provider.env wins over a developer's .env with %s", async (_name, developer) => {
  const user = await signIn(expressApp({ env: { ...developer, ...provider.env } }), GRACE);
  expect((await user.get("/reports")).json().email).toBe(GRACE.email);
});

describe("an application with several providers", () => {
  let customers: TestProvider;
  beforeEach(async () => {
    customers = await startTestProvider({ clock: provider.clock, person: GRACE });
    cleanups.push(() => customers.stop());
  });
  const several = (own: IdpAuthOptions = {}): express.Express =>
    expressApp({ env: providersEnv({ staff: provider, "our-customers": customers }), ...own });

  it("signs in at the one that is named, and returns to the requested path", async () => {
    const app = several();
    const user = await signIn(app, undefined, {
      provider: "our-customers",
      returnTo: "/reports?month=10",
    });
    expect((await user.get("/reports")).json()).toMatchObject(GRACE);
    expect(user.returnedTo?.search).toBe("?month=10");
    const ada = await signIn(app, { email: "ada@example.com" }, { provider: "staff" });
    expect((await ada.get("/reports")).json()).toMatchObject({ email: "ada@example.com" });
  });

  it("whose settings win over a developer's .env with others", async () => {
    const env = providersEnv({ staff: provider });
    const developer = { IDP_PROVIDERS: "customers", IDP_PROVIDER_STAFF_PUSHED_REQUESTS: "always" };
    const user = await signIn(expressApp({ env: { ...developer, ...env } }), GRACE);
    expect((await user.get("/reports")).json().email).toBe(GRACE.email);
  });

  it("signs in at the default provider if none is named", async () => {
    const user = await signIn(several({ defaultProvider: "our-customers" }));
    expect((await user.get("/reports")).json()).toMatchObject(GRACE);
  });

  it.each([
    ["no key", {}, { status: 400, code: "provider_required" }],
    ["a wrong key", { provider: "stuff" }, { status: 400, code: "invalid_parameter" }],
  ])("with %s, the error lists the keys", async (_what, own, expected) => {
    const failure = signIn(several(), GRACE, own);
    await expect(failure).rejects.toMatchObject({ step: "login", ...expected });
    await expect(failure).rejects.toThrow(
      'the application has several providers. Set the option `provider` to the key of one of them: "staff", "our-customers".',
    );
  });

  it("logs no warning about the test's own settings", async () => {
    const lines: string[] = [];
    const log: IdpAuthOptions["log"] = ({ level, code }) => {
      if (level === "warn") lines.push(code);
    };
    await signIn(several({ log }), undefined, { provider: "staff" });
    await signIn(expressApp({ log }));
    expect(lines).toEqual([]);
  });
});

describe("an application with BASE_URL", () => {
  it("is requested there, as behind a proxy that ends TLS, without a word", async () => {
    const user = await signIn(expressApp({ baseUrl: "https://app.example" }), GRACE, {
      returnTo: "/reports",
    });
    expect(user.origin).toBe("https://app.example");
    expect(user.returnedTo?.href).toBe("https://app.example/reports");
    expect(user.cookie).toMatch(/^__Host-Http-idpauth=/);
    expect((await user.get("/reports")).status).toBe(200);
  });

  it("is requested where the option says", async () => {
    const user = await signIn(fetchApp(), GRACE, { origin: "https://app.example/" });
    // Nothing but the request's own URL tells this application that it is one of https.
    expect([user.origin, user.cookie.split("=")[0]]).toEqual([
      "https://app.example",
      "__Host-Http-idpauth",
    ]);
    expect((await user.get("/reports")).status).toBe(200);
  });
});

describe("the server that is opened", () => {
  it("is one for each application, and closes with the last user", async () => {
    const app = expressApp();
    const [first, second] = await Promise.all([signIn(app, GRACE), signIn(app)]);
    expect(second.origin).toBe(first.origin);
    await first.close();
    await first.close();
    expect((await second.get("/reports")).status).toBe(200);
    await second[Symbol.asyncDispose]();
    await expect(second.get("/reports")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const third = await signIn(app, GRACE);
    expect((await third.get("/reports")).status).toBe(200);
    await third.close();
  });

  it("closes, too, if a request never gets a response", async () => {
    const app = expressApp();
    const user = await signIn(app);
    const reached = new Promise<void>((resolve) => {
      app.get("/never", () => {
        resolve();
      });
    });
    const asked = user.get("/never").catch((error: unknown) => error);
    await reached;
    await user.close();
    expect(await asked).toMatchObject({ code: "ECONNRESET" });
  });

  it("is the application's own where that listens, and stays open", async () => {
    const server = await listening(createServer(expressApp()));
    const user = await signIn(server, GRACE);
    expect(user.origin).toBe(`http://127.0.0.1:${portOf(server)}`);
    await user.close();
    expect((await user.get("/reports")).status).toBe(200);
  });

  it("is not held by a sign-in that failed", async () => {
    const server = createServer((_request, response) => response.writeHead(500).end());
    await expect(signIn(server)).rejects.toBeInstanceOf(SignInError);
    expect(server.listening).toBe(false);
  });
});

describe("what went wrong, and what to check", () => {
  async function failureOf(
    app: TestedApplication,
    person?: object,
    own?: SignInOptions,
  ): Promise<SignInError> {
    const error = await signIn(app, person as never, own).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(SignInError);
    const { message } = error as SignInError;
    // No secret that could sign in a user.
    for (const { value } of provider.issued) expect(message).not.toContain(value);
    for (const { query } of provider.requestsTo("authorize"))
      expect(message).not.toContain(query.get("state"));
    expect(message).not.toContain(provider.clientSecret);
    return error as SignInError;
  }

  it("an application without idpauth", async () => {
    const error = await failureOf(express());
    expect(error).toMatchObject({ step: "login", status: 404, code: undefined });
    expect(error.message).toMatch(
      /^signIn stopped at the login: http:\/\/127\.0\.0\.1:\d+\/idpauth\/login\/ responded with 404\. Mount idpauth before/,
    );
  });

  it("a page that responds in its place", async () => {
    const error = await failureOf(((_request, response) =>
      response.end("hello")) satisfies RequestListener);
    expect(error).toMatchObject({ step: "login", status: 200 });
    expect(error.message).toContain("responds before idpauth");
  });

  it("no server at the address", async () => {
    const server = await listening(createServer());
    const port = portOf(server);
    server.close();
    expect((await failureOf(`http://127.0.0.1:${port}`)).message).toContain("Check that it runs.");
  });

  it("a provider that is away", async () => {
    await provider.pause();
    const error = await failureOf(expressApp());
    expect(error).toMatchObject({ step: "login", status: 503, code: "provider_unavailable" });
    expect(error.message).toContain("Check that the provider runs");
    await provider.resume();
  });

  it("a token endpoint that fails", async () => {
    provider.fault("token", { kind: "status", status: 503 });
    expect(await failureOf(expressApp())).toMatchObject({
      step: "callback",
      status: 503,
      code: "provider_unavailable",
    });
  });

  it("an authorization endpoint that fails", async () => {
    provider.fault("authorize", { kind: "status", status: 500 });
    const error = await failureOf(expressApp());
    expect(error).toMatchObject({ step: "provider", status: 500 });
    expect(error.message).toContain("provider.clearFaults()");
  });

  const FAULT_STANDS = "A fault, barrier or hook affects its authorization endpoint";

  it.each<Fault>([
    { kind: "hang" },
    { kind: "delay", ms: 60_000 },
    { kind: "drip", body: "<p>" },
    { kind: "delay", ms: 60_000, before: false },
  ])("an authorization endpoint that does not respond: $kind", async (fault) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let isOver = false;
      const struck = new Promise<void>((resolve) => {
        const when = () => {
          resolve();
          return true;
        };
        provider.fault("authorize", { ...fault, when });
      });
      const failure = failureOf(expressApp()).finally(() => (isOver = true));
      await struck;
      vi.advanceTimersByTime(3_999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(isOver).toBe(false);
      vi.advanceTimersByTime(1);
      const error = await failure;
      expect(error).toMatchObject({ step: "provider", status: undefined });
      expect(error.message).toContain(
        "/authorize didn't respond within 4 seconds. " + FAULT_STANDS,
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it("a barrier at the authorization endpoint, which a test holds on purpose, is waited for, and no timer is left", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const hold = provider.hold("authorize");
      const begun = vi.spyOn(globalThis, "setTimeout");
      const cleared = vi.spyOn(globalThis, "clearTimeout");
      const user = signIn(expressApp());
      await hold.arrived;
      vi.advanceTimersByTime(3_999);
      hold.release();
      expect((await (await user).get("/reports")).status).toBe(200);
      const limits = begun.mock.results.filter(
        (_result, at) => begun.mock.calls[at]?.[1] === 4_000,
      );
      // The first one is signIn's. The HTTP client has the same limit for its idle connections,
      // which begin after the responses.
      expect(limits.length).toBeGreaterThan(0);
      expect(cleared).toHaveBeenCalledWith(limits[0]?.value);
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
    }
  });

  it.each([2 * 1024 * 1024, Infinity])(
    "an authorization endpoint that responds with %s bytes",
    async (bytes) => {
      provider.fault("authorize", { kind: "oversized", bytes });
      const error = await failureOf(expressApp());
      expect(error.step).toBe("provider");
      expect(error.message).toContain("/authorize responded with more than 1 MiB. " + FAULT_STANDS);
    },
  );

  it.each<[Fault, string]>([
    [{ kind: "reset" }, "/authorize ended the connection. "],
    [{ kind: "truncated" }, "/authorize ended the connection. "],
    [{ kind: "garbage" }, "/authorize responded with 200. "],
    [{ kind: "oversized", bytes: 1000 }, "/authorize responded with 200. "],
    [{ kind: "status", status: 400 }, "/authorize responded with 400. "],
    [{ kind: "status", status: 429 }, "/authorize responded with 429. "],
    [
      { kind: "status", status: 400, body: { error: "invalid_scope" } },
      "/authorize responded with 400, invalid_scope. ",
    ],
    // The application has a code of that name, too, and a hint for it.
    [{ kind: "redirect" }, "/redirected responded with 404, not_found. "],
    [
      { kind: "status", status: 503, body: { code: "provider_unavailable" } },
      "/authorize responded with 503, provider_unavailable. ",
    ],
  ])("a fault at the authorization endpoint is reported as one: %o", async (fault, message) => {
    // Of a redirect there is nothing to cut.
    provider.fault(
      "authorize",
      fault.kind === "truncated" ? { ...fault, body: "<p>hello</p>" } : fault,
    );
    const error = await failureOf(expressApp());
    expect(error.step).toBe("provider");
    expect(error.message).toContain(message + FAULT_STANDS);
  });

  it("a hook that throws at the authorization endpoint", async () => {
    provider.authorizationResponse = () => {
      throw new Error("mistake in the test");
    };
    const error = await failureOf(expressApp());
    expect(error).toMatchObject({ step: "provider", status: 500, code: "server_error" });
    expect(error.message).toContain("Errors of hooks are in `provider.violations`.");
    expect(provider.violations).toHaveLength(1);
    provider.violations.length = 0;
  });

  it("an unknown key is an outage of that sign-in alone, and rotated keys are found at once", async () => {
    const app = expressApp({ clock: provider.clock });
    await signIn(app);
    provider.mutateIdToken = byStranger({ kid: "nobody's" });
    const error = await failureOf(app);
    expect(error).toMatchObject({ step: "callback", status: 503, code: "provider_unavailable" });
    expect(error.message).toContain(
      "After a failure, idpauth waits before it tries the provider again: advance the clock.",
    );
    provider.mutateIdToken = undefined;
    for (let rotation = 0; rotation < 2; rotation += 1) {
      await provider.rotateKeys();
      expect((await (await signIn(app)).get("/reports")).status).toBe(200);
    }
  });

  it("a user who declines", async () => {
    provider.authorizationResponse = (params) => {
      params.delete("code");
      params.set("error", "access_denied");
    };
    expect(await failureOf(expressApp())).toMatchObject({
      step: "callback",
      code: "access_denied",
    });
  });

  it("another client than the provider's", async () => {
    const error = await failureOf(expressApp({ clientId: "somebody-else" }));
    expect(error).toMatchObject({ step: "provider", status: 400, code: "invalid_request" });
    expect(error.message).toContain(
      "Give the application `provider.env`, or remove a fault or hook.",
    );
  });

  it("an ID token that is refused", async () => {
    provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, aud: "other" } });
    const error = await failureOf(expressApp());
    expect(error).toMatchObject({ step: "callback", status: 400, code: "sign_in_refused" });
    expect(error.message).toContain("`mutateIdToken`");
  });

  it("a wrong secret", async () => {
    const error = await failureOf(expressApp({ clientSecret: "wrong" }));
    expect(error).toMatchObject({ step: "callback", code: "provider_misconfigured" });
    expect(error.message).toContain("`provider.env`");
    expect(error.message).toContain("`provider.violations`");
    expect(provider.violations.splice(0)).toEqual([
      "token: invalid_client: the client secret is wrong",
    ]);
  });

  it("two clocks", async () => {
    const error = await failureOf(expressApp({ clock: new TestClock() }));
    expect(error).toMatchObject({ step: "callback", code: "provider_misconfigured" });
    expect(error.message).toContain("`clock: provider.clock`");
  });

  it("a cookie that a browser does not keep", async () => {
    const app = expressApp();
    const error = await failureOf(
      createServer((request, response) => {
        const { setHeader } = response;
        response.setHeader = (name, value) =>
          setHeader.call(
            response,
            name,
            name.toLowerCase() === "set-cookie"
              ? [String(value)].map((line) => `${line}; Secure`)
              : value,
          );
        app(request, response);
      }),
    );
    expect(error).toMatchObject({ step: "callback", status: 400, code: "login_link_invalid" });
    expect(error.message).toContain("The browser didn't return the login's cookie");
  });

  it("a session that ends at once", async () => {
    const { clock } = provider;
    const anHourLater: express.RequestHandler = (req, _res, next) => {
      if (req.path === "/idpauth/session") clock.advance(3_600_000);
      next();
    };
    const error = await failureOf(expressApp({ clock, sessionMaxAge: 60 }, [anHourLater]));
    expect(error).toMatchObject({ step: "session", code: "max_age" });
  });

  it("a configuration that is refused, and which checks failed", async () => {
    const error = await failureOf(fetchApp({ secretKey: "" }));
    expect(error).toMatchObject({
      step: "login",
      status: 500,
      cause: { name: "ConfigurationError" },
    });
    expect(error.message).toContain("idpauth can't start: E001.");
  });

  it("a function that throws, and one that gives an application", async () => {
    const bug = new Error("a bug");
    const thrown = await failureOf(() => {
      throw bug;
    });
    expect(thrown).toMatchObject({ step: "login", status: 500, cause: bug });
    expect((await failureOf(() => expressApp())).cause).toMatchObject({
      message: expect.stringContaining("factory"),
    });
  });

  it("a redirect that is no sign-in", async () => {
    const error = await failureOf(
      createServer((_request, response) =>
        response.writeHead(302, { Location: "https://www.example/?state=s" }).end(),
      ),
    );
    expect(error.message).toContain("it leads to https://www.example/, which is no sign-in");
  });

  it.each(["login", "callback"] as const)(
    "a redirect of the %s to what is no address",
    async (step) => {
      const path = step === "login" ? "/idpauth/login/" : "/idpauth/login-callback";
      const app = expressApp({}, [
        (request, response, next) => {
          if (request.path === path) response.writeHead(302, { Location: "http://[" }).end();
          else next();
        },
      ]);
      const error = await failureOf(app);
      expect(error).toMatchObject({ step, status: 302 });
      expect(error.message).toContain("an invalid redirect target");
      // It would repeat the address before it, with state and code.
      expect(error.cause).toBeUndefined();
    },
  );

  it.each(["<p>hello</p>", "null"])("a probe that responds with %s", async (body) => {
    const app = expressApp({}, [
      (request, response, next) => {
        if (request.path === "/idpauth/session") response.send(body);
        else next();
      },
    ]);
    const error = await failureOf(app);
    expect(error).toMatchObject({ step: "session", status: 200 });
    expect(error.message).not.toContain("hello");
  });

  it("redirects without end", async () => {
    const error = await failureOf(
      createServer((request, response) =>
        response.writeHead(302, { Location: request.url! }).end(),
      ),
    );
    expect(error.message).toContain("redirects without end");
  });

  it("a BASE_URL whose scheme is another than the user's", async () => {
    const error = await failureOf(expressApp({ baseUrl: "https://app.example" }), undefined, {
      origin: "http://app.example",
    });
    expect(error).toMatchObject({ step: "callback" });
    expect(error.message).toContain(
      "has the origin https://app.example, but the user is at http://app.example",
    );
  });

  describe("with another provider", () => {
    it("on the Internet: no request goes there", async () => {
      provider.discoveryDocument = (document) => ({
        ...document,
        authorization_endpoint: "https://login.example/authorize",
      });
      const error = await failureOf(expressApp());
      expect(error).toMatchObject({ step: "provider", status: undefined });
      expect(error.message).toContain("sends users to https://login.example.");
      expect(error.message).toContain("provider.env");
    });

    it("that shows pages", async () => {
      const { env } = await startProvider(["--port=0"], { folder: emptyFolder() });
      const error = await failureOf(expressApp({ env: { ...env, BASE_URL: "" } }));
      expect(error).toMatchObject({ step: "provider", status: 200 });
      expect(error.message).toContain("It shows a page");
    });

    it("that shows no form: it signs in its own user, and a test cannot name another", async () => {
      // A gateway before the provider, which hides what that is.
      const gateway = await listening(
        createServer((request, response) => {
          void fetch(`${provider.issuer}${request.url!}`, { redirect: "manual" }).then((reply) => {
            response
              .writeHead(reply.status, { Location: reply.headers.get("location") ?? "" })
              .end();
          });
        }),
      );
      provider.discoveryDocument = (document) => ({
        ...document,
        authorization_endpoint: `http://127.0.0.1:${portOf(gateway)}/authorize`,
      });
      expect((await (await signIn(expressApp())).get("/reports")).status).toBe(200);
      const error = await failureOf(expressApp(), GRACE);
      expect(error.message).toContain("only a test provider accepts a person");
    });
  });
});

describe("what cannot be reached at all is said at once", () => {
  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /how to reach this application/],
    ["an object of another kind", { listen: () => undefined }, /how to reach this application/],
    ["a promise of one", Promise.resolve(express()), /Await a promise first/],
    ["an https origin", "https://localhost:3000", /http origin on this machine/],
    ["an origin elsewhere", "http://app.example", /http origin on this machine/],
    ["text that is no URL", "localhost", /http origin on this machine/],
    [
      "an address with a path",
      "http://localhost:3000/app",
      /Pass only the origin, http:\/\/localhost:3000\./,
    ],
    ["a server with TLS", createSecureServer(), /plain HTTP/],
  ])("%s", async (_name, app, message) => {
    const failure = signIn(app as TestedApplication);
    await expect(failure).rejects.toBeInstanceOf(TypeError);
    await expect(failure).rejects.toThrow(message);
  });

  it("a user who is not an object of claims", async () => {
    const failure = signIn(express(), "ada@example.com" as unknown as Record<string, unknown>);
    await expect(failure).rejects.toThrow(/^Pass the user as an object of claims/);
  });

  it("options that are none", async () => {
    await expect(signIn(express(), {}, { origin: "app.example" })).rejects.toThrow(
      /`origin` must be scheme, host and port/,
    );
    await expect(signIn(express(), {}, { mountPath: "idpauth" })).rejects.toThrow(
      /`mountPath` must be a path/,
    );
  });

  it("what the application threw in another request is not given as the cause", async () => {
    const app = async ({ url }: Request) => {
      if (new URL(url).pathname === "/boom") throw new Error("of another request");
      return new Response("nothing", { status: 404 });
    };
    const user = await browser(app);
    cleanups.push(() => user.close());
    expect((await user.get("/boom")).status).toBe(500);
    const error: unknown = await signIn(app).catch((reason: unknown) => reason);
    expect([(error as SignInError).status, (error as SignInError).cause]).toEqual([404, undefined]);
  });
});

it("an application stays open for a browser that opens while the last one closes", async () => {
  const app = async () => new Response("here");
  const first = await browser(app);
  const [second] = await Promise.all([browser(app), first.close()]);
  cleanups.push(() => second.close());
  expect((await second.get("/")).text).toBe("here");
});

it("a server at another address of the loopback network gets its requests there", async () => {
  const server = createServer((_request, response) => response.end("here")).listen(0, "127.0.0.2");
  await once(server, "listening");
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const app of [server, `http://127.0.0.2:${port}`])
    expect((await (await browser(app)).get("/")).text).toBe("here");
});
