import { Hono, type Context } from "hono";
import { testClient } from "hono/testing";
import { serveStatic } from "@hono/node-server/serve-static";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { idpAuth, type GuardResponses } from "../../src/adapters/hono/hono.js";
import {
  ConfigurationError,
  type Blocked,
  type Credentials,
  type IdpAuthOptions,
} from "../../src/index.js";
import { ApplicationStarter } from "../../packages/idpauth-conformance/src/adapter/application-starter.js";
import { startHono } from "./applications/hono.js";
import { serveOnNode } from "./applications/serve-fetch.js";
import { UNREACHED } from "../support/options-for.js";

const SETTINGS: IdpAuthOptions = { ...UNREACHED, log: false };

const JSON_ONLY = { headers: { accept: "application/json" } };
const starter = new ApplicationStarter(
  { name: "Hono 4", start: (setup) => startHono(idpAuth, serveOnNode, setup) },
  "bundled",
);

afterEach(() => starter.stop());

describe("types", () => {
  it("infer in an application with bindings and variables of its own, without a cast", () => {
    interface Own {
      Bindings: { readonly region: string };
      Variables: { count: number };
    }
    const auth = idpAuth(SETTINGS);
    const app = new Hono<Own>();
    app.route("/", auth.routes);
    app.use(auth.middleware);
    app.get("/reports/:id", auth.idpRequired, async (c) => {
      expectTypeOf(c.get("count")).toEqualTypeOf<number>();
      expectTypeOf(c.env.region).toEqualTypeOf<string>();
      expectTypeOf(c.req.param("id")).toEqualTypeOf<string>();
      expectTypeOf(await auth.getCredentials(c)).toEqualTypeOf<Credentials | null>();
      return c.json({ id: c.req.param("id") });
    });
    app.get("/static/*", auth.idpRequired, serveStatic({ root: "." }));
    expectTypeOf(auth.getCredentials).parameter(0).toEqualTypeOf<Context>();
    auth.idpRequiredWith({
      navigation(c, blocked) {
        expectTypeOf(c).toEqualTypeOf<Context>();
        expectTypeOf(blocked).toEqualTypeOf<Blocked<"navigation">>();
        return c.redirect(blocked.loginUrl);
      },
      unavailable(c, blocked) {
        expectTypeOf(blocked).toEqualTypeOf<Blocked<"unavailable">>();
        return c.text("later", 503);
      },
    });
    // @ts-expect-error -- an answer that gives none would be no answer
    auth.idpRequiredWith({ unauthenticated: () => undefined });
  });

  it("keep the schema of an application, for a client of Hono's", () => {
    const auth = idpAuth(SETTINGS);
    const app = new Hono()
      .route("/", auth.routes)
      .get("/reports", auth.idpRequired, (c) => c.json({ reports: 1 }));
    expectTypeOf(testClient(app).reports.$get)
      .returns.resolves.toHaveProperty("json")
      .returns.resolves.toEqualTypeOf<{ reports: number }>();
  });
});

describe("startup checks", () => {
  it("`mount` throws all configuration errors at once", () => {
    const auth = idpAuth({ ...SETTINGS, secretKey: "", clientId: "" });
    const app = new Hono();
    expect(() => auth.mount(app)).toThrow(ConfigurationError);
    expect(() => auth.mount(app)).toThrow(/E001[^]*E003/);
    expect(app.routes).toEqual([]);
  });

  it('`session: "host"` is E002: Hono has no sessions of its own', () => {
    expect(() => idpAuth({ ...SETTINGS, session: "host" }).start()).toThrow(
      /E002.*Hono has no sessions/,
    );
  });

  it("an application that never took them is checked by its first request, which goes to onError", async () => {
    const app = new Hono();
    const caught: unknown[] = [];
    app.get("/reports", idpAuth({ ...SETTINGS, secretKey: "" }).idpRequired, (c) =>
      c.text("inside"),
    );
    app.onError((error, c) => {
      caught.push(error);
      return c.text("failed", 500);
    });
    expect((await app.request("/reports")).status).toBe(500);
    expect(caught).toEqual([expect.any(ConfigurationError)]);
  });
});

