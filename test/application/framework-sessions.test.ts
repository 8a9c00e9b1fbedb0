import type { Express } from "express";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import {
  deny,
  type ClaimsSchema,
  type GuardRule,
  type IdpAuthOptions,
  type Session,
} from "../../src/index.js";
import type { JsonObject } from "../../src/record/json.js";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startExpressApplication } from "../support/express-application.js";
import { startFastifyApplication } from "../support/fastify-application.js";

const HOUR = 3_600_000;
const GRACE = { sub: "grace-1906", email: "grace@example.com", name: "Grace Hopper" };

/** The functions that the routes use of either adapter. */
interface Auth {
  getSession(raw: object): Promise<Session | null>;
  updateData(
    raw: object,
    change: (data: JsonObject) => Record<string, unknown>,
  ): Promise<JsonObject | null>;
}

type Respond = (auth: Auth, raw: object) => Promise<unknown>;

/** Lets one request wait in its handler. */
class Gate {
  #arrived!: () => void;
  #open!: () => void;
  readonly arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve));

  async pass(): Promise<void> {
    this.#arrived();
    await this.#opened;
  }

  open(): void {
    this.#open();
  }
}

let gate: Gate;

const frameworkSession = (raw: object) =>
  (raw as { readonly session: Record<string, unknown> }).session;
const tagged =
  (tag: string) =>
  ({ tags = [], ...data }: JsonObject) => ({ ...data, tags: [...(tags as string[]), tag] });

const ROUTES: Readonly<Record<string, Respond>> = {
  async "/me"(auth, raw) {
    const session = await auth.getSession(raw);
    return session && { data: session.data, groups: session.claims["groups"] };
  },
  "/add": async (auth, raw) => auth.updateData(raw, tagged("added")),
  // Begins with an early read, and changes the data late.
  async "/late"(auth, raw) {
    const before = (await auth.getSession(raw))?.data;
    await gate.pass();
    return { before, after: await auth.updateData(raw, tagged("late")) };
  },
  // Takes long, and leaves the session as it is.
  async "/slow"(auth, raw) {
    await auth.getSession(raw);
    await gate.pass();
    return {};
  },
  // Takes long, and changes the framework's session itself.
  async "/cart"(auth, raw) {
    await auth.getSession(raw);
    await gate.pass();
    frameworkSession(raw)["cart"] = "book";
    return {};
  },
};

const RULE: GuardRule = {
  allow: ({ claims, data }) =>
    data["role"] === "admin" && (claims["groups"] as string[]).includes("staff"),
};

const claims: ClaimsSchema<{ groups: string[] }> = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ value: { groups: ["staff"] } }) },
};

const OPTIONS: IdpAuthOptions<{ groups: string[] }> = {
  claims,
  onSignIn({ claims: { sub, name }, data }) {
    if (name === "nobody") return deny("Only staff may sign in.");
    return data === null
      ? { data: { owner: sub, role: sub === GRACE.sub ? "reader" : "admin", tags: [] } }
      : undefined;
  },
  onRefresh: () => tagged("refreshed"),
};

const frameworks = {
  async Express() {
    return startExpressApplication({
      ...(OPTIONS as IdpAuthOptions),
      session: "host",
      routes(app: Express, auth) {
        app.get(
          "/admin",
          auth.idpRequiredWith(RULE),
          (_request, response) => void response.json({ inside: true }),
        );
        for (const [path, respond] of Object.entries(ROUTES)) {
          app.get(path, (request, response, next) => {
            respond(auth as Auth, request).then((body) => response.json(body), next);
          });
        }
      },
    }).then((app) => ({ ...app, stored: () => app.stored() }));
  },
  async Fastify() {
    return startFastifyApplication({
      ...(OPTIONS as IdpAuthOptions),
      session: "host",
      routes(instance: FastifyInstance, auth) {
        instance.get("/admin", { preHandler: auth.idpRequiredWith(RULE) }, () => ({
          inside: true,
        }));
        for (const [path, respond] of Object.entries(ROUTES)) {
          instance.get(path, async (request, reply) =>
            reply.send(await respond(auth as Auth, request)),
          );
        }
      },
    }).then((app) => ({ ...app, stored: () => app.hostStore.all() }));
  },
};

