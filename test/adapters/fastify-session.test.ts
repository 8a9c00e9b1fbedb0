import { MemoryStore } from "@fastify/session";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import type { FastifyIdpAuth } from "../../src/adapters/fastify/fastify.js";
import { SessionMissingError } from "../../src/index.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import {
  startFastifyApplication,
  type FastifyApplication,
  type FastifyApplicationOptions,
} from "../support/fastify-application.js";

const HOUR = 3_600_000;
const HOST = { session: "host" } as const;
const JSON_ONLY = { headers: { accept: "application/json" } };
const OUT = "/idpauth/logout/?response=json";

let app: FastifyApplication;
const running: FastifyApplication[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

async function start(options: FastifyApplicationOptions = {}): Promise<FastifyApplication> {
  app = await startFastifyApplication({ routes, ...HOST, ...options });
  running.push(app);
  return app;
}

/** What lies in the host's session, whatever its type says. */
const inSession = (request: FastifyRequest) =>
  request.session as unknown as Record<string, unknown>;

function routes(instance: FastifyInstance, auth: FastifyIdpAuth): void {
  instance.get("/reports", { preHandler: auth.idpRequired }, async (request) => ({
    token: (await auth.getCredentials(request))?.token,
  }));
  // What the host itself keeps in its session.
  instance.get<{ Params: { item: string } }>("/cart/:item", async (request) => {
    inSession(request)["cart"] = request.params.item;
    return "in the cart";
  });
  instance.get("/host-session", async (request) => ({
    ...inSession(request),
    id: request.session.sessionId,
  }));
}

async function signedIn(browser = app.browser()): Promise<CookieBrowser> {
  const answer = await browser.follow("/idpauth/login/");
  expect([answer.status, answer.url.origin]).toEqual([200, app.origin]);
  return browser;
}

const probe = async (browser: CookieBrowser) => (await browser.get("/idpauth/session")).json();
const newest = (kind: string) =>
  app.provider.issued.filter((each) => each.kind === kind).at(-1)?.value;
const refreshes = () => app.provider.requestsTo("token", { grant_type: "refresh_token" }).length;

/** The one session that @fastify/session keeps. */
function onlyStored(): Record<string, unknown> {
  const sessions = Object.values(app.hostStore.all());
  expect(sessions).toHaveLength(1);
  return sessions[0]!;
}

describe("what the framework's session contains", () => {
  it("are the specified keys, readable as request.session.credentials and so on", async () => {
    await start({ sessionIdleTimeout: 600 });
    const browser = await signedIn();
    const {
      id,
      cookie: _cookie,
      idp_state: state,
      ...keys
    } = (await browser.get("/host-session")).json();
    expect(id).toBe(Object.keys(app.hostStore.all())[0]);
    expect(keys).toEqual({
      credentials: expect.objectContaining({
        token: newest("access_token"),
        refresh_token: newest("refresh_token"),
      }),
      id_info: expect.objectContaining({ sub: "ada-1815", email: "ada@example.com" }),
      final_redirect: "/idpauth/",
      idp_login_at: app.clock.now() / 1000,
      idp_last_active: app.clock.now() / 1000,
    });
    expect(state.v).toBe(1);
  });

  it("the framework's own keys are kept for the same user, and removed for another user and by a logout", async () => {
    await start();
    const browser = app.browser();
    await browser.get("/cart/book");
    await signedIn(browser);
    expect(onlyStored()["cart"]).toBe("book");
    await signedIn(browser);
    expect(onlyStored()["cart"]).toBe("book");
    app.provider.person = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };
    await signedIn(browser);
    expect(onlyStored()).not.toHaveProperty("cart");
    await browser.get("/cart/pen");
    expect((await browser.get(OUT)).json()).toEqual({ status: "logged_out" });
    expect(app.hostStore.all()).toEqual({});
  });

  it("a sign-in and a logout change the id; the old one is dead", async () => {
    await start();
    const browser = app.browser();
    await browser.get("/cart/book");
    const ids = [Object.keys(app.hostStore.all())[0]];
    await signedIn(browser);
    ids.push((await browser.get("/host-session")).json().id);
    await browser.get(OUT);
    ids.push((await browser.get("/host-session")).json().id);
    expect(new Set(ids).size).toBe(3);
    expect(Object.keys(app.hostStore.all())).toEqual([]);
  });

  it("after a sign-in the session can be used on in the same request: it belongs to it", async () => {
    const seen: unknown[] = [];
    await start({
      first: (instance) =>
        instance.addHook("onResponse", async (request) => {
          if (request.url.startsWith("/idpauth/login-callback")) {
            await request.session.destroy();
            seen.push(request.session, Object.keys(app.hostStore.all()));
          }
        }),
    });
    await app.browser().follow("/idpauth/login/");
    expect(seen).toEqual([null, []]);
  });

  it("a user who has only opened pages gets no cookie and no session", async () => {
    await start();
    for (const path of [
      "/idpauth/",
      "/idpauth/session",
      "/idpauth/logout/",
      "/reports",
      "/idpauth/style.css",
      "/idpauth/nothing",
    ]) {
      expect((await app.browser().get(path)).setCookies, path).toEqual([]);
    }
    expect(app.hostStore.all()).toEqual({});
  });
});