describe("routing", () => {
  const probe = (app: Pick<Hono, "request">, path: string) => app.request(path, JSON_ONLY);

  it("`mount` adds routes for the endpoints' paths only: no other route of the application pays for them", async () => {
    const area = new Hono();
    idpAuth({ ...SETTINGS, mountPath: "/area/idpauth/" }).mount(area);
    const app = new Hono().route("/area", area);
    expect(app.routes.map(({ path }) => path)).toEqual(["/area/area/idpauth/*", "/area/idpauth/*"]);
    expect((await probe(app, "/area/idpauth/session")).status).toBe(200);
    expect((await probe(app, "/area/idpauth")).status).toBe(200);
    expect((await probe(app, "/idpauth/session")).status).toBe(404);
  });

  it("an application that routes the whole path, without a base path", async () => {
    const app = new Hono().route("/", idpAuth({ ...SETTINGS, mountPath: "/area/idpauth/" }).routes);
    app.get("/idpauth/mine", (c) => c.text("the application's"));
    expect((await probe(app, "/area/idpauth/session")).status).toBe(200);
    expect(await (await probe(app, "/idpauth/mine")).text()).toBe("the application's");
  });

  it("an application that is not strict about the slash at the end, and one below basePath()", async () => {
    const loose = new Hono({ strict: false }).route("/", idpAuth(SETTINGS).routes);
    for (const path of ["/idpauth", "/idpauth/", "/idpauth/session/"])
      expect((await probe(loose, path)).status, path).toBe(200);
    const based = new Hono()
      .basePath("/area")
      .route("/", idpAuth({ ...SETTINGS, mountPath: "/area/idpauth/" }).routes);
    expect((await probe(based, "/area/idpauth/session")).status).toBe(200);
  });

  it("as middleware, an application whose router sees other paths than those of the URL", async () => {
    const app = new Hono({
      getPath: (request) => `/${new URL(request.url).host}${new URL(request.url).pathname}`,
    });
    app.use(idpAuth(SETTINGS).middleware);
    app.get("/app.example/open", (c) => c.text("open"));
    expect((await app.request("http://app.example/idpauth/session")).status).toBe(200);
    expect(await (await app.request("http://app.example/open")).text()).toBe("open");
  });
});

describe("responses", () => {
  it("keep what was put on them before, by either of Hono's ways", async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      c.header("Vary", "Origin");
      c.header("Set-Cookie", "theme=dark; Path=/", { append: true });
      c.header("X-Frame-Options", "SAMEORIGIN");
      if (c.req.query("touched") !== undefined) c.res.headers.set("X-Touched", "yes");
      c.status(418);
      await next();
    });
    app.route("/", idpAuth(SETTINGS).routes);
    for (const query of ["", "?touched=1"]) {
      const answer = await app.request(`/idpauth/${query}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("vary")).toBe("Origin, Cookie");
      expect(answer.headers.getSetCookie()).toEqual(["theme=dark; Path=/"]);
      // What the page needs for its safety is its own.
      expect(answer.headers.get("x-frame-options")).toBe("DENY");
      expect(answer.headers.get("x-touched")).toBe(query === "" ? null : "yes");
    }
  });

  it("to HEAD say how long the body would be, and have none", async () => {
    const app = new Hono().route("/", idpAuth(SETTINGS).routes);
    const [get, head] = [
      await app.request("/idpauth/"),
      await app.request("/idpauth/", { method: "HEAD" }),
    ];
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(Number(head.headers.get("content-length"))).toBe((await get.arrayBuffer()).byteLength);
  });

  it("of the application's own that give nothing let nobody in", async () => {
    const answers = {
      navigation: () => undefined,
      unauthenticated: () => undefined,
    } as unknown as GuardResponses;
    const app = new Hono();
    let ran = 0;
    app.get("/reports", idpAuth(SETTINGS).idpRequiredWith(answers), (c) =>
      c.text(String((ran += 1))),
    );
    app.onError((_error, c) => c.text("failed", 500));
    for (const accept of ["text/html", "application/json"]) {
      expect((await app.request("/reports", { headers: { accept } })).status).toBe(500);
    }
    expect(ran).toBe(0);
  });
});

describe("the request", () => {
  const answerOf = async (url: string, env?: object, headers: Record<string, string> = {}) => {
    const app = new Hono().get("/*", idpAuth(SETTINGS).idpRequired, (c) => c.text("inside"));
    const answer = await app.request(url, { headers: { accept: "text/html", ...headers } }, env);
    return new URL(answer.headers.get("location") ?? "", "http://unknown").searchParams.get(
      "origin_url",
    );
  };
  const socket = {};

  it("is the one of the URL, where the server hands over nothing else", async () => {
    expect(await answerOf("https://app.example/a/../b?c=%2F")).toBe("https://app.example/b?c=%2F");
    expect(
      await answerOf("http://app.example/b", { incoming: "the application's own binding" }),
    ).toBe("http://app.example/b");
    expect(
      await answerOf("http://app.example/b", { incoming: { url: "/elsewhere", stream: {} } }),
    ).toBe("http://app.example/b");
  });

  it("is the one that came over the wire, on Node", async () => {
    const incoming = { url: "/a/../b", headersDistinct: { host: ["seen.example"] }, socket };
    expect(await answerOf("https://app.example/b", { incoming })).toBe(
      "http://seen.example/a/../b",
    );
    const encrypted = { ...incoming, socket: { encrypted: true } };
    expect(await answerOf("http://app.example/b", { incoming: encrypted })).toBe(
      "https://seen.example/a/../b",
    );
    const twice = { ...incoming, headersDistinct: { host: ["app.example", "evil.example"] } };
    expect(await answerOf("http://app.example/b", { incoming: twice })).not.toContain("example");
  });

  it("keeps no variable of ours among those of its context", async () => {
    const variables: unknown[] = [];
    const app = await starter.start({
      routes: [
        {
          kind: "json",
          method: "GET",
          path: "/seen",
          guard: { mount: 0 },
          respond: (_auths, raw) => variables.push((raw as Context).var),
        },
      ],
    });
    expect((await (await app.signedIn()).get("/seen")).status).toBe(200);
    expect(variables).toEqual([{}]);
  });
});
