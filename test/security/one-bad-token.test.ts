import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { byStranger } from "../support/foreign-signature.js";

/**
 * Guarantee 7: one user's or one stranger's bad token never delays another user. Each response
 * strikes one token only; other users refresh and sign in in the same second, for the clock stands
 * still.
 */

let app: Application;
beforeAll(async () => {
  app = await startApplication({ sessionTtl: 10 * 365 * 86_400 });
});
afterAll(() => app.stop());
beforeEach(() => {
  app.provider.clearFaults();
  // Beyond every back-off.
  app.clock.advance(120_000);
});

type Kind = "refused" | "outage" | "misconfigured";

interface Row {
  readonly status: number;
  readonly error: string | undefined;
  /** What the struck session, or the stranger, gets. */
  readonly refresh: Kind;
  readonly exchange: Kind;
}

const ERRORS = [
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "blocked_by_rule",
  undefined,
];
const OPERATORS = ["unauthorized_client", "unsupported_grant_type", "invalid_scope"];

const ROWS: readonly Row[] = [400, 401, 403, 404, 408, 422, 429, 500, 502, 503].flatMap((status) =>
  ERRORS.map((error): Row => {
    if (status >= 500) return { status, error, refresh: "outage", exchange: "outage" };
    if (error === "invalid_grant")
      return { status, error, refresh: "refused", exchange: "refused" };
    if (status === 408 || status === 429)
      return { status, error, refresh: "outage", exchange: "outage" };
    const isOfClient =
      status === 401 || error === "unauthorized_client" || (status === 403 && error === undefined);
    const exchange = isOfClient ? "misconfigured" : "refused";
    // An operator must act, or, once, what may concern this session or every one.
    if (status === 400 && !OPERATORS.includes(error ?? ""))
      return { status, error, refresh: "outage", exchange };
    return { status, error, refresh: "misconfigured", exchange };
  }),
);

const nameOf = ({ status, error }: Row) => `${String(status)} ${error ?? "without an error code"}`;

function responseOf({ status, error }: Row): Extract<Fault, { kind: "status" }> {
  return {
    kind: "status",
    status,
    ...(error !== undefined && { body: { error } }),
    headers: { "retry-after": "60" },
  };
}

async function signedIn(name: string): Promise<TestUser> {
  const user = app.user();
  await user.signIn("/idpauth/login/", { sub: name, email: `${name}@example.com` });
  return user;
}

/** Another user's refresh and another user's sign-in, now. */
async function expectOthersGood(expired: TestUser): Promise<void> {
  expect(await expired.isSignedIn()).toBe(true);
  const fresh = await signedIn("carol");
  expect(await fresh.isSignedIn()).toBe(true);
}

async function kindOf(
  answer: Awaited<ReturnType<TestUser["get"]>>,
  ok: number,
): Promise<Kind | "good"> {
  if (answer.status === 503)
    return (answer.body ?? "").includes("misconfigured") ? "misconfigured" : "outage";
  return answer.status === ok ? "refused" : "good";
}

describe("one session whose refresh token gets a bad response", () => {
  it.each(ROWS.map((row) => [nameOf(row), row] as const))(
    "%s: other users refresh and sign in",
    async (_name, row) => {
      const bad = await signedIn("ada");
      const good = await signedIn("bob");
      const [badToken] = [(await app.auth.getCredentials(bad.request("/")))?.refresh_token];
      app.clock.advance(3_700_000);
      app.provider.fault("token", {
        ...responseOf(row),
        when: ({ params }) => params.get("refresh_token") === badToken,
      });
      for (let poll = 0; poll < 3; poll += 1) {
        const probe = await bad.get("/idpauth/session");
        expect(probe.status).toBe(row.refresh === "refused" ? 200 : 503);
      }
      const refreshes = app.provider
        .requestsTo("token")
        .filter(({ params }) => params.get("refresh_token") === badToken);
      expect(refreshes, "the endpoint is not asked again for this session").toHaveLength(1);
      await expectOthersGood(good);
      // A refusal ends the session; after anything else it goes on.
      app.provider.clearFaults();
      app.clock.advance(61_000);
      expect(await bad.isSignedIn()).toBe(row.refresh !== "refused");
    },
  );

  it("two sessions whose tokens always get 403 delay no other user", async () => {
    const bad = [await signedIn("ada"), await signedIn("dan")];
    const good = await signedIn("bob");
    const tokens = await Promise.all(
      bad.map(async (user) => (await app.auth.getCredentials(user.request("/")))?.refresh_token),
    );
    app.clock.advance(3_700_000);
    app.provider.fault("token", {
      kind: "status",
      status: 403,
      when: ({ params }) => tokens.includes(params.get("refresh_token") ?? ""),
    });
    for (const user of [...bad, ...bad])
      expect((await user.get("/idpauth/session")).status).toBe(503);
    await expectOthersGood(good);
  });
});

