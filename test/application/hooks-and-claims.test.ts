import { afterEach, describe, expect, it, vi } from "vitest";
import { deny, type IdpAuthOptions, type SignInInput } from "../../src/index.js";
import { signedInAs } from "../../src/testing/sign-in/signed-in-as.js";
import { type Answer, type TestUser } from "../support/application.js";
import { PATIENCE } from "../support/eventually.js";
import { settled } from "../../src/testing/settled.js";
import { application, start, sealing, startOver } from "../support/one-application.js";

const PROBE = "/idpauth/session";

afterEach(() => application.stop());

const isSignedIn = async (user: TestUser): Promise<unknown> =>
  ((await user.get(PROBE)).json() as { authenticated: unknown }).authenticated;
const sessionOf = (user: TestUser) => application.auth.getSession(user.request("/"));
const revoked = () => application.provider.requestsTo("revoke").length;
const codes = () => application.log.map(({ code }) => code);
const problem = (answer: Answer): unknown => (answer.json() as { code: unknown }).code;
const asJson = { headers: { accept: "application/json" } };

/** A Standard Schema that runs a function. */
function schema<Output extends object>(
  validate: (
    claims: Record<string, unknown>,
  ) => Output | { issues: { message: string; path?: (string | number)[] }[] } | Promise<never>,
): NonNullable<IdpAuthOptions<Output>["claims"]> {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value) => {
        const result = await validate(value as Record<string, unknown>);
        return "issues" in result ? { issues: result.issues } : { value: result };
      },
    },
  };
}