describe.each(["a store that keeps texts", "the plugin's own store"])(
  "requests at the same time, %s",
  (store) => {
    const isOwnStore = store.startsWith("the plugin's");
    const kept = new Map<string, never>();
    const plugin = () => {
      kept.clear();
      return isOwnStore ? { store: new MemoryStore(kept) } : {};
    };
    const stored = () => (isOwnStore ? Object.fromEntries(kept) : app.hostStore.all());

    /**
     * A request of a handler that has begun with the session as it is now, and ends when it is told
     * to.
     */
    async function begun(browser: CookieBrowser, path = "/slow") {
      const arrived = slow.next();
      const answered = browser.get(path);
      const end = await arrived;
      return async () => {
        end();
        return answered;
      };
    }

    /** Handlers that wait, one after the other. */
    class Slow {
      #waiting: ((end: () => void) => void)[] = [];

      next(): Promise<() => void> {
        return new Promise((resolve) => this.#waiting.push(resolve));
      }

      wait(): Promise<void> {
        return new Promise((resolve) => this.#waiting.shift()?.(resolve));
      }
    }
    let slow: Slow;

    function slowRoutes(instance: FastifyInstance, auth: FastifyIdpAuth): void {
      slow = new Slow();
      routes(instance, auth);
      instance.get("/slow", async () => {
        await slow.wait();
        return "slow";
      });
      instance.get("/slow-guarded", { preHandler: auth.idpRequired }, async () => {
        await slow.wait();
        return "slow";
      });
    }

    it.each(["/slow", "/slow-guarded"])(
      "%s that began before a logout does not undo it",
      async (path) => {
        await start({ plugin: plugin(), routes: slowRoutes });
        const browser = await signedIn();
        const thief = app.browser();
        for (const each of browser.cookies.all()) thief.cookies.plant({ ...each });
        const end = await begun(browser, path);
        await browser.get(OUT);
        expect((await end()).status).toBe(200);
        expect(Object.values(stored()).filter((data) => "credentials" in data)).toEqual([]);
        expect([(await probe(browser)).authenticated, (await probe(thief)).authenticated]).toEqual([
          false,
          false,
        ]);
      },
    );

    it.each(["/slow", "/slow-guarded"])(
      "%s that began before a refresh does not bring the spent token back",
      async (path) => {
        await start({ plugin: plugin(), routes: slowRoutes });
        const browser = await signedIn();
        const end = await begun(browser, path);
        app.clock.advance(HOUR);
        expect((await probe(browser)).authenticated).toBe(true);
        await end();
        const [data] = Object.values(stored());
        expect(data?.["credentials"]).toMatchObject({
          token: newest("access_token"),
          refresh_token: newest("refresh_token"),
        });
        app.clock.advance(HOUR);
        expect((await browser.get("/reports")).status).toBe(200);
        expect([refreshes(), app.provider.reuses]).toEqual([2, 0]);
      },
    );

    it("a request that began before a sign-in does not bring the old session back", async () => {
      await start({ plugin: plugin(), routes: slowRoutes });
      const browser = app.browser();
      await browser.get("/cart/book");
      const [oldId = ""] = Object.keys(stored());
      const end = await begun(browser);
      await signedIn(browser);
      await end();
      expect(Object.keys(stored())).not.toContain(oldId);
    });

    it("twenty that come together after the expiry are one refresh, and none loses it", async () => {
      await start({ plugin: plugin() });
      const browser = await signedIn();
      for (let hour = 1; hour <= 3; hour += 1) {
        app.clock.advance(HOUR);
        const paths = ["/reports", "/idpauth/session", "/host-session", `/cart/${String(hour)}`];
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => browser.get(paths[index % 4]!)),
        );
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        expect(refreshes()).toBe(hour);
      }
      const [data] = Object.values(stored());
      expect(data).toMatchObject({
        cart: "3",
        credentials: { token: newest("access_token"), refresh_token: newest("refresh_token") },
      });
      expect(app.provider.reuses).toBe(0);
    });

    it("a refresh that outlives its request puts only its own keys onto what others have stored since", async () => {
      await start({ plugin: plugin() });
      const browser = await signedIn();
      app.clock.advance(HOUR);
      const token = app.provider.hold("token");
      const waiting = browser.get("/reports");
      await token.arrived;
      await app.clock.advanceAsync(5_000);
      expect((await waiting).status).toBe(503);
      await browser.get("/cart/book");
      const refreshed = new Promise((resolve) => app.auth.on("refresh", resolve));
      token.release();
      await refreshed;
      const [data] = Object.values(stored());
      expect(data).toMatchObject({ cart: "book", credentials: { token: newest("access_token") } });
      expect((await browser.get("/reports")).json().token).toBe(newest("access_token"));
    });
  },
);