describe.each(Object.keys(frameworks) as (keyof typeof frameworks)[])(
  'the sessions of %s (`session: "host"`)',
  (framework) => {
    let app: Awaited<ReturnType<(typeof frameworks)[typeof framework]>>;
    afterEach(() => app.stop());

    async function signedIn(browser?: CookieBrowser): Promise<CookieBrowser> {
      if (browser === undefined) {
        gate = new Gate();
        app = await frameworks[framework]();
      }
      const by = browser ?? app.browser();
      expect((await by.follow("/idpauth/login/")).status).toBe(200);
      return by;
    }

    const tags = async (browser: CookieBrowser) =>
      ((await browser.get("/me")).json() as { data: { tags: string[] } }).data.tags;

    /** Sends a request that waits in its handler. Returns a function that lets it go on. */
    async function waiting(browser: CookieBrowser, path: string) {
      const response = browser.get(path);
      await gate.arrived;
      return async () => {
        gate.open();
        return (await response).json() as unknown;
      };
    }

    const storedData = (): unknown =>
      (Object.values(app.stored())[0]?.["idp_state"] as { data?: unknown } | undefined)?.data;

    it("have the data and the output of the schema in `idp_state`; hooks, accessors and guards work", async () => {
      const browser = await signedIn();
      const data = { owner: "ada-1815", role: "admin", tags: [] };
      expect((await browser.get("/me")).json()).toEqual({ data, groups: ["staff"] });
      expect(storedData()).toEqual(data);
      expect((await browser.get("/admin")).json()).toEqual({ inside: true });
      await browser.get("/add");
      app.clock.advance(HOUR);
      expect(await tags(browser)).toEqual(["added", "refreshed"]);
      await signedIn(browser);
      expect(await tags(browser)).toEqual(["added", "refreshed"]);
      app.provider.person = { ...GRACE, name: "nobody" };
      expect((await browser.follow("/idpauth/login/")).status).toBe(403);
      expect((await browser.get("/me")).status).toBe(200);
      app.provider.person = GRACE;
      await signedIn(browser);
      expect((await browser.get("/me")).json()).toMatchObject({
        data: { owner: GRACE.sub, tags: [] },
      });
      expect((await browser.get("/admin")).status).toBe(403);
    });

    it("lose no update of the data among the requests of one process", async () => {
      const browser = await signedIn();
      await Promise.all([1, 2, 3, 4, 5].map(() => browser.get("/add")));
      expect(await tags(browser)).toHaveLength(5);
    });

    it.each(["/slow", "/late"])(
      "get no old data from %s, which began before an update",
      async (path) => {
        const browser = await signedIn();
        const end = await waiting(browser, path);
        await browser.get("/add");
        await end();
        expect(await tags(browser)).toEqual(path === "/late" ? ["added", "late"] : ["added"]);
      },
    );

    it("do not come back by an update after a logout", async () => {
      const browser = await signedIn();
      const end = await waiting(browser, "/late");
      await browser.get("/idpauth/logout/?response=json");
      expect(await end()).toMatchObject({ after: null });
      expect((await browser.get("/me")).json()).toBeNull();
      // express-session may keep an empty session.
      for (const stored of Object.values(app.stored()))
        expect(Object.keys(stored)).toEqual(["cookie"]);
    });

    it("give a late update of one user nothing of the next user's session", async () => {
      const browser = await signedIn();
      const end = await waiting(browser, "/late");
      app.provider.person = GRACE;
      await signedIn(browser);
      expect(await end()).toMatchObject({ after: null });
      expect(Object.values(app.stored())).toHaveLength(1);
      expect(storedData()).toMatchObject({ owner: GRACE.sub, tags: [] });
    });

    // The limit of `session: "host"` (W006): the framework saves the whole copy of a request that
    // has changed it.
    it("get old data back from a handler that began before an update and changes the session itself", async () => {
      const browser = await signedIn();
      const end = await waiting(browser, "/cart");
      await browser.get("/add");
      expect(await tags(browser)).toEqual(["added"]);
      await end();
      expect(await tags(browser)).toEqual([]);
    });
  },
);