describe("onSignIn", () => {
  it("gets the verified claims, the credentials, the request and a signal; its data is in the session", async () => {
    const seen: SignInInput[] = [];
    const user = await start({
      onSignIn(input) {
        seen.push(input);
        return { data: { userId: 7, tags: ["a"] } };
      },
    });
    await user.signIn();
    const [input] = seen;
    expect(input?.claims).toMatchObject({
      sub: expect.any(String) as string,
      email: "ada@example.com",
    });
    expect(input?.credentials.token).toEqual(expect.any(String));
    expect(input?.request.target).toMatch(/^\/idpauth\/login-callback\?/);
    expect(input?.data).toBeNull();
    expect(Object.isFrozen(input?.claims)).toBe(true);
    expect(Object.isFrozen(input?.user)).toBe(true);
    const session = await sessionOf(user);
    expect(input?.user).toEqual(session?.user);
    expect(session?.data).toEqual({ userId: 7, tags: ["a"] });
    expect(session?.user).toMatchObject({ id: input?.claims.sub, email: "ada@example.com" });
  });

  it("denies: 403 with its message as plain text, no session, the tokens revoked, and the login used up", async () => {
    const user = await start({ onSignIn: () => deny("Only <b>staff</b> may sign in.") });
    const back = await user.approve();
    const page = await user.get(back);
    expect(page.status).toBe(403);
    expect(page.body).toContain("Only &lt;b&gt;staff&lt;/b&gt; may sign in.");
    expect((await user.get(back)).status).toBe(400);
    expect(await isSignedIn(user)).toBe(false);
    await settled(application.auth);
    expect(revoked()).toBe(1);
  });

  it("denies a script with problem+json `sign_in_denied`", async () => {
    const user = await start({ onSignIn: () => deny() });
    expect(problem(await user.get(await user.approve(), asJson))).toBe("sign_in_denied");
  });

  it("a denial leaves the session that was there before", async () => {
    let isOpen = true;
    const user = await start({ onSignIn: () => (isOpen ? undefined : deny()) });
    await user.signIn();
    isOpen = false;
    expect((await user.signIn()).status).toBe(403);
    expect(await isSignedIn(user)).toBe(true);
  });

  it("throws: 503 with the code `hook_failed`, no session, the tokens revoked, and a log line without the error's message", async () => {
    const user = await start({
      onSignIn: ({ credentials }) => {
        throw new RangeError(`no row for ${credentials.token}`);
      },
    });
    const page = await user.signIn();
    expect([page.status, page.headers["Retry-After"]]).toEqual([503, "1"]);
    expect(page.body).toContain("hook_failed");
    expect(page.body).toContain('href="/idpauth/login/?cross_site=true"');
    expect(await isSignedIn(user)).toBe(false);
    await settled(application.auth);
    expect(revoked()).toBe(1);
    const line = application.log.find(({ code }) => code === "function_threw");
    expect(line?.message).toBe("`onSignIn` threw RangeError.");
    expect(line?.details).toMatchObject({ function: "onSignIn", kind: "RangeError" });
    expect(JSON.stringify(application.log)).not.toContain("no row");
  });

  it("throws a message with lines like a stack's: the log names the true place", async () => {
    const user = await start({
      onSignIn: ({ claims }) => {
        throw new Error(`no row for ${String(claims.email)}\n    at ${String(claims.email)}`);
      },
    });
    await user.signIn();
    const line = application.log.find(({ code }) => code === "function_threw");
    expect(line?.details?.place).toMatch(/hooks-and-claims\.test\.ts:\d+:\d+/);
    expect(JSON.stringify(application.log)).not.toContain("ada@example.com");
  });

  it("gets a frozen copy of the old data: no store keeps a change of it", async () => {
    const seen: unknown[] = [];
    await startOver(sealing, {
      onSignIn({ data }) {
        seen.push(data === null || (Object.isFrozen(data) && Object.isFrozen(data["tags"])));
        return { data: { tags: [] } };
      },
      onRefresh: () => (data) => {
        seen.push(Object.isFrozen(data) && Object.isFrozen(data["tags"]));
        return data;
      },
    });
    const user = application.user();
    await user.signIn();
    await user.signIn();
    application.clock.advance(3_601_000);
    expect(await isSignedIn(user)).toBe(true);
    expect(seen).toEqual([true, true, true]);
  });

  it("takes longer than hookTimeout: 503, and its signal aborts", async () => {
    let signal: AbortSignal | undefined;
    const user = await start({
      hookTimeout: 2,
      onSignIn: (input) => {
        signal = input.signal;
        return new Promise<never>(() => undefined);
      },
    });
    const page = user.signIn();
    await vi.waitFor(() => {
      expect(signal).toBeDefined();
    }, PATIENCE);
    application.clock.advance(2_000);
    expect((await page).status).toBe(503);
    expect(signal?.aborted).toBe(true);
  });

  it("runs once for a double click", async () => {
    let runs = 0;
    const user = await start({
      onSignIn() {
        runs += 1;
      },
    });
    const back = await user.approve();
    await Promise.all([user.get(back), user.get(back)]);
    expect(runs).toBe(1);
    expect(await isSignedIn(user)).toBe(true);
  });

  it.each([
    ["a function", () => ({ data: { f: () => 1 } })],
    ["a cycle", () => ({ data: cyclic() })],
    ["more than dataLimit", () => ({ data: { text: "x".repeat(5_000) } })],
    [
      "a getter",
      () => ({ data: Object.defineProperty({}, "x", { get: () => 1, enumerable: true }) }),
    ],
    ["a list", () => ({ data: [] })],
    ["not a number", () => ({ data: { n: Number.NaN } })],
    [
      "__proto__",
      () => ({ data: JSON.parse('{"__proto__":{"admin":true}}') as Record<string, unknown> }),
    ],
  ])("data that is %s: 503 and no session", async (_what, onSignIn) => {
    const user = await start({ onSignIn });
    expect((await user.signIn()).status).toBe(503);
    expect(await isSignedIn(user)).toBe(false);
    expect(codes()).toContain("function_threw");
  });

  it("the same user's sign-in sees the old data and keeps it; another user's starts without data", async () => {
    const seen: unknown[] = [];
    const user = await start({
      onSignIn: ({ claims, data }) => {
        seen.push([claims.email, data]);
        return data === null ? { data: { visits: 1 } } : undefined;
      },
    });
    await user.signIn();
    await application.auth.updateData(user.request("/"), (data) => ({ ...data, visits: 2 }));
    await user.signIn();
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ visits: 2 });
    await user.signIn(undefined, { sub: "grace", email: "grace@example.com" });
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ visits: 1 });
    expect(seen).toEqual([
      ["ada@example.com", null],
      ["ada@example.com", { visits: 2 }],
      ["grace@example.com", null],
    ]);
  });
});

function cyclic(): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  data["self"] = data;
  data["again"] = data;
  return data;
}

