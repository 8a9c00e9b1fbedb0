import assert from "node:assert/strict";
import { ProviderUnavailableError, StoreUnavailableError, type ClientState } from "idpauth";
import type { SETTLED } from "idpauth/adapter";
import { TestClock } from "idpauth/testing";
import type { ApplicationAuth, ApplicationRoute } from "../adapter-under-test.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { WatchedStore } from "../watched-store.js";
import { callAllAccessors, ALL_ACCESSORS_ROUTE, type AccessorResults } from "./all-accessors.js";
import { ACCEPTS_JSON, ADA } from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";

const area = "accessors";

/** The effects of the accessors, and the effects that they must not have. */
export const accessorEffectRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "checkIdpAuthentication and explainIdpAuthentication do not refresh, do not count as use, and emit no event",
    async check(starter) {
      const routes: readonly ApplicationRoute[] = [
        {
          kind: "json",
          method: "GET",
          path: "/looks",
          respond: async ([auth], raw) => [
            await auth?.checkIdpAuthentication(raw),
            await auth?.explainIdpAuthentication(raw),
          ],
        },
        ALL_ACCESSORS_ROUTE,
      ];
      const app = await starter.start({
        routes,
        options: { sessionIdleTimeout: 7200, sessionMaxAge: 7000 },
      });
      const browser = await app.signedIn();
      const told: string[] = [];
      for (const name of ["refresh", "ended", "blocked", "failure"] as const)
        app.auth.on(name, () => told.push(name));
      const looksAre = async (reason: string) => {
        told.length = 0;
        const tokenRequests = app.provider.requestsTo("token").length;
        for (const _again of [1, 2]) {
          assert.deepEqual((await browser.get("/looks")).json(), [
            false,
            { authenticated: false, reason },
          ]);
        }
        assert.deepEqual([told, app.provider.requestsTo("token").length], [[], tokenRequests]);
      };
      app.clock.advance(HOUR_MS);
      await looksAre("id_token_expired");
      const details = (
        await browser.get("/idpauth/session?details=true&slide=false")
      ).json() as Record<string, unknown>;
      assert.deepEqual(
        [details["authenticated"], details["idle_expires_in"]],
        [true, 7200 - 3600],
        "a look was taken for use",
      );
      app.clock.advance(HOUR_MS);
      await looksAre("max_age");
    },
  },
  {
    area,
    title:
      "during a provider outage the accessors reject, which reaches the application's error handler as a 503",
    async check(starter) {
      const app = await starter.start({ routes: ASKING.map(routeOf) });
      const browser = await app.signedIn();
      app.clock.advance(HOUR_MS);
      app.provider.fault("token", { kind: "reset" });
      for (const name of ASKING) {
        const response = await browser.get(`/${name}`);
        assert.equal(response.status, 503, name);
        assert.deepEqual(Object.keys(response.json() as object), ["caught"], name);
        assert.ok(app.caught.at(-1) instanceof ProviderUnavailableError, name);
      }
      assert.deepEqual(
        [app.caught.length, [...app.ran.values()]],
        [ASKING.length, ASKING.map(() => 1)],
      );
      app.provider.clearFaults();
      app.clock.advance(61_000);
      assert.deepEqual(((await browser.get("/clientState")).json() as ClientState).user, ADA);
    },
  },
  {
    area,
    title:
      "during a store outage every accessor rejects, which reaches the application's error handler as a 503",
    session: "bundled",
    async check(starter) {
      const names = [
        ...ASKING,
        "readSessionRecord",
        "checkIdpAuthentication",
        "explainIdpAuthentication",
      ] as const;
      const { app, store } = await watched(starter, names.map(routeOf));
      const browser = await app.signedIn();
      store.isAway = true;
      for (const name of names) {
        const response = await browser.get(`/${name}`);
        assert.deepEqual([response.status, response.setCookies], [503, []], name);
        assert.ok(app.caught.at(-1) instanceof StoreUnavailableError, name);
      }
      store.isAway = false;
      assert.equal((await browser.get("/checkIdpAuthentication")).text, "true");
    },
  },
  {
    area,
    title:
      "getSession with ifUnavailable gives that value in an outage, and only then; the guard still responds with 503",
    async check(starter) {
      const routes: readonly ApplicationRoute[] = [
        {
          kind: "json",
          method: "GET",
          path: "/public",
          async respond([auth], raw) {
            const session = await auth?.getSession(raw, { ifUnavailable: "unavailable" });
            return { user: typeof session === "object" ? (session?.user.id ?? null) : session };
          },
        },
        { kind: "json", method: "GET", path: "/guarded", guard: { mount: 0 }, respond: () => ({}) },
      ];
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      assert.deepEqual((await browser.get("/public")).json(), { user: "ada-1815" });
      app.clock.advance(HOUR_MS);
      app.provider.fault("token", { kind: "reset" });
      assert.deepEqual((await browser.get("/public")).json(), { user: "unavailable" });
      assert.equal((await browser.get("/guarded")).status, 503);
      assert.deepEqual(
        (await app.browser().get("/public")).json(),
        { user: null },
        "a signed-out user is told of an outage",
      );
      app.provider.clearFaults();
      app.clock.advance(61_000);
      assert.deepEqual(
        [(await browser.get("/public")).json(), app.caught],
        [{ user: "ada-1815" }, []],
      );
    },
  },
  {
    area,
    title:
      "the guard and all accessors share one read of the session per request and write nothing",
    session: "bundled",
    async check(starter) {
      const guarded: ApplicationRoute = {
        ...ALL_ACCESSORS_ROUTE,
        path: "/guarded",
        guard: { mount: 0 },
      };
      const { app, store } = await watched(starter, [guarded, ALL_ACCESSORS_ROUTE]);
      const browser = await app.signedIn();
      for (const path of ["/guarded", "/all"]) {
        store.operations.length = 0;
        assert.equal((await browser.get(path)).status, 200);
        assert.deepEqual(store.operations, ["get"], path);
      }
      store.operations.length = 0;
      await app.browser().get("/all");
      assert.deepEqual(store.operations, [], "a request without a cookie reads the store");
      assert.equal((await app.browser().get("/guarded", { headers: ACCEPTS_JSON })).status, 401);
    },
  },
  {
    area,
    title: "simultaneous requests share nothing: each sees its own user",
    async check(starter) {
      const app = await starter.start({
        routes: [
          ALL_ACCESSORS_ROUTE,
          { ...ALL_ACCESSORS_ROUTE, path: "/guarded", guard: { mount: 0 } },
        ],
      });
      const browsers = await Promise.all(
        ["ada", "grace", "joan"].map(async (sub) => {
          const browser = app.browser();
          const email = `${sub}@example.com`;
          await browser.navigate(await app.approved(browser, "/idpauth/login/", { sub, email }));
          return { browser, email };
        }),
      );
      const nobody = app.browser();
      const asked = Array.from({ length: 5 }, () => [
        ...browsers.flatMap(({ browser, email }) =>
          ["/all", "/guarded"].map((path) => ({ browser, path, email })),
        ),
        { browser: nobody, path: "/all", email: undefined },
      ]).flat();
      const responses = await Promise.all(
        asked.map(async ({ browser, path }) => (await browser.get(path)).json() as AccessorResults),
      );
      assert.deepEqual(
        responses.map(({ session }) => session?.user.email),
        asked.map(({ email }) => email),
      );
    },
  },
  {
    area,
    title: "neither the guard nor an accessor adds a property to the request",
    async check(starter) {
      const keys = new Map<string, readonly PropertyKey[]>();
      const looked = (path: string, rest: Partial<ApplicationRoute>, ask: boolean) =>
        ({
          kind: "json",
          method: "GET",
          path,
          ...rest,
          async respond([auth]: readonly ApplicationAuth[], raw: object) {
            if (ask) await callAllAccessors(auth as ApplicationAuth, raw);
            keys.set(path, Reflect.ownKeys(raw));
            return {};
          },
        }) as ApplicationRoute;
      const app = await starter.start({
        routes: [
          looked("/plain", {}, false),
          looked("/asked", {}, true),
          looked("/guarded", { guard: { mount: 0 } }, true),
        ],
      });
      const browser = await app.signedIn();
      for (const path of ["/plain", "/asked", "/guarded"])
        assert.equal((await browser.get(path)).status, 200, path);
      for (const path of ["/asked", "/guarded"])
        assert.deepEqual(keys.get(path), keys.get("/plain"), path);
    },
  },
  {
    area,
    title:
      "a handler that catches an accessor's rejection sends its own response, also during an outage",
    async check(starter) {
      const routes: readonly ApplicationRoute[] = [
        {
          kind: "json",
          method: "GET",
          path: "/copes",
          respond: async ([auth], raw) => ({
            user: await auth
              ?.getSession(raw)
              .then((session) => session?.user.id)
              .catch((error: unknown) => (error as { code: string }).code),
          }),
        },
      ];
      const app = await starter.start({ routes });
      const browser = await app.signedIn();
      assert.deepEqual((await browser.get("/copes")).json(), { user: "ada-1815" });
      app.clock.advance(HOUR_MS);
      app.provider.fault("token", { kind: "status", status: 500 });
      const response = await browser.get("/copes");
      assert.deepEqual(
        [response.status, response.json(), app.caught],
        [200, { user: "provider_unavailable" }, []],
      );
    },
  },
];

const ASKING = ["getCredentials", "getSession", "clientState", "getAccessToken"] as const;

function routeOf(
  name: Exclude<
    keyof ApplicationAuth,
    "on" | "close" | typeof SETTLED | "updateData" | "fetchApi" | "dpopProof"
  >,
): ApplicationRoute {
  return {
    kind: "json",
    method: "GET",
    path: `/${name}`,
    respond: ([auth], raw) => auth?.[name](raw),
  };
}

async function watched(
  starter: ApplicationStarter,
  routes: readonly ApplicationRoute[],
): Promise<{ app: StartedApplication; store: WatchedStore }> {
  const clock = new TestClock();
  const store = new WatchedStore(clock);
  return { store, app: await starter.start({ clock, routes, options: { store } }) };
}
