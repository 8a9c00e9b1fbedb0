import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import Router from "@koa/router";
import Koa, { type Middleware, type Next } from "koa";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { idpAuth, type KoaIdpAuth } from "../../src/adapters/koa/koa.js";
import {
  ConfigurationError,
  ProviderUnavailableError,
  type IdpAuthOptions,
  type LogEntry,
  type Session,
} from "../../src/index.js";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { listen } from "./applications/listen.js";
import { UNREACHED, optionsFor } from "../support/options-for.js";
import { browsersAt } from "./browsers-at.js";

const HOUR = 3_600_000;
const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

interface Running {
  readonly provider: TestProvider;
  readonly clock: TestClock;
  readonly origin: string;
  readonly errors: readonly unknown[];
  browser(): CookieBrowser;
  signedIn(): Promise<CookieBrowser>;
}

/** An application that `build` makes; errors that nothing above catches are collected. */
async function start(
  build: (app: Koa, auth: KoaIdpAuth) => void,
  options: IdpAuthOptions = {},
): Promise<Running> {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock });
  const app = new Koa();
  const errors: unknown[] = [];
  app.on("error", (error) => errors.push(error));
  build(app, idpAuth({ ...optionsFor(provider), clock, log: false, ...options }));
  const listener = app.callback();
  const server = await listen((request, response) => void listener(request, response));
  running.push(server, provider);
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    provider,
    clock,
    origin,
    errors,
    ...browsersAt(origin, clock),
  };
}

describe("startup checks", () => {
  it("`mount` runs them, so that a configuration error stops the application from starting", () => {
    const auth = idpAuth({ ...optionsFor(UNREACHED), secretKey: "", clientId: "", log: false });
    const app = new Koa();
    expect(() => auth.mount(app)).toThrow(/E001[^]*E003/);
    expect(() => auth.mount(app), "a second time too").toThrow(ConfigurationError);
    expect(app.middleware).toEqual([]);
  });

  it("`mount` returns the warnings, and mounting twice logs each once", () => {
    const log: LogEntry[] = [];
    const auth = idpAuth({ ...optionsFor(UNREACHED), log: (entry) => log.push(entry) });
    for (const app of [new Koa(), new Koa()])
      expect(auth.mount(app).map(({ code }) => code)).toEqual(["W001", "W005"]);
    expect(log.map(({ code }) => code)).toEqual(["W001", "W005", "started"]);
  });

  it('`session: "host"` is E002: Koa has no sessions on the server, and the remedy says what to do instead', () => {
    const auth = idpAuth({ ...optionsFor(UNREACHED), session: "host", log: false });
    expect(() => auth.start()).toThrow(/E002[^]*Koa has no sessions[^]*koa-session/);
  });
});