/** As Dex does in its default mode. */
const NOT_FOUND = { kind: "status", status: 500, body: { error: "invalid_request" } } as const;

describe("deleted users of a provider that answers their refreshes with 500", () => {
  const POLLS = 5;

  async function people(names: readonly string[]): Promise<TestUser[]> {
    const users: TestUser[] = [];
    for (const name of names) users.push(await signedIn(name));
    return users;
  }

  it.each([2, 6])("%i of them among four others delay nobody", async (count) => {
    const deleted = await people(Array.from({ length: count }, (_, index) => `del-${index}`));
    const good = await people(["ada", "bob", "carol", "dan"]);
    const tokens = await Promise.all(
      deleted.map(
        async (user) => (await app.auth.getCredentials(user.request("/")))?.refresh_token,
      ),
    );
    app.provider.fault("token", {
      ...NOT_FOUND,
      when: ({ params }) => tokens.includes(params.get("refresh_token") ?? ""),
    });
    const statuses: number[] = [];
    const ask = async (users: readonly TestUser[]): Promise<void> => {
      const answers = await Promise.all(users.map((user) => user.get("/idpauth/session")));
      answers.forEach(({ status }, index) => {
        if (good.includes(users[index] as TestUser)) statuses.push(status);
      });
    };
    for (let round = 0; round < 4; round += 1) {
      // All expire, and all sessions ask: one after another, all at once, and in the other order.
      app.clock.advance(3_700_000);
      for (const user of [...deleted, ...good]) await ask([user]);
      app.clock.advance(3_700_000);
      await ask([...deleted, ...good]);
      app.clock.advance(3_700_000);
      await ask([...good, ...deleted]);
      for (let poll = 0; poll < POLLS; poll += 1) {
        app.clock.advance(1_500);
        await ask(deleted);
        await ask(good);
      }
    }
    expect(statuses).toEqual(Array.from({ length: 4 * 4 * (3 + POLLS) }, () => 200));
  });
});

describe("one user's access token that gets 500", () => {
  it("from userinfo at the sign-in: other users sign in with their names", async () => {
    app.provider.settings.claimsInIdToken = false;
    try {
      app.provider.fault("userinfo", { ...NOT_FOUND, times: 1 });
      const nameless = await signedIn("ada");
      const named = await signedIn("bob");
      const emailOf = async (user: TestUser) =>
        (await app.auth.getSession(user.request("/")))?.user.email;
      expect(await emailOf(nameless)).toBeNull();
      expect(await emailOf(named)).toBe("bob@example.com");
    } finally {
      app.provider.settings.claimsInIdToken = true;
    }
  });

  it("from the revocation endpoint: another user's token is revoked", async () => {
    const users = [await signedIn("ada"), await signedIn("bob"), await signedIn("carol")];
    app.provider.fault("revoke", { ...NOT_FOUND, times: 2 });
    const revoked: (boolean | null)[] = [];
    const stop = app.auth.on("logout", (event) => revoked.push(event.revoked));
    for (const user of users) await user.get("/idpauth/logout/");
    stop();
    expect(revoked).toEqual([false, false, true]);
  });
});

describe("one session whose new ID tokens have an unknown key", () => {
  /** From now on, only this user's ID tokens have a key that is not published. */
  function spoil(sub: string): void {
    app.provider.mutateIdToken = (draft) =>
      draft.claims["sub"] === sub ? byStranger({ kid: "unknown" })(draft) : draft;
  }
  afterEach(() => {
    app.provider.mutateIdToken = undefined;
  });

  it("[F9] polls for a minute: other users sign in and refresh all the while, also when the keys change", async () => {
    const bad = await signedIn("ada");
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, index) => signedIn(`user-${String(index)}`)),
    );
    app.clock.advance(3_700_000);
    spoil("ada");
    const before = app.provider.requestsTo("token").length;
    for (let second = 0; second < 60; second += 1) {
      expect((await bad.get("/idpauth/session")).status).toBe(503);
      expect(await (await signedIn("carol")).isSignedIn()).toBe(true);
      if (second % 3 === 0) expect(await others[second / 3]?.isSignedIn()).toBe(true);
      if (second === 40) await app.provider.rotateKeys({ keepOld: false });
      app.clock.advance(1_000);
    }
    // 60 sign-ins, 20 refreshes, and the session's own attempts at 1, 2, 4, 8, 16 and 32 s, each up
    // to a quarter earlier.
    const own = app.provider.requestsTo("token").length - before - 80;
    expect(own).toBeGreaterThanOrEqual(6);
    expect(own).toBeLessThanOrEqual(8);
    app.provider.mutateIdToken = undefined;
    // The longest wait after the last attempt; the jitter may have made it the seventh.
    app.clock.advance(65_000);
    expect(await bad.isSignedIn()).toBe(true);
    expect(app.provider.reuses).toBe(0);
  });

  it("a sign-in with an unknown key fails alone", async () => {
    const good = await signedIn("bob");
    app.clock.advance(3_700_000);
    spoil("ada");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(
        (await app.user().signIn("/idpauth/login/", { sub: "ada", email: "ada@example.com" }))
          .status,
      ).toBe(503);
      await expectOthersGood(good);
    }
  });
});