describe("half of the framework's store fails", () => {
  it("a logout that cannot destroy the session is 503, and changes neither session nor cookie", async () => {
    await start();
    const browser = await signedIn();
    await browser.get("/cart/book");
    const before = app.hostStore.all();
    app.hostStore.fails = (operation) => (operation === "destroy" ? "before" : undefined);
    const answer = await browser.get(OUT, JSON_ONLY);
    expect([answer.status, answer.json().code, answer.setCookies]).toEqual([
      503,
      "store_unavailable",
      [],
    ]);
    expect(app.hostStore.all()).toEqual(before);
    app.hostStore.fails = () => undefined;
    expect((await probe(browser)).authenticated).toBe(true);
    expect((await browser.get(OUT)).status).toBe(200);
    expect(app.hostStore.all()).toEqual({});
  });

  it("a login that cannot be stored is 503, and the plugin writes nothing in its place", async () => {
    await start();
    const browser = await signedIn();
    const before = app.hostStore.all();
    app.hostStore.fails = (operation) => (operation === "set" ? "before" : undefined);
    const answer = await browser.get("/idpauth/login/?response=json", JSON_ONLY);
    expect([answer.status, answer.json().code, answer.setCookies, app.caught]).toEqual([
      503,
      "store_unavailable",
      [],
      [],
    ]);
    expect(app.hostStore.all()).toEqual(before);
  });

  it.each<[string, (oldId: string) => FastifyApplication["hostStore"]["fails"]]>([
    [
      "the new session cannot be stored",
      (oldId) => (operation, id) => (operation === "set" && id !== oldId ? "before" : undefined),
    ],
    [
      "the new session is stored, but the store does not say so",
      (oldId) => (operation, id) => (operation === "set" && id !== oldId ? "after" : undefined),
    ],
    [
      "the old session cannot be destroyed",
      (oldId) => (operation, id) =>
        operation === "destroy" && id === oldId ? "before" : undefined,
    ],
  ])("a callback is 503, and who was signed in before still is: %s", async (_what, failing) => {
    await start();
    const browser = await signedIn();
    await browser.get("/cart/book");
    const [oldId = ""] = Object.keys(app.hostStore.all());
    const { credentials } = onlyStored();
    const login = await browser.navigate("/idpauth/login/");
    const callback = await app.provider.signInCode(login.location!);
    app.hostStore.fails = failing(oldId);
    const answer = await browser.get(callback);
    expect(answer.status).toBe(503);
    expect(Object.keys(app.hostStore.all())).toEqual([oldId]);
    expect(onlyStored()).toMatchObject({ cart: "book", credentials });
    app.hostStore.fails = () => undefined;
    expect((await probe(browser)).authenticated).toBe(true);
    await signedIn(browser);
    expect(onlyStored()).toMatchObject({
      cart: "book",
      credentials: { token: newest("access_token") },
    });
  });
});

describe("a request without a session of the plugin's", () => {
  async function missing(target: string): Promise<void> {
    const answer = await rawRequest(
      app.port,
      `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`,
    );
    expect([target, answer.status]).toEqual([target, 503]);
    expect(answer.body).toMatch(/session_missing|"authenticated":false/);
    expect(answer.header("retry-after")).toBe("1");
  }

  it("is 503 at endpoints and guard, never signed out: outside of the cookie's path, and in absolute form", async () => {
    const errors: unknown[] = [];
    await start({
      plugin: { cookie: { secure: "auto", path: "/app" } },
      routes(instance, auth) {
        instance.get("/reports", { preHandler: auth.idpRequired }, async () => "secret");
        instance.get("/asks", async (request) =>
          auth.getCredentials(request).catch((error: unknown) => void errors.push(error)),
        );
      },
    });
    for (const target of [
      "/idpauth/",
      "/idpauth/session",
      "/idpauth/login/",
      "/idpauth/logout/",
      "/reports",
    ])
      await missing(target);
    await app.browser().get("/asks");
    expect(errors).toEqual([expect.any(SessionMissingError)]);
    await start();
    for (const target of ["http://127.0.0.1/idpauth/session", "http://127.0.0.1/reports"])
      await missing(target);
  });

  it("is so where the guard stands outside of the plugin's scope, and where only something of that name is there", async () => {
    await start({
      register: async (instance, auth) => {
        await instance.register(auth.plugin);
      },
      first: (instance) =>
        instance.addHook("preHandler", async (request) => {
          if (request.url === "/replaced")
            (request as { session: unknown }).session = {
              sessionId: "planted",
              credentials: { token: "x" },
            };
        }),
      routes: (instance, auth) =>
        instance.get("/replaced", { preHandler: auth.idpRequired }, async () => "secret"),
    });
    await missing("/replaced");
  });
});
