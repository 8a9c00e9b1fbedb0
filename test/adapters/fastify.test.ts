import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import cookie from "@fastify/cookie";
import session from "@fastify/session";
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type FastifyTypeProvider,
  type HTTPMethods,
} from "fastify";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { idpAuth, type FastifyIdpAuth } from "../../src/adapters/fastify/fastify.js";
import {
  ConfigurationError,
  ProviderUnavailableError,
  type Blocked,
  type Credentials,
  type IdpAuthOptions,
} from "../../src/index.js";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import {
  registerSession,
  startFastifyApplication,
  type FastifyApplication,
  type FastifyApplicationOptions,
} from "../support/fastify-application.js";

const HOUR = 3_600_000;
const JSON_ONLY = { headers: { accept: "application/json" } };

let app: FastifyApplication;
const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

async function start(options: FastifyApplicationOptions = {}): Promise<FastifyApplication> {
  app = await startFastifyApplication(options);
  running.push(app);
  return app;
}

async function signedIn(
  browser = app.browser(),
  login = "/idpauth/login/",
): Promise<CookieBrowser> {
  const answer = await browser.follow(login);
  expect([answer.status, answer.url.origin]).toEqual([200, app.origin]);
  return browser;
}

/** Options of an application that could start. */
const COMPLETE: IdpAuthOptions = {
  env: {},
  secretKey: "a secret key of at least 32 bytes",
  clientId: "client",
  clientSecret: "secret",
  scope: ["openid"],
  baseUrl: "https://app.example",
  log: false,
};

async function statusOf(target: string, { method = "GET", headers = "" } = {}): Promise<number> {
  return (await raw(target, method, headers)).status;
}

function raw(target: string, method = "GET", headers = "") {
  return rawRequest(
    app.port,
    `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${String(app.port)}\r\n${headers}\r\n`,
  );
}

describe("types", () => {
  interface Given extends FastifyTypeProvider {
    readonly validator: this["schema"];
  }
  const auth = idpAuth(COMPLETE);

  it("infer in routes of every kind, without casts", async () => {
    const plain = fastify();
    await plain.register(auth.plugin);
    await plain.register(auth.plugin, { prefix: "/area" }).then(undefined, () => undefined);
    plain.addHook("onRequest", auth.idpRequired);
    plain.get("/a", { preHandler: auth.idpRequired }, async (request) => {
      const credentials = await auth.getCredentials(request);
      expectTypeOf(credentials).toEqualTypeOf<Credentials | null>();
      return credentials?.token;
    });
    plain.get<{ Querystring: { page: number }; Params: { id: string }; Reply: { name: string } }>(
      "/b/:id",
      { onRequest: auth.idpRequired, preValidation: [auth.idpRequired] },
      async (request) => {
        expectTypeOf(request.query.page).toBeNumber();
        return { name: (await auth.getSession(request))?.user.name ?? request.params.id };
      },
    );
    plain
      .withTypeProvider<Given>()
      .post(
        "/c",
        { schema: { body: { type: "object" } }, preHandler: auth.idpRequired },
        async (request) => auth.getSession(request),
      );
    await plain.close();
  });

  it("serve HTTP/2 and TLS servers as well", () => {
    const secure = () => {
      const server = fastify({ http2: true, https: {} });
      void server.register(auth.plugin);
      server.get(
        "/",
        { preHandler: auth.idpRequired },
        async (request) => (await auth.requireSession(request)).user,
      );
    };
    const tls = () => {
      const server = fastify({ https: {} });
      void server.register(auth.plugin, { prefix: "/area" });
      server.get(
        "/",
        { preHandler: auth.idpRequired },
        async (request) => (await auth.requireSession(request)).user,
      );
    };
    expectTypeOf(secure).toBeFunction();
    expectTypeOf(tls).toBeFunction();
  });

  it("give the guard's own responses request, reply and what was blocked", () => {
    auth.idpRequiredWith({
      navigation(request, reply, blocked) {
        expectTypeOf(request).toEqualTypeOf<FastifyRequest>();
        expectTypeOf(reply).toEqualTypeOf<FastifyReply>();
        expectTypeOf(blocked).toEqualTypeOf<Blocked<"navigation">>();
        return reply.redirect(blocked.loginUrl);
      },
    });
  });
});