describe("responses are the context's own, so that middleware above can act on them", () => {
  it("which sees status, headers and body after `next`, and may change them", async () => {
    const seen: unknown[] = [];
    const app = await start((koa, auth) => {
      koa.use(async (ctx, next) => {
        await next();
        seen.push([ctx.status, ctx.type, ctx.length === Buffer.byteLength(String(ctx.body))]);
        ctx.set("X-Seen", ctx.method);
        ctx.set("Content-Encoding", "gzip");
        ctx.vary("Accept-Encoding");
        ctx.body = gzipSync(String(ctx.body));
      });
      koa.use(auth.routes);
    });
    const response = await fetch(`${app.origin}/idpauth/session`);
    expect([response.status, response.headers.get("x-seen"), await response.json()]).toEqual([
      200,
      "GET",
      { authenticated: false, user: null },
    ]);
    expect(response.headers.get("vary")).toBe("Cookie, Accept-Encoding");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(seen).toEqual([[200, "application/json", true]]);
  });

  it("a conditional request gets a 304 by middleware that knows how", async () => {
    const app = await start((koa, auth) => {
      koa.use(async (ctx, next) => {
        await next();
        ctx.etag = String(String(ctx.body).length);
        if (ctx.fresh) ctx.status = 304;
      });
      koa.use(auth.routes);
    });
    const first = await app.browser().get("/idpauth/style.css");
    const again = await app
      .browser()
      .get("/idpauth/style.css", { headers: { "if-none-match": first.headers.etag ?? "" } });
    expect([first.status, again.status, again.text]).toEqual([200, 304, ""]);
  });

  it.each([
    ["nothing", () => undefined],
    ["a JSON type", (ctx) => (ctx.type = "application/json")],
    ["a body, a length and a status", (ctx) => ([ctx.body, ctx.status] = [{ from: "above" }, 201])],
    ["a stream", (ctx) => (ctx.body = new Blob(["from above"]).stream())],
  ] as [string, (ctx: Koa.Context) => unknown][])(
    "a response without a body keeps its status and has none, when above there was %s",
    async (_what, prepare) => {
      const app = await start((koa, auth) => {
        koa.use(async (ctx, next) => {
          prepare(ctx);
          await next();
        });
        koa.use(auth.routes).use(auth.idpRequired);
      });
      for (const path of ["/idpauth/login/", "/reports"]) {
        const answer = await app.browser().navigate(path);
        expect([
          answer.status,
          answer.text,
          answer.headers["content-type"],
          answer.headers["content-length"],
        ]).toEqual([302, "", undefined, "0"]);
      }
      const script = await app.browser().get("/reports");
      expect([script.status, script.json().error]).toEqual([401, "login_required"]);
    },
  );

  it.each(["/idpauth/", "/idpauth/session", "/idpauth/style.css"])(
    "HEAD of %s has GET's length and no body",
    async (path) => {
      const app = await start((koa, auth) => void koa.use(auth.routes));
      const [get, head] = [
        await app.browser().get(path),
        await app.browser().get(path, { method: "HEAD" }),
      ];
      expect([head.status, head.text, head.headers["content-length"]]).toEqual([
        200,
        "",
        get.headers["content-length"],
      ]);
      expect(Number(head.headers["content-length"])).toBe(Buffer.byteLength(get.text));
    },
  );

  it.each(["*", "cookie", "Origin, Cookie"])(
    "Vary: %s from above says it already and stays",
    async (vary) => {
      const app = await start((koa, auth) => {
        koa.use((ctx, next) => {
          ctx.set("Vary", vary);
          return next();
        });
        koa.use(auth.routes);
      });
      expect((await app.browser().get("/idpauth/session")).headers.vary).toBe(vary);
    },
  );

  it("who took the response from Koa (`ctx.respond = false`) gets our response all the same, and the handler does not run", async () => {
    let ran = 0;
    const app = await start((koa, auth) => {
      koa.use((ctx, next) => {
        ctx.respond = false;
        return next();
      });
      koa.use(auth.routes).use(auth.idpRequired);
      koa.use((ctx) => void ctx.res.end(String((ran += 1))));
    });
    expect((await app.browser().get("/reports")).status).toBe(401);
    expect((await app.browser().get("/idpauth/session")).json()).toEqual({
      authenticated: false,
      user: null,
    });
    expect(ran).toBe(0);
    expect((await (await app.signedIn()).get("/reports")).text).toBe("1");
  });

  it("a response that other middleware has begun is left alone", async () => {
    const app = await start((koa, auth) => {
      koa.use(async (ctx, next) => {
        ctx.respond = false;
        ctx.res.writeHead(200, { "Content-Length": "5" });
        await next();
        ctx.res.end("begun");
      });
      koa.use(auth.routes);
    });
    expect((await app.browser().get("/idpauth/session")).text).toBe("begun");
    expect(app.errors).toEqual([]);
  });
});