describe("claims", () => {
  const groups = schema(({ groups: found }) =>
    Array.isArray(found)
      ? { groups: found as string[] }
      : { issues: [{ message: "groups: secret-value", path: ["groups", 0] }] },
  );

  it("stores the schema's output and shows it over the verified claims; iss and sub stay the verified ones", async () => {
    const user = await start({
      claims: schema(() => ({ groups: ["a"], sub: "forged", email: "other@example.com" })),
    });
    await user.signIn();
    const session = await sessionOf(user);
    expect(session?.claims).toMatchObject({
      groups: ["a"],
      email: "other@example.com",
      name: "Ada Lovelace",
    });
    expect(session?.claims.sub).not.toBe("forged");
    expect(session?.user.id).toBe(session?.claims.sub);
  });

  it("that it does not accept: 403 `claims_rejected`, no session, tokens revoked; the log names paths without values", async () => {
    const user = await start({ claims: groups });
    expect((await user.signIn()).status).toBe(403);
    expect(await isSignedIn(user)).toBe(false);
    await settled(application.auth);
    expect(revoked()).toBe(1);
    const line = application.log.find(({ code }) => code === "claims_rejected");
    expect(line?.details).toEqual({ paths: "groups.0" });
    expect(JSON.stringify(application.log)).not.toContain("secret-value");
    expect(problem(await user.get(await user.approve(), asJson))).toBe("claims_rejected");
  });

  it("a schema that throws at a sign-in: 503 `hook_failed`, no session, the tokens revoked, and the code is sent once", async () => {
    const user = await start({
      claims: schema(() => {
        throw new Error("EVIL words");
      }),
    });
    const back = await user.approve();
    const answer = await user.get(back, asJson);
    expect([answer.status, problem(answer)]).toEqual([503, "hook_failed"]);
    expect((await user.get(back)).status).toBe(400);
    expect(application.provider.requestsTo("token")).toHaveLength(1);
    expect(await isSignedIn(user)).toBe(false);
    await settled(application.auth);
    expect(revoked()).toBe(1);
    expect(JSON.stringify([answer, application.log])).not.toContain("EVIL");
  });

  it("a refresh whose claims it does not accept ends the session, with that reason", async () => {
    const user = await start({
      claims: groups,
      provider: { person: { sub: "ada", groups: ["a"] } },
    });
    await user.signIn();
    application.provider.mutateIdToken = ({ claims: { groups: _removed, ...rest } }) => ({
      claims: rest,
    });
    application.clock.advance(3_601_000);
    expect(await isSignedIn(user)).toBe(false);
    const details = (await user.get(`${PROBE}?details=true`)).json() as { reason: unknown };
    expect(details.reason).toBe("claims_rejected");
    await settled(application.auth);
    expect(revoked()).toBe(1);
  });

  it("a schema that throws at a refresh is an outage: 503, the tokens are kept, and only the schema runs again", async () => {
    let isBroken = false;
    const user = await start({
      claims: schema(() => {
        if (isBroken) throw new Error("broken");
        return { ok: true };
      }),
    });
    await user.signIn();
    isBroken = true;
    application.clock.advance(3_601_000);
    expect((await user.get(PROBE)).status).toBe(503);
    const refreshes = () =>
      application.provider.requestsTo("token", { grant_type: "refresh_token" }).length;
    expect(refreshes()).toBe(1);
    isBroken = false;
    expect(await isSignedIn(user)).toBe(true);
    expect(refreshes()).toBe(1);
  });

  it("a session of another claimsVersion runs through the schema once, when next read", async () => {
    const user = await start();
    await user.signIn();
    let runs = 0;
    const auth = application.another({
      claimsVersion: "2",
      claims: schema(({ email }) => {
        runs += 1;
        return { mail: email };
      }),
    });
    auth.start();
    expect((await auth.getSession(user.request("/")))?.claims).toMatchObject({
      mail: "ada@example.com",
    });
    expect((await auth.getSession(user.request("/")))?.claims).toMatchObject({
      mail: "ada@example.com",
    });
    expect(runs).toBe(1);
  });

  it("runs again if a process without it has refreshed the session, which never sees the output for the old claims", async () => {
    const user = await start();
    await user.signIn();
    let runs = 0;
    const auth = application.another({
      claims: schema(({ exp }) => {
        runs += 1;
        return { seen: exp };
      }),
    });
    auth.start();
    expect((await auth.getSession(user.request("/")))?.claims).toHaveProperty("seen");
    application.clock.advance(3_601_000);
    expect((await sessionOf(user))?.claims).not.toHaveProperty("seen");
    const claims = (await auth.getSession(user.request("/")))?.claims;
    expect([runs, claims?.["seen"]]).toEqual([2, claims?.exp]);
  });
});