describe("startup checks", () => {
  /** The codes of what is found when idpauth is registered like this. */
  async function codesOf(
    arrange: (instance: FastifyInstance, auth: FastifyIdpAuth) => unknown,
    options: IdpAuthOptions = {},
  ) {
    const codes: string[] = [];
    const instance = fastify();
    const auth = idpAuth({
      ...COMPLETE,
      session: "host",
      log: ({ code }) => codes.push(code),
      ...options,
    });
    try {
      await arrange(instance, auth);
      await instance.ready();
      return codes;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.findings.map(({ code }) => code);
    } finally {
      await instance.close();
    }
  }

  /** A plugin that only has this name. */
  const named = (name: string) =>
    Object.assign(
      (_instance: FastifyInstance, _options: unknown, done: () => void) => {
        done();
      },
      {
        [Symbol.for("skip-override")]: true,
        [Symbol.for("plugin-meta")]: { name },
      },
    );

  it("a configuration error stops register, ready and listen, with every finding at once", async () => {
    const auth = idpAuth({ ...COMPLETE, secretKey: "", clientId: "" });
    const findings = expect.objectContaining({
      findings: expect.arrayContaining(
        [{ code: "E001" }, { code: "E003" }].map((each) => expect.objectContaining(each)),
      ),
    });
    await expect(fastify().register(auth.plugin)).rejects.toEqual(findings);
    const [one, other] = [fastify(), fastify()];
    void one.register(auth.plugin);
    void other.register(auth.plugin);
    await expect(one.ready()).rejects.toBeInstanceOf(ConfigurationError);
    await expect(other.listen({ port: 0, host: "127.0.0.1" })).rejects.toEqual(findings);
  });

  it.each<[string, (instance: FastifyInstance, auth: FastifyIdpAuth) => unknown, string[]]>([
    ["nothing else", (instance, auth) => instance.register(auth.plugin), ["E002"]],
    [
      "@fastify/session before it",
      async (instance, auth) => {
        await registerSession(instance);
        await instance.register(auth.plugin);
      },
      [],
    ],
    [
      "@fastify/session registered without await",
      (instance, auth) => {
        void instance.register(cookie);
        void instance.register(session, {
          secret: "the host's secret of at least 32 characters",
          rolling: false,
        });
        void instance.register(auth.plugin);
      },
      [],
    ],
    [
      "@fastify/session in an outer scope",
      async (instance, auth) => {
        await registerSession(instance);
        await instance.register(async (scope) => scope.register(auth.plugin));
      },
      [],
    ],
    [
      "@fastify/session in another scope",
      async (instance, auth) => {
        await instance.register(async (scope) => registerSession(scope));
        await instance.register(auth.plugin);
      },
      ["E002"],
    ],
    [
      "@fastify/session after it, which is too late",
      async (instance, auth) => {
        void instance.register(auth.plugin);
        await registerSession(instance);
      },
      ["E002"],
    ],
    [
      "@fastify/secure-session",
      async (instance, auth) => {
        await instance.register(named("@fastify/secure-session"));
        await instance.register(auth.plugin);
      },
      ["E002"],
    ],
    [
      "something else that decorates requests with a session",
      (instance, auth) => {
        instance.decorateRequest("session", null as never);
        return instance.register(auth.plugin);
      },
      ["W008"],
    ],
  ])('session: "host" with %s', async (_what, arrange, expected) => {
    const codes = await codesOf(arrange);
    expect(codes.filter((code) => code === "E002" || code === "W008")).toEqual(expected);
    if (!expected.includes("E002")) expect(codes).toContain("W006");
  });

  it('with session: "host", a warning says to register @fastify/session with rolling: false', async () => {
    const remedies: string[] = [];
    const instance = fastify();
    await registerSession(instance, { rolling: true });
    const auth = idpAuth({
      ...COMPLETE,
      session: "host",
      log: (entry) => remedies.push(`${entry.code} ${entry.message}`),
    });
    await instance.register(auth.plugin);
    await instance.close();
    expect(remedies.join()).toMatch(
      /W006 [^]*On Fastify, register @fastify\/session with `rolling: false`/,
    );
  });

  it("a cookie-only session is refused by name", async () => {
    const instance = fastify();
    void instance.register(named("@fastify/secure-session"));
    void instance.register(idpAuth({ ...COMPLETE, session: "host" }).plugin);
    await expect(instance.ready()).rejects.toThrow(/cookie-only[^]*@fastify\/session/);
  });
});