describe("errors", () => {
  it("of a handler, of an accessor and of an own response are thrown: they come to middleware above, else to app.on('error')", async () => {
    const caught: unknown[] = [];
    const app = await start((koa, auth) => {
      koa.use(async (ctx, next) => {
        if (ctx.path !== "/caught") return next();
        await next().catch((error: unknown) => {
          caught.push(error);
          ctx.status = 418;
        });
      });
      koa.use(auth.routes);
      koa.use(auth.idpRequiredWith({ unavailable: (_ctx, { error }) => Promise.reject(error) }));
    });
    const browser = await app.signedIn();
    app.clock.advance(HOUR);
    app.provider.fault("token", { kind: "status", status: 500 });
    const uncaught = await browser.get("/uncaught");
    expect([uncaught.status, uncaught.json()]).toMatchObject([
      503,
      { code: "provider_unavailable" },
    ]);
    expect(app.errors).toEqual([expect.any(ProviderUnavailableError)]);
    expect((await browser.get("/caught")).status).toBe(418);
    expect(caught).toEqual([expect.any(ProviderUnavailableError)]);
  });
});

describe("guards", () => {
  it("stand before routes of @koa/router, before a whole router, and before everything that follows", async () => {
    const app = await start((koa, auth) => {
      const open = new Router().get("/open", auth.idpRequired, (ctx) => void (ctx.body = "one"));
      const members = new Router({ prefix: "/members", sensitive: true })
        .use(auth.idpRequired)
        .get("/:id", (ctx) => void (ctx.body = String(ctx.params["id"])));
      koa.use(auth.routes).use(open.routes()).use(members.routes()).use(auth.idpRequired);
      koa.use((ctx) => void (ctx.body = "the rest"));
    });
    const [nobody, browser] = [app.browser(), await app.signedIn()];
    for (const [path, text] of [
      ["/open", "one"],
      ["/members/7", "7"],
      ["/anything", "the rest"],
    ] as const) {
      expect([(await nobody.get(path)).status, (await browser.get(path)).text]).toEqual([
        401,
        text,
      ]);
    }
  });

  describe("under a prefix of @koa/router, whose `use` compares letter case and whose routes do not", () => {
    const OTHER_CASE = ["/API/reports", "/Api/reports", "/api/REPORTS"];
    const report: Middleware = (ctx) => void (ctx.body = "a report");
    const statuses = async (build: (auth: KoaIdpAuth) => Router) => {
      const app = await start((koa, auth) => void koa.use(auth.routes).use(build(auth).routes()));
      const nobody = app.browser();
      expect((await nobody.get("/api/reports")).status).toBe(401);
      expect((await (await app.signedIn()).get("/api/reports")).text).toBe("a report");
      return Promise.all(OTHER_CASE.map(async (path) => (await nobody.get(path)).status));
    };

    it("`use` does not guard another letter case: if this fails, the router is mended, and the warning in guarding.md can go", async () => {
      expect(
        await statuses((auth) =>
          new Router({ prefix: "/api" }).use(auth.idpRequired).get("/reports", report),
        ),
      ).toEqual([200, 200, 401]);
    });

    it("a guard in each route guards every letter case", async () => {
      expect(
        await statuses((auth) =>
          new Router({ prefix: "/api" }).get("/reports", auth.idpRequired, report),
        ),
      ).toEqual([401, 401, 401]);
    });

    it("`sensitive: true` leaves only the letter case that `use` guards", async () => {
      const sensitive = { prefix: "/api", sensitive: true };
      expect(
        await statuses((auth) =>
          new Router(sensitive).use(auth.idpRequired).get("/reports", report),
        ),
      ).toEqual([404, 404, 404]);
    });
  });

  it("an own response passes on only by calling next", async () => {
    const app = await start((koa, auth) => {
      koa.use(auth.routes);
      koa.use(
        auth.idpRequiredWith({
          unauthenticated: (ctx, { reason }, next) =>
            ctx.path === "/public" ? next() : void (ctx.body = reason),
        }),
      );
      koa.use((ctx) => void (ctx.body = "passed"));
    });
    expect((await app.browser().get("/public")).text).toBe("passed");
    expect((await app.browser().get("/private")).text).toBe("no_credentials");
  });
});