describe("a stranger's code that gets a bad response", () => {
  it.each(ROWS.map((row) => [nameOf(row), row] as const))(
    "%s: other users refresh and sign in",
    async (_name, row) => {
      const good = await signedIn("bob");
      app.clock.advance(3_700_000);
      app.provider.fault("token", {
        ...responseOf(row),
        when: ({ params }) => params.get("code") === "made-up",
      });
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const stranger = app.user();
        const login = await stranger.get("/idpauth/login/");
        const state = new URL(login.location).searchParams.get("state") ?? "";
        const answer = await stranger.get(
          `/idpauth/login-callback?code=made-up&state=${state}&iss=${encodeURIComponent(app.provider.issuer)}`,
        );
        expect(await kindOf(answer, 400)).toBe(row.exchange);
      }
      await expectOthersGood(good);
    },
  );
});

describe("a real outage", () => {
  /** With the requests of refreshes that reach the provider. */
  const OUTAGES: readonly (readonly [string, Fault, number])[] = [
    ["500", { kind: "status", status: 500 }, 12],
    ["429", { kind: "status", status: 429 }, 12],
    ["503 with Retry-After", { kind: "status", status: 503, headers: { "retry-after": "30" } }, 12],
    ["a reset connection", { kind: "reset" }, 1],
    [
      "a wrong client secret",
      { kind: "status", status: 401, body: { error: "invalid_client" } },
      1,
    ],
  ];
  it.each(OUTAGES)(
    "%s: every user gets 503, few requests reach the provider, and all are good again afterwards",
    async (_name, fault, requests) => {
      const names = Array.from({ length: 20 }, (_, index) => `user-${String(index)}`);
      const users = await Promise.all(names.map(signedIn));
      app.clock.advance(3_700_000);
      app.provider.requests.length = 0;
      app.provider.fault("token", fault);
      for (const user of [...users, ...users])
        expect((await user.get("/idpauth/session")).status).toBe(503);
      expect(app.provider.requestsTo("token").length).toBe(requests);
      const callback = await users[0]?.approve();
      expect((await users[0]?.get(callback ?? ""))?.status).toBe(503);
      app.provider.clearFaults();
      app.clock.advance(61_000);
      for (const user of users) expect(await user.isSignedIn()).toBe(true);
      await expectOthersGood(users[1] ?? app.user());
    },
  );
});

describe("code exchanges", () => {
  it("at most 50 at once reach the provider; one more waits 2 s, then gets 503, and its sign-in can still succeed", async () => {
    const hold = app.provider.hold("token", { count: 50 });
    const callbacks = await Promise.all(
      Array.from({ length: 51 }, async (_, index) => {
        const user = app.user();
        return {
          user,
          target: await user.approve("/idpauth/login/", { sub: `user-${String(index)}` }),
        };
      }),
    );
    app.provider.requests.length = 0;
    const first = callbacks.slice(0, 50).map(({ user, target }) => user.get(target));
    await hold.arrived;
    const [late] = callbacks.slice(50);
    const waiting = late?.user.get(late.target);
    // Nothing that could be waited for happens when a request waits for a slot.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(app.provider.requestsTo("token")).toHaveLength(50);
    app.clock.advance(2_000);
    const answer = await waiting;
    expect([answer?.status, answer?.headers["Retry-After"]]).toEqual([
      503,
      expect.stringMatching(/^[12]$/),
    ]);
    hold.release();
    for (const each of await Promise.all(first)) expect(each.status).toBe(302);
    expect((await late?.user.get(late.target))?.status).toBe(302);
    expect(await late?.user.isSignedIn()).toBe(true);
  });
});