describe("scopes", () => {
  const area = (mountPath = "/area/idpauth/"): FastifyApplicationOptions => ({
    mountPath,
    async register(instance, auth) {
      await instance.register(
        async (scope) => {
          await scope.register(auth.plugin);
          scope.get(
            "/reports",
            { preHandler: auth.idpRequired },
            async (request) => (await auth.requireSession(request)).user,
          );
        },
        { prefix: "/area" },
      );
    },
    routes: (instance) => instance.get("/elsewhere", async () => "elsewhere"),
  });

  it("in a scope with a prefix, with the whole path as mountPath, it serves and guards the same", async () => {
    await start(area());
    const page = await app.browser().follow("/area/reports?x=1");
    expect([page.status, page.url.pathname, page.json().email]).toEqual([
      200,
      "/area/reports",
      "ada@example.com",
    ]);
    expect(await statusOf("/area/idpauth")).toBe(200);
    expect(await statusOf("/idpauth/session")).toBe(404);
    expect(await statusOf("/elsewhere")).toBe(200);
  });

  it.each(["POST", "DELETE", "TRACE", "QUERY", "PURGE", "PROPFIND"])(
    "there, too, %s is 405 at an endpoint",
    async (method) => {
      await start(area());
      expect(await statusOf("/area/idpauth/session", { method })).toBe(405);
      expect(await statusOf("/area/idpauth", { method })).toBe(405);
    },
  );

  it("an application's own wildcards take nothing away from it, in its scope or around it", async () => {
    const wildcard = (instance: FastifyInstance) =>
      instance.all("/*", async (_request, reply) => reply.code(299).send("the application's"));
    await start({ ...area(), first: wildcard });
    for (const target of ["/area/idpauth/session", "/area/idpauth/", "/area/idpauth"])
      expect(await statusOf(target), target).toBe(200);
    expect(
      await statusOf("/area/idpauth/session", { method: "POST", headers: "Content-Length: 0\r\n" }),
    ).toBe(405);
    expect(await statusOf("/area/other")).toBe(299);
    await start({ first: wildcard });
    expect([
      await statusOf("/idpauth/session"),
      await statusOf("/idpauth"),
      await statusOf("/other"),
    ]).toEqual([200, 200, 299]);
  });

  it("the prefix option is checked against the mount path, never silently ignored", async () => {
    await start({
      mountPath: "area/idpauth",
      register: (instance, auth) => instance.register(auth.plugin, { prefix: "/area" }),
    });
    expect(await statusOf("/area/idpauth/session")).toBe(200);
    const wrong = fastify();
    void wrong.register(idpAuth(COMPLETE).plugin, { prefix: "/area" });
    await expect(wrong.ready()).rejects.toThrow(
      "below the prefix /area, but its mount path is /idpauth/",
    );
    const scoped = fastify();
    void scoped.register(
      async (scope) =>
        scope.register(idpAuth({ ...COMPLETE, env: { IDP_MOUNT_PATH: "/areas/idpauth/" } }).plugin),
      {
        prefix: "/area",
      },
    );
    await expect(scoped.ready()).rejects.toThrow(
      "below the prefix /area, but its mount path is /areas/idpauth/",
    );
  });

  it.each([["/area/"], ["/area"]])(
    "a scope whose prefix is %s may be the mount path itself",
    async (prefix) => {
      await start({
        env: { IDP_MOUNT_PATH: "/area" },
        register: (instance, auth) =>
          instance.register(async (scope) => scope.register(auth.plugin), { prefix }),
      });
      expect([
        await statusOf("/area/session"),
        await statusOf("/area/session", { method: "PURGE" }),
      ]).toEqual([200, 405]);
    },
  );

  it("a scope without a prefix keeps its hook to itself, and the guard works outside", async () => {
    await start({
      register: (instance, auth) => instance.register(async (scope) => scope.register(auth.plugin)),
      routes: (instance, auth) =>
        instance.get(
          "/reports",
          { preHandler: auth.idpRequired },
          async (request) => (await auth.requireSession(request)).user,
        ),
    });
    const browser = await signedIn();
    expect((await browser.get("/reports")).json().email).toBe("ada@example.com");
    expect(await statusOf("/idpauth/session", { method: "PURGE" })).toBe(405);
  });

  it("registered twice in one application, it does not start; one idpAuth may serve two applications", async () => {
    const auth = idpAuth(COMPLETE);
    const [twice, one, other] = [fastify(), fastify(), fastify()];
    void twice.register(auth.plugin);
    void twice.register(async (scope) => scope.register(auth.plugin));
    await expect(twice.ready()).rejects.toMatchObject({ code: "FST_ERR_DUPLICATED_ROUTE" });
    for (const each of [one, other]) {
      await each.register(auth.plugin);
      expect((await each.inject("/idpauth/session")).json()).toEqual({
        authenticated: false,
        user: null,
      });
      await each.close();
    }
  });

  it("it decorates nothing, and says its name", async () => {
    const [bare, instance] = [fastify(), fastify()];
    await instance.register(idpAuth(COMPLETE).plugin);
    await Promise.all([bare.ready(), instance.ready()]);
    expect(instance.hasPlugin("idpauth")).toBe(true);
    expect(Object.keys(instance).filter((key) => !Object.hasOwn(bare, key))).toEqual([]);
    for (const name of ["session", "user", "idpauth", "auth"])
      expect([instance.hasRequestDecorator(name), instance.hasReplyDecorator(name)]).toEqual([
        false,
        false,
      ]);
  });
});