describe("onRefresh", () => {
  const hour = () => {
    application.clock.advance(3_601_000);
  };

  it("changes the data by a pure function of the freshest data", async () => {
    const user = await start({
      onSignIn: () => ({ data: { count: 1 } }),
      onRefresh({ user: { email } }) {
        expect(email).toBe("ada@example.com");
        return (data) => ({ ...data, count: data["count"] === 5 ? 6 : -1 });
      },
    });
    await user.signIn();
    await application.auth.updateData(user.request("/"), () => ({ count: 5 }));
    hour();
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ count: 6 });
  });

  it("denies: the session ends with the reason `denied`, and the refresh token is revoked", async () => {
    const user = await start({ onRefresh: () => deny() });
    await user.signIn();
    hour();
    expect(await isSignedIn(user)).toBe(false);
    expect(await application.auth.explainIdpAuthentication(user.request("/"))).toEqual({
      authenticated: false,
      reason: "denied",
    });
    await settled(application.auth);
    expect(revoked()).toBe(1);
  });

  it("throws: 503, the rotated tokens are kept, and only the hook runs again", async () => {
    let runs = 0;
    const user = await start({
      onRefresh() {
        runs += 1;
        if (runs === 1) throw new Error("away");
      },
    });
    await user.signIn();
    hour();
    expect((await user.get(PROBE)).status).toBe(503);
    expect(await application.auth.explainIdpAuthentication(user.request("/"))).toEqual({
      authenticated: false,
      reason: "review_due",
    });
    expect(await isSignedIn(user)).toBe(true);
    expect([
      runs,
      application.provider.requestsTo("token", { grant_type: "refresh_token" }).length,
    ]).toEqual([2, 1]);
  });
});

describe("a process without hooks", () => {
  it("finishes a review that another process began, together with the next refresh", async () => {
    const user = await start({
      onRefresh() {
        throw new Error("away");
      },
    });
    await user.signIn();
    application.clock.advance(3_601_000);
    expect((await user.get(PROBE)).status).toBe(503);
    application.clock.advance(3_601_000);
    const other = application.another({ onRefresh: undefined as never });
    other.start();
    expect((await other.getSession(user.request("/")))?.user.email).toBe("ada@example.com");
  });
});

describe("onSignOut", () => {
  it("runs after a logout with the session as it was, and after the end of a session by policy", async () => {
    const seen: unknown[] = [];
    const user = await start({
      sessionMaxAge: 600,
      onSignIn: () => ({ data: { userId: 7 } }),
      onSignOut({ reason, session, subject }) {
        seen.push([reason, session?.data, subject.sub === session?.user.id]);
      },
    });
    await user.signIn();
    await user.get("/idpauth/logout/");
    await user.signIn();
    application.clock.advance(601_000);
    await user.get(PROBE);
    await user.get(PROBE);
    await settled(application.auth);
    expect(seen).toEqual([
      ["logout", { userId: 7 }, true],
      ["max_age", { userId: 7 }, true],
    ]);
  });

  it("runs for the session of another user that a sign-in replaces, but not for a sign-in of the same user", async () => {
    const seen: unknown[] = [];
    const user = await start({
      onSignOut({ reason, session }) {
        seen.push([reason, session?.user.email]);
      },
    });
    await user.signIn();
    await user.signIn();
    await user.signIn(undefined, { sub: "grace", email: "grace@example.com" });
    await settled(application.auth);
    expect(seen).toEqual([["replaced", "ada@example.com"]]);
  });

  it("that never settles ends with hookTimeout, so that settled() resolves", async () => {
    const user = await start({
      onSignOut: () => new Promise<never>(() => undefined),
      tokenRevokeOnLogout: false,
    });
    await user.signIn();
    await user.get("/idpauth/logout/");
    const idle = settled(application.auth);
    application.clock.advance(5_000);
    await idle;
    expect(application.log.find(({ code }) => code === "function_threw")?.message).toBe(
      "`onSignOut` took longer than hookTimeout.",
    );
  });

  it("that throws disturbs nothing and is logged", async () => {
    const user = await start({
      onSignOut() {
        throw new Error("away");
      },
    });
    await user.signIn();
    expect((await user.get("/idpauth/logout/")).status).toBe(302);
    await settled(application.auth);
    expect(codes()).toContain("function_threw");
  });
});