describe("paths and proxies", () => {
  it("below a path, where the application sees another one, as with koa-mount, the browser's own counts", async () => {
    const app = await start(
      (koa, auth) => {
        koa.use(async (ctx, next) => {
          if (!ctx.path.startsWith("/area/")) return;
          ctx.path = ctx.path.slice("/area".length);
          await next();
        });
        koa.use(auth.routes).use(auth.idpRequired);
        koa.use((ctx) => void (ctx.body = ctx.path));
      },
      { mountPath: "/area/idpauth/" },
    );
    const browser = app.browser();
    const page = await browser.follow("/area/reports?x=1");
    expect([page.status, page.url.pathname, page.text]).toEqual([200, "/area/reports", "/reports"]);
    expect((await browser.get("/area/idpauth/session")).json().authenticated).toBe(true);
    expect((await browser.get("/idpauth/session")).status).toBe(404);
  });

  const redirectUri = async (app: Running, headers: Record<string, string>) => {
    const { redirect_to: url } = (
      await app.browser().get("/idpauth/login/?response=json", { headers })
    ).json() as { redirect_to: string };
    return new URL(url).searchParams.get("redirect_uri");
  };

  it("`app.proxy` alone makes forwarded headers count: the first of a list, as in `ctx.host` and ctx.protocol", async () => {
    const forwarded = {
      "x-forwarded-proto": "https, http",
      "x-forwarded-host": "app.example, inner.example",
    };
    const trusting = await start((koa, auth) => {
      koa.proxy = true;
      koa.maxIpsCount = 1;
      koa.use(auth.routes);
    });
    expect(await redirectUri(trusting, forwarded)).toBe(
      "https://app.example/idpauth/login-callback",
    );
    const wary = await start((koa, auth) => void koa.use(auth.routes));
    expect(await redirectUri(wary, forwarded)).toBe(`${wary.origin}/idpauth/login-callback`);
  });
});

describe("types", () => {
  interface State {
    readonly tenant: string;
  }
  interface Properties {
    readonly db: { count(): number };
  }
  const auth = idpAuth({ ...optionsFor(UNREACHED), baseUrl: "https://app.example", log: false });

  it("take contexts with a state and properties of the application's own, and leave these as they are", () => {
    const app = new Koa<State, Properties>();
    const router = new Router<State, Properties>();
    expectTypeOf(app.use(auth.routes)).toExtend<Koa<State, Properties>>();
    expectTypeOf(auth.routes).toExtend<Middleware<State, Properties>>();
    expectTypeOf(auth.idpRequired).toExtend<Middleware>();
    app.use(auth.idpRequired).use((ctx) => {
      expectTypeOf(ctx.state.tenant).toEqualTypeOf<string>();
      expectTypeOf(ctx.db.count()).toEqualTypeOf<number>();
      expectTypeOf(auth.getSession(ctx)).toEqualTypeOf<Promise<Session | null>>();
    });
    const own = auth.idpRequiredWith<State, Properties>({
      navigation: (ctx, blocked, next) => {
        expectTypeOf(ctx.state.tenant).toEqualTypeOf<string>();
        expectTypeOf(ctx.db.count()).toEqualTypeOf<number>();
        expectTypeOf(blocked.loginUrl).toEqualTypeOf<string>();
        expectTypeOf(next).toEqualTypeOf<Next>();
        ctx.redirect(blocked.loginUrl);
      },
      unavailable: (ctx, { error }) => void (ctx.status = error.status),
    });
    router.get("/reports/:id", auth.idpRequired, own, async (ctx) => {
      expectTypeOf(ctx.state.tenant).toEqualTypeOf<string>();
      expectTypeOf(ctx.params).toEqualTypeOf<Record<string, string>>();
      ctx.body = await auth.getCredentials(ctx);
    });
    expectTypeOf(auth.idpRequiredWith({})).toExtend<Middleware>();
    // The context is asked about, not Node's request in it.
    expectTypeOf<IncomingMessage>().not.toExtend<Parameters<typeof auth.getCredentials>[0]>();
  });
});