describe("paths", () => {
  /** Nobody but the very spelling is answered, whatever the router makes of the others. */
  const TARGETS: readonly (readonly [target: string, status: number])[] = [
    ["/idpauth", 200],
    ["/idpauth/", 200],
    ["/idpauth/session", 200],
    ["/idpauth/session/", 200],
    ["/idpauth/session?x=%ff&x=%", 200],
    ["/idpauth/login-callback/?state=x&code=y", 400],
    ["/idpauth/login-callback//?state=x&code=y", 404],
    ["//idpauth/session", 404],
    ["/idpauth//session", 404],
    ["//idpauth//debug", 404],
    ["/IDPAUTH/session", 404],
    ["/idpauth/SESSION", 404],
    ["/idpauth/%64ebug", 404],
    ["/%69dpauth/session", 404],
    ["/idpauth%2Fsession", 404],
    ["/idpauth/%2e%2e/session", 404],
    ["/idpauth/session;x=1", 404],
    ["/idpauth;x=1", 404],
    [`/idpauth/${"x".repeat(500)}`, 404],
    ["http://evil.example/idpauth/session", 200],
    ["HTTP://evil.example/idpauth/session", 200],
  ];
  // Its type does not know it yet.
  const SEMICOLON = { useSemicolonDelimiter: true } as object;
  const ROUTERS: readonly (readonly [string, FastifyServerOptions])[] = [
    ["Fastify's defaults", {}],
    ["ignoreTrailingSlash", { routerOptions: { ignoreTrailingSlash: true } }],
    ["ignoreDuplicateSlashes", { routerOptions: { ignoreDuplicateSlashes: true } }],
    ["caseSensitive: false", { routerOptions: { caseSensitive: false } }],
    ["useSemicolonDelimiter", { routerOptions: SEMICOLON }],
    [
      "all of them, and short parameters",
      {
        routerOptions: {
          ignoreTrailingSlash: true,
          ignoreDuplicateSlashes: true,
          caseSensitive: false,
          ...SEMICOLON,
          maxParamLength: 1,
        },
      },
    ],
  ];

  it.each(ROUTERS)("end alike with %s", async (_what, server) => {
    await start({ server });
    for (const [target, status] of TARGETS) expect(await statusOf(target), target).toBe(status);
    for (const method of ["POST", "TRACE", "PURGE", "QUERY"])
      expect(await statusOf("/idpauth/logout/", { method }), method).toBe(405);
    expect(app.caught).toEqual([]);
  });

  it("a path that cannot be decoded is refused by Fastify before any plugin runs, as the application has it", async () => {
    await start();
    const answer = await raw("/idpauth/%");
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      expect.objectContaining({ code: "FST_ERR_BAD_URL" }),
    ]);
    await start({
      server: {
        frameworkErrors: (_error, _request, reply: FastifyReply) => void reply.code(404).send(),
      },
    });
    expect(await statusOf("/idpauth/%zz")).toBe(404);
  });

  it("what is not ours in the end is the application's to miss", async () => {
    await start({
      first: (instance) =>
        void instance.setNotFoundHandler(async (_request, reply) =>
          reply.code(404).send("the application's"),
        ),
    });
    expect((await raw("/nothing")).body).toContain("the application's");
    expect((await raw("/idpauth/nothing")).body).toContain("not_found");
    expect(JSON.parse((await raw("/%69dpauth/x")).body)).toMatchObject({
      error: "Not Found",
      statusCode: 404,
    });
  });

  it("with rewriteUrl the path that the browser sent decides, for endpoints, guard and the way back", async () => {
    await start({
      mountPath: "/app/idpauth/",
      server: {
        rewriteUrl: ({ url = "/" }) =>
          url === "/secret" ? "/app/idpauth/session" : url.replace(/^\/app(?=\/)/, ""),
      },
      routes: (instance, auth) =>
        instance.get(
          "/reports",
          { preHandler: auth.idpRequired },
          async (request) => (await auth.requireSession(request)).user,
        ),
    });
    const page = await app.browser().follow("/app/reports?a=b");
    expect([page.status, page.url.pathname + page.url.search]).toEqual([200, "/app/reports?a=b"]);
    expect(await statusOf("/secret")).toBe(404);
    expect(await statusOf("/idpauth/session")).toBe(404);
  });
});