describe("clientState and clientData", () => {
  it("are the body of ?details=true, with the application's part in `data`", async () => {
    const user = await start({
      clientData: ({ user: { email } }) => ({ email, roles: ["reader"] }),
    });
    expect(await application.auth.clientState(user.request("/"))).toMatchObject({
      authenticated: false,
      user: null,
    });
    await user.signIn();
    const state = await application.auth.clientState(user.request("/"));
    expect(state.data).toEqual({ email: "ada@example.com", roles: ["reader"] });
    expect((await user.get(`${PROBE}?details=true`)).json()).toEqual(state);
    expect((await user.get(PROBE)).json()).not.toHaveProperty("data");
  });

  it("`data` is null when clientData is wrongly async; its rejection does not end the process", async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", note);
    const user = await start({ clientData: () => Promise.reject(new Error("x")) });
    await user.signIn();
    expect(await application.auth.clientState(user.request("/"))).toHaveProperty("data", null);
    // Unhandled rejections are reported before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
  });

  it("`data` is null when clientData throws; the line names it", async () => {
    const user = await start({
      clientData() {
        throw new Error("x");
      },
    });
    await user.signIn();
    expect(await application.auth.clientState(user.request("/"))).toHaveProperty("data", null);
    expect(codes()).toContain("function_threw");
  });
});

describe("updateData", () => {
  it("gives null to a user who is not signed in, and after a logout", async () => {
    const user = await start();
    expect(await application.auth.updateData(user.request("/"), () => ({ a: 1 }))).toBeNull();
    await user.signIn();
    const late = user.request("/");
    await user.get("/idpauth/logout/");
    expect(await application.auth.updateData(late, () => ({ a: 1 }))).toBeNull();
    expect(await application.auth.getSession(user.request("/"))).toBeNull();
  });

  it("loses no update of two at once", async () => {
    const user = await start();
    await user.signIn();
    const add = () =>
      application.auth.updateData(user.request("/"), ({ n = 0, ...rest }) => ({
        ...rest,
        n: (n as number) + 1,
      }));
    await Promise.all([add(), add(), add(), add(), add()]);
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ n: 5 });
  });

  it("refuses what is not JSON, or too large, and changes nothing", async () => {
    const user = await start({ dataLimit: 20 });
    await user.signIn();
    await application.auth.updateData(user.request("/"), () => ({ a: 1 }));
    await expect(
      application.auth.updateData(user.request("/"), () => ({ a: "x".repeat(20) })),
    ).rejects.toThrow(/The limit is 20 bytes/);
    await expect(
      application.auth.updateData(user.request("/"), () => ({ a: new Date() })),
    ).rejects.toThrow(TypeError);
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ a: 1 });
  });

  it("survives a refresh and a process with other options", async () => {
    const user = await start();
    await user.signIn();
    await application.auth.updateData(user.request("/"), () => ({ a: 1 }));
    application.clock.advance(3_601_000);
    const other = application.another({ sessionIdleTimeout: 60 });
    other.start();
    expect((await other.getSession(user.request("/")))?.data).toEqual({ a: 1 });
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({ a: 1 });
  });
});

describe("signedInAs", () => {
  it("takes the application's data, authTime and acr", async () => {
    const user = await start();
    const [name = "", value = ""] = (
      await signedInAs(
        application.auth,
        { email: "ada@example.com" },
        { data: { n: 1 }, acr: "gold", authTime: 1_700_000_000 },
      )
    ).split("=");
    user.cookies.set(name, value);
    const session = await sessionOf(user);
    expect([session?.data, session?.claims["acr"], session?.claims["auth_time"]]).toEqual([
      { n: 1 },
      "gold",
      1_700_000_000,
    ]);
    await expect(signedInAs(application.auth, {}, { data: { f: () => 1 } })).rejects.toThrow(
      TypeError,
    );
  });
});
