import assert from "node:assert/strict";
import type { IdpAuthOptions, Session } from "idpauth";
import type { ApplicationRoute } from "../adapter-under-test.js";
import type { StartedApplication } from "../application-starter.js";
import { ALL_ACCESSORS_ROUTE, type AccessorResults } from "./all-accessors.js";
import { ADA } from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";

const area = "accessors";

/** The results of each accessor in each state of the session. */
export const accessorRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title: "each accessor reports a signed-out user",
    async check(starter) {
      const app = await starter.start({ routes: [ALL_ACCESSORS_ROUTE] });
      assert.deepEqual((await app.browser().get("/all")).json(), {
        isAuthenticated: false,
        explanation: { authenticated: false, reason: "no_credentials" },
        record: null,
        credentials: null,
        session: null,
        state: {
          authenticated: false,
          user: null,
          reason: "no_credentials",
          account: null,
          provider: null,
          ends_in: null,
          expires_in: null,
          max_age_expires_in: null,
          idle_expires_in: null,
          session_expiry_expires_in: null,
          data: null,
        },
        accessToken: null,
      });
    },
  },
  {
    area,
    title: "each accessor gives its value for a signed-in user",
    async check(starter) {
      const app = await starter.start({ routes: [ALL_ACCESSORS_ROUTE] });
      const browser = await app.signedIn();
      const { record, session, state, ...said } = (
        await browser.get("/all")
      ).json() as AccessorResults;
      assert.deepEqual([state.authenticated, state.user], [true, ADA]);
      assert.deepEqual(said, {
        isAuthenticated: true,
        explanation: { authenticated: true, reason: null },
        credentials: credentialsOf(app),
        accessToken: app.newest("access_token"),
      });
      assert.deepEqual(record?.["credentials"], said.credentials);
      assert.deepEqual(
        session,
        sessionOf(record, {
          signedInAt: app.clock.now() / 1000,
          lastActive: null,
          expiresAt: null,
        }),
      );
    },
  },
  {
    area,
    title: "after the ID token has expired, only the accessors that may refresh do",
    async check(starter) {
      const app = await starter.start({ routes: [ALL_ACCESSORS_ROUTE] });
      const browser = await app.signedIn();
      const stale = app.newest("access_token");
      app.clock.advance(HOUR_MS);
      const { record, session, state, ...said } = (
        await browser.get("/all")
      ).json() as AccessorResults;
      assert.deepEqual([state.authenticated, state.user], [true, ADA]);
      assert.notEqual(app.newest("access_token"), stale);
      assert.deepEqual(said, {
        isAuthenticated: false,
        explanation: { authenticated: false, reason: "id_token_expired" },
        credentials: credentialsOf(app),
        accessToken: app.newest("access_token"),
      });
      assert.equal((record?.["credentials"] as { token: string }).token, stale);
      assert.deepEqual(
        [session?.user, session?.claims.exp],
        [SESSION_USER, app.clock.now() / 1000 + 3600],
      );
      assert.equal(app.provider.requestsTo("token", { grant_type: "refresh_token" }).length, 1);
    },
  },
  {
    area,
    title:
      "when the maximum age has passed, each accessor reports a signed-out user with the reason max_age",
    async check(starter) {
      const app = await starter.start({
        options: { sessionMaxAge: 60 },
        routes: [ALL_ACCESSORS_ROUTE],
      });
      const browser = await app.signedIn();
      app.clock.advance(61_000);
      const before = app.provider.requests.length;
      const { record, state, ...said } = (await browser.get("/all")).json() as AccessorResults;
      assert.deepEqual([state.user, state.reason], [null, "max_age"]);
      assert.deepEqual(said, {
        isAuthenticated: false,
        explanation: { authenticated: false, reason: "max_age" },
        credentials: null,
        session: null,
        accessToken: null,
      });
      assert.ok(record !== null && "credentials" in record, "the record is not as it is any more");
      assert.equal(app.provider.requests.length, before, "the provider was asked");
    },
  },
  {
    area,
    title:
      "readSessionRecord gives exactly the specified keys of the record, frozen, under their configured names",
    async check(starter) {
      const seen: (Readonly<Record<string, unknown>> | null | undefined)[] = [];
      const routes: readonly ApplicationRoute[] = [
        {
          kind: "json",
          method: "GET",
          path: "/session",
          async respond([auth], raw) {
            seen.push(await auth?.readSessionRecord(raw));
            return {};
          },
        },
      ];
      for (const [options, names] of KEYS) {
        const app = await starter.start({ routes, options });
        const browser = app.browser();
        const callback = await app.approved(browser);
        await browser.get("/session");
        await browser.navigate(callback);
        await browser.get("/session");
        const [pending, signedIn] = seen.splice(0);
        assert.deepEqual(
          Object.keys(pending ?? {}).sort(),
          [names.finalRedirect, names.state].sort(),
        );
        const stamps = [
          "idp_login_at",
          ...(options.sessionIdleTimeout === undefined ? [] : ["idp_last_active"]),
        ];
        assert.deepEqual(
          Object.keys(signedIn ?? {}).sort(),
          [names.credentials, names.finalRedirect, "id_info", ...stamps].sort(),
        );
        for (const stamp of stamps) assert.equal(signedIn?.[stamp], app.clock.now() / 1000, stamp);
        assert.deepEqual(signedIn?.[names.credentials], credentialsOf(app));
        assert.equal(signedIn[names.finalRedirect], "/idpauth/");
        const { iss, sub, email } = signedIn["id_info"] as Record<string, unknown>;
        assert.deepEqual([iss, sub, email], [app.provider.issuer, "ada-1815", ADA.email]);
        assert.deepEqual(
          [Object.isFrozen(pending), Object.isFrozen(signedIn)],
          [true, true],
          "it is not frozen",
        );
      }
    },
  },
  {
    area,
    title: "getSession gives the user, the verified claims and the times of the session, frozen",
    async check(starter) {
      const seen: (Session | null | undefined)[] = [];
      const routes: readonly ApplicationRoute[] = [
        {
          kind: "json",
          method: "GET",
          path: "/session",
          async respond([auth], raw) {
            seen.push(await auth?.getSession(raw));
            return auth?.readSessionRecord(raw);
          },
        },
      ];
      const app = await starter.start({
        routes,
        options: { sessionMaxAge: 3000, sessionIdleTimeout: 600 },
      });
      const browser = await app.signedIn();
      const signedInAt = app.clock.now() / 1000;
      app.clock.advance(100_000);
      const record = (await browser.get("/session")).json() as Readonly<Record<string, unknown>>;
      const lastActive = signedInAt + 100;
      // Compared as JSON: claims have no prototype, so that they inherit nothing.
      assert.deepEqual(JSON.parse(JSON.stringify(seen)), [
        sessionOf(record, { signedInAt, lastActive, expiresAt: lastActive + 600 }),
      ]);
      assert.deepEqual(
        [seen[0], seen[0]?.user, seen[0]?.claims].map(Object.isFrozen),
        [true, true, true],
        "it is not frozen",
      );
      for (let pause = 0; pause < 5; pause += 1) {
        app.clock.advance(550_000);
        await browser.get("/session");
      }
      assert.deepEqual(seen.at(-1)?.expiresAt, signedInAt + 3000, "the maximum age comes first");
    },
  },
  {
    area,
    title: "getAccessToken checks the access token's own expiry against minValidity",
    async check(starter) {
      const tokens: (string | null | undefined)[] = [];
      const path = "/token";
      const routes = [0, 30, 120].map((minValidity): ApplicationRoute => ({
        kind: "json",
        method: "GET",
        path: `${path}/${String(minValidity)}`,
        respond: async ([auth], raw) =>
          tokens.push(await auth?.getAccessToken(raw, { minValidity })),
      }));
      const app = await starter.start({ routes, provider: { accessTokenSeconds: 600 } });
      const browser = await app.signedIn();
      const first = app.newest("access_token");
      app.clock.advance(500_000);
      await browser.get(`${path}/0`);
      await browser.get(`${path}/30`);
      await browser.get(`${path}/120`);
      assert.notEqual(app.newest("access_token"), first);
      assert.deepEqual(tokens, [first, first, app.newest("access_token")]);
    },
  },
];