describe("the life of a request", () => {
  it("onSend and onResponse hooks see our responses, and may change them", async () => {
    const seen: string[] = [];
    await start({
      first(instance) {
        instance.addHook("onSend", async (request, reply, payload) => {
          seen.push(`${request.url} ${typeof payload} ${String(reply.getHeader("content-type"))}`);
          reply.header("x-size", String((payload as string | undefined)?.length ?? 0));
          return typeof payload === "string" ? payload.replace("false", "false ") : payload;
        });
        instance.addHook(
          "onResponse",
          async (request, reply) => void seen.push(`${request.url} ${String(reply.statusCode)}`),
        );
      },
    });
    const probe = await app.browser().get("/idpauth/session");
    expect([probe.text, probe.headers["x-size"]]).toEqual([
      '{"authenticated":false ,"user":null}',
      "35",
    ]);
    const login = await app.browser().navigate("/idpauth/login/");
    expect([login.status, login.headers["content-length"]]).toEqual([302, "0"]);
    await expect
      .poll(() => seen)
      .toEqual([
        "/idpauth/session string application/json; charset=utf-8",
        "/idpauth/session 200",
        "/idpauth/login/ undefined undefined",
        "/idpauth/login/ 302",
      ]);
  });

  it("our endpoints and a guard in onRequest respond before a body is read", async () => {
    let parsed = 0;
    const count = (_request: unknown, _body: unknown, done: (error: Error | null) => void) => {
      parsed += 1;
      done(null);
    };
    await start({
      first: (instance) =>
        instance.addContentTypeParser("application/json", { parseAs: "string" }, count),
      routes(instance, auth) {
        instance.post("/early", { onRequest: auth.idpRequired }, async () => "done");
        instance.post("/late", { preHandler: auth.idpRequired }, async () => "done");
      },
    });
    const body = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"broken',
    };
    for (const [path, status] of [
      ["/idpauth/logout/", 405],
      ["/early", 401],
    ] as const)
      expect((await app.browser().get(path, body)).status).toBe(status);
    const unknown = { method: "POST", headers: { "content-type": "made/up" }, body: "x" };
    expect((await app.browser().get("/idpauth/session", unknown)).status).toBe(405);
    expect((await app.browser().get("/early", unknown)).status).toBe(401);
    expect(parsed).toBe(0);
    expect((await app.browser().get("/late", body)).status).toBe(401);
    expect(parsed).toBe(1);
    expect((await (await signedIn()).get("/early", body)).text).toBe("done");
  });

  it("a guard for a whole scope stands before all of its routes and none of the endpoints", async () => {
    await start({
      routes(instance, auth) {
        instance.addHook("onRequest", auth.idpRequired);
        instance.get("/reports", async () => "reports");
      },
    });
    expect((await app.browser().get("/reports")).status).toBe(401);
    expect((await app.browser().get("/nothing")).status).toBe(401);
    expect((await (await signedIn()).get("/reports")).text).toBe("reports");
  });

  it("a response of the application's own may be sent or returned, at once or later", async () => {
    const answers = {
      "/redirect": (_request: FastifyRequest, reply: FastifyReply) => reply.redirect("/welcome"),
      "/returned": (
        _request: FastifyRequest,
        reply: FastifyReply,
        { reason }: Blocked<"unauthenticated">,
      ) => {
        reply.code(418);
        return { reason };
      },
      "/async": async (_request: FastifyRequest, reply: FastifyReply) =>
        reply.code(419).send("later"),
      "/sent": (_request: FastifyRequest, reply: FastifyReply) => void reply.code(420).send("sent"),
    };
    let ran = 0;
    await start({
      // Hooks that take their time: what has been sent is not over yet.
      first: (instance) =>
        instance.addHook(
          "onSend",
          async () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
        ),
      routes(instance, auth) {
        for (const [path, unauthenticated] of Object.entries(answers)) {
          instance.get(
            path,
            { preHandler: auth.idpRequiredWith({ unauthenticated }) },
            async () => (ran += 1),
          );
        }
      },
    });
    const asked = await Promise.all(Object.keys(answers).map((path) => app.browser().get(path)));
    expect(asked.map(({ status, text }) => [status, text])).toEqual([
      [302, ""],
      [418, '{"reason":"no_credentials"}'],
      [419, "later"],
      [420, "sent"],
    ]);
    expect([ran, app.caught]).toEqual([0, []]);
  });

  it("what middleware for node:http has put into the response below Fastify's stays, too", async () => {
    await start({
      first: (instance) =>
        instance.addHook("onRequest", async (_request, reply) => {
          reply.raw.setHeader("Vary", ["Accept", "Origin"]);
          reply.raw.setHeader("Set-Cookie", ["a=1", "b=2"]);
        }),
    });
    const login = await app.browser().navigate("/idpauth/login/");
    expect(login.setCookies.map((line) => line.split("=")[0])).toEqual(["a", "b", "idpauth"]);
    expect(login.headers.vary).toBe("Accept,Origin, Cookie");
  });

  it("errors of the accessors reach the error handler with their status", async () => {
    await start({
      routes: (instance, auth) =>
        instance.get("/token", async (request) => auth.getCredentials(request)),
    });
    const browser = await signedIn();
    app.clock.advance(HOUR);
    app.provider.fault("token", { kind: "reset" });
    expect((await browser.get("/token")).status).toBe(503);
    expect(app.caught).toEqual([expect.any(ProviderUnavailableError)]);
  });

  it("a reply that another plugin takes over while we work is left alone", async () => {
    const replies: FastifyReply[] = [];
    const warnings: string[] = [];
    await start({
      server: {
        logger: { level: "warn", stream: { write: (line: string) => void warnings.push(line) } },
      },
      first: (instance) =>
        instance.addHook("onRequest", async (_request, reply) => void replies.push(reply)),
    });
    const browser = app.browser();
    const login = await browser.navigate("/idpauth/login/");
    const callback = await app.provider.signInCode(login.location!);
    const token = app.provider.hold("token");
    const answered = browser.navigate(callback);
    await token.arrived;
    replies.at(-1)?.hijack().raw.end("taken");
    expect((await answered).text).toBe("taken");
    const finished = new Promise((resolve) => app.auth.on("login", resolve));
    token.release();
    await finished;
    // Answered after our work on the other has come to its end.
    expect(await statusOf("/idpauth/session")).toBe(200);
    expect([warnings, app.caught]).toEqual([[], []]);
  });

  it("idpauth writes nothing of its own into Fastify's log, for any callback", async () => {
    const lines: string[] = [];
    await start({
      server: {
        logger: { level: "trace", stream: { write: (line: string) => void lines.push(line) } },
      },
    });
    await app.browser().navigate("/idpauth/login-callback?code=the-code&state=the-state");
    const own = lines
      .map((line) => JSON.parse(line) as { msg: string })
      .filter(({ msg }) => !["incoming request", "request completed"].includes(msg));
    expect(JSON.stringify(own)).not.toContain("the-");
    expect(JSON.stringify(app.log)).not.toContain("the-");
  });
});