/** Options, and the configured names of the three keys of readSessionRecord. */
const KEYS: readonly (readonly [
  IdpAuthOptions,
  Readonly<Record<"credentials" | "state" | "finalRedirect", string>>,
])[] = [
  [{}, { credentials: "credentials", state: "oauth_state", finalRedirect: "final_redirect" }],
  [
    {
      sessionIdleTimeout: 60,
      credentialsSessionKeyName: "tokens",
      stateKeyName: "csrf",
      finalRedirectKeyName: "next",
    },
    { credentials: "tokens", state: "csrf", finalRedirect: "next" },
  ],
];

/** The `user` of getSession for the test provider's user. */
const SESSION_USER = { id: "ada-1815", ...ADA, email_verified: true };

/** The result of getSession for a record that was not refreshed. */
function sessionOf(
  record: Readonly<Record<string, unknown>> | null,
  times: Pick<Session, "signedInAt" | "lastActive" | "expiresAt">,
): object {
  return { user: SESSION_USER, claims: record?.["id_info"], data: {}, ...times };
}

/** The six fields that the newest tokens give. */
function credentialsOf(app: StartedApplication): object {
  return {
    token: app.newest("access_token"),
    refresh_token: app.newest("refresh_token"),
    token_uri: `${app.provider.issuer}/token`,
    client_id: app.provider.clientId,
    client_secret: app.provider.clientSecret,
    scopes: ["openid", "email", "profile", "offline_access"],
  };
}