describe("behind a proxy", () => {
  const redirectUri = async (headers: string) => {
    const answer = await raw("/idpauth/login/", "GET", headers);
    const location = answer.header("location");
    return location === undefined
      ? answer.status
      : new URL(location).searchParams.get("redirect_uri");
  };
  const FORWARDED =
    "X-Forwarded-Proto: http, https\r\nX-Forwarded-Host: first.example, last.example:8443\r\n";

  it.each<[string, FastifyServerOptions["trustProxy"]]>([
    ["everybody", true],
    ["the loopback address", "127.0.0.1"],
    ["by a function", (address) => address === "127.0.0.1"],
  ])(
    "with trustProxy (%s) Fastify's reading counts: the last of several, with its port",
    async (_who, trustProxy) => {
      await start({ server: { trustProxy: trustProxy! } });
      expect(await redirectUri(FORWARDED)).toBe("https://last.example:8443/idpauth/login-callback");
      expect((await raw("/idpauth/login/", "GET", FORWARDED)).header("set-cookie")).toMatch(
        /^__Host-Http-idpauth=.*; Secure$/,
      );
    },
  );

  it.each<[string, FastifyServerOptions["trustProxy"]]>([
    ["nobody", false],
    ["somebody else", "10.0.0.0/8"],
    // A number of hops tells nothing of who is asking; Fastify trusts nobody then.
    ["a number of hops", 1 as unknown as string],
  ])("with trustProxy (%s) it does not", async (_who, trustProxy) => {
    await start({ server: { trustProxy: trustProxy! } });
    expect(await redirectUri(FORWARDED)).toBe(`${app.origin}/idpauth/login-callback`);
  });

  it.each([true, false])(
    "two Host headers are none to believe (trustProxy: %s)",
    async (trustProxy) => {
      await start({ server: { trustProxy } });
      expect(await redirectUri("Host: evil.example\r\n")).toBe(400);
      expect(await redirectUri(`Host: evil.example\r\n${FORWARDED}`)).toBe(
        trustProxy ? "https://last.example:8443/idpauth/login-callback" : 400,
      );
    },
  );

  it("an empty X-Forwarded-Host is ignored", async () => {
    await start({ server: { trustProxy: true } });
    expect(await redirectUri("X-Forwarded-Host: a.example,\r\n")).toBe(400);
  });
});

describe("HTTP/2", () => {
  it("serves the endpoints and the guard; the authority replaces Host, unless there is a Host header", async () => {
    const instance = fastify({ http2: true });
    const auth = idpAuth({ ...COMPLETE, baseUrl: null, issuer: "https://login.example" });
    await instance.register(auth.plugin);
    instance.get("/reports", { preHandler: auth.idpRequired }, async () => "secret");
    await instance.listen({ port: 0, host: "127.0.0.1" });
    const { port } = instance.server.address() as AddressInfo;
    const client = connect(`http://127.0.0.1:${String(port)}`);
    running.push({
      async stop() {
        client.close();
        await instance.close();
      },
    });
    const ask = (headers: Record<string, string>) =>
      new Promise<{ status: number; location: string | undefined; body: string }>(
        (resolve, reject) => {
          let [status, location, body] = [0, undefined as string | undefined, ""];
          const stream = client.request(headers);
          stream.setEncoding("utf8");
          stream.on(
            "response",
            (head) => ([status, location] = [Number(head[":status"]), head.location]),
          );
          stream.on("data", (text: string) => (body += text));
          stream.on("end", () => {
            resolve({ status, location, body });
          });
          stream.on("error", reject);
          stream.end();
        },
      );
    expect(await ask({ ":path": "/idpauth/session" })).toMatchObject({
      status: 200,
      body: '{"authenticated":false,"user":null}',
    });
    const page = { ":path": "/reports", accept: "text/html" };
    expect((await ask({ ...page, ":authority": "app.example:8080" })).location).toContain(
      encodeURIComponent("http://app.example:8080/reports"),
    );
    const contradicted = await ask({ ...page, ":authority": "app.example", host: "evil.example" });
    expect([contradicted.status, contradicted.location?.includes("example")]).toEqual([302, false]);
  });
});

it("every method that Node parses and Fastify cannot route gets the same response as on other frameworks", async () => {
  await start({ routes: (instance) => void instance.addHttpMethod("MKCOL") });
  for (const method of [
    "COPY",
    "LOCK",
    "MKCOL",
    "REPORT",
    "SEARCH",
    "UNLOCK",
  ] satisfies HTTPMethods[]) {
    const answer = await raw("/idpauth/session", method);
    expect([answer.status, answer.header("allow")], method).toEqual([405, "GET, HEAD"]);
  }
  expect((await app.browser().get("/idpauth/session", JSON_ONLY)).status).toBe(200);
});
