import { afterEach, describe, expect, it } from "vitest";
import { createIdpAuth } from "../../src/adapter.js";
import type { Events, IdpRequest, LogEntry } from "../../src/index.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import { settled } from "../../src/testing/settled.js";
import { application, start as startPlain, store, startOver } from "../support/one-application.js";
import { optionsFor } from "../support/options-for.js";
import { watchedStore } from "../support/watched-store.js";

let outages: Events["outage"][];

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await startPlain(options);
  outages = [];
  application.auth.on("outage", (event) => outages.push(event));
  // The warnings of the start.
  application.log.length = 0;
  return user;
}

const told = () => application.log.map(({ code, details }) => [code, details?.reason]);

afterEach(() => application.stop());

describe("an outage of the provider is an event, once per request to it, with the endpoint and the milliseconds", () => {
  it.each<[Events["outage"]["endpoint"], string, (user: TestUser) => Promise<unknown>]>([
    [
      "discovery",
      "http_503",
      (user) => {
        application.provider.fault("discovery", { kind: "status", status: 503 });
        return user.get("/idpauth/login/");
      },
    ],
    [
      "jwks",
      "http_500",
      (user) => {
        application.provider.fault("jwks", { kind: "status" });
        return user.signIn();
      },
    ],
    [
      "token",
      "network",
      (user) => {
        application.provider.fault("token", { kind: "reset" });
        return user.signIn();
      },
    ],
    [
      "token",
      "invalid_client",
      (user) => {
        application.provider.settings.clientSecret = "changed meanwhile";
        return user.signIn();
      },
    ],
    [
      "userinfo",
      "http_502",
      (user) => {
        application.provider.settings.claimsInIdToken = false;
        application.provider.fault("userinfo", { kind: "status", status: 502 });
        return user.signIn();
      },
    ],
    [
      "revocation",
      "http_429",
      async (user) => {
        await user.signIn();
        application.provider.fault("revoke", { kind: "status", status: 429 });
        return user.get("/idpauth/logout/");
      },
    ],
  ])("%s: %s", async (endpoint, reason, act) => {
    await act(await start());
    // After a sign-in that has failed, the tokens are revoked in the background.
    await settled(application.auth);
    const issuer = application.provider.issuer;
    expect(outages).toEqual([
      { time: application.clock.now(), side: "provider", issuer, endpoint, reason, duration: 0 },
    ]);
    expect(application.provider.violations.splice(0)).toHaveLength(
      reason === "invalid_client" ? 1 : 0,
    );
  });

  it("the milliseconds are those until it was known", async () => {
    const user = await start();
    await user.signIn();
    application.clock.advance(3600_000);
    const hang = application.provider.hold("token");
    const probe = user.get("/idpauth/session");
    await hang.arrived;
    // The user's patience first, then the refresh's own deadline.
    await application.clock.advanceAsync(30_000);
    expect((await probe).status).toBe(503);
    await expect
      .poll(() => outages)
      .toMatchObject([{ endpoint: "token", reason: "timeout", duration: 30_000 }]);
    hang.release();
  });

  it("two hundred users who wait for one response are one outage", async () => {
    const user = await start();
    await user.signIn();
    application.clock.advance(3600_000);
    application.provider.fault("token", { kind: "status", status: 500 });
    await Promise.all(Array.from({ length: 200 }, () => user.get("/idpauth/session")));
    expect(outages).toHaveLength(1);
  });
});

describe("an outage of the store is an event and a line, with the code of its driver", () => {
  it.each<[string, () => unknown, string]>([
    [
      "a driver's code",
      () => Object.assign(new Error("secret words"), { code: "ECONNREFUSED" }),
      "ECONNREFUSED",
    ],
    [
      "PostgreSQL's code",
      () => Object.assign(new Error("secret words"), { code: "57P01" }),
      "57P01",
    ],
    [
      "a code below",
      () => new Error("x", { cause: Object.assign(new Error("y"), { code: "SQLITE_BUSY" }) }),
      "SQLITE_BUSY",
    ],
    ["no code", () => new Error("secret words"), "rejected"],
    [
      "a code that is none",
      () => Object.assign(new Error("x"), { code: "secret words" }),
      "rejected",
    ],
    ["no error", () => "secret words", "rejected"],
  ])("%s", async (_name, failure, reason) => {
    await startOver((clock) => ({
      ...watchedStore(clock),
      name: "failing",
      get: () => Promise.reject(failure()),
    }));
    const { clock } = application;
    outages = [];
    application.auth.on("outage", (event) => outages.push(event));
    application.log.length = 0;
    const user = application.user();
    user.cookies.set("idpauth", "A".repeat(43));
    expect((await user.get("/idpauth/session")).status).toBe(503);
    expect(outages).toEqual([{ time: clock.now(), side: "store", reason, duration: 0 }]);
    expect(told()).toEqual([["store_unavailable", reason]]);
    expect(JSON.stringify(application.log)).not.toContain("secret words");
  });

  it("a device list's too", async () => {
    const user = await start();
    await user.signIn();
    store.isDown = true;
    await expect(application.auth.listSessions({ iss: "i", sub: "s" })).rejects.toMatchObject({
      status: 503,
    });
    expect(outages).toMatchObject([{ side: "store" }]);
  });
});

it("a failure of the framework's own sessions is an outage of the store, with a line", async () => {
  const user = await start();
  const lines: LogEntry[] = [];
  const { provider, clock } = application;
  const down = () =>
    Promise.reject(Object.assign(new Error("secret words"), { code: "ECONNREFUSED" }));
  const auth = createIdpAuth<IdpRequest>(
    {
      ...optionsFor(provider),
      session: "host",
      clock,
      log: (entry) => lines.push(entry),
    },
    {
      name: "failing",
      request: (raw) => raw,
      session: () => ({
        id: "one",
        data: {},
        load: down,
        save: down,
        regenerate: down,
        destroy: down,
      }),
    },
  );
  auth.start({ sessionMiddleware: "present" });
  lines.length = 0;
  auth.on("outage", (event) => outages.push(event));
  expect((await auth.handle(user.request("/idpauth/logout/")))?.status).toBe(503);
  expect(outages).toEqual([{ time: clock.now(), side: "store", reason: "ECONNREFUSED" }]);
  expect(lines.map(({ code }) => code)).toContain("store_unavailable");
  expect(JSON.stringify(lines)).not.toContain("secret words");
});

it("a framework without the session that was set is an outage of its own side", async () => {
  const user = await start();
  const lines: LogEntry[] = [];
  const { provider, clock } = application;
  const auth = createIdpAuth<IdpRequest>(
    {
      ...optionsFor(provider),
      session: "host",
      clock,
      log: (entry) => lines.push(entry),
    },
    { name: "forgetful", request: (raw) => raw, session: () => undefined },
  );
  auth.start({ sessionMiddleware: "unknown" });
  lines.length = 0;
  auth.on("outage", (event) => outages.push(event));
  expect((await auth.handle(user.request("/idpauth/session")))?.status).toBe(503);
  expect(outages).toEqual([{ time: clock.now(), side: "session", reason: "session_missing" }]);
  expect(lines.map(({ level, code }) => [level, code])).toEqual([["error", "session_missing"]]);
});

describe("every refusal has a line", () => {
  it.each<[string, (user: TestUser) => Promise<unknown>, Partial<LogEntry>]>([
    [
      "the guard",
      (v) => application.auth.guard(v.request("/reports")),
      { level: "info", code: "blocked", details: { reason: "no_credentials" } },
    ],
    [
      "an unknown state",
      (v) => v.get("/idpauth/login-callback?state=x"),
      { level: "warn", code: "callback_failed", details: { reason: "state" } },
    ],
    [
      "a bad login",
      (v) => v.get("/idpauth/login/?scheme=x"),
      { level: "warn", code: "login_failed", details: { reason: "invalid_parameter" } },
    ],
    [
      "a bad logout",
      (v) => v.get("/idpauth/logout/?response="),
      { level: "warn", code: "logout_failed", details: { reason: "invalid_parameter" } },
    ],
    [
      "an origin of somebody else's",
      (v) =>
        v.get("/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=https%3A%2F%2Fevil.example%2F"),
      { level: "info", code: "origin_rejected" },
    ],
  ])("%s", async (_name, act, line) => {
    await act(await start());
    expect(application.log).toMatchObject([line]);
    expect(JSON.stringify(application.log)).not.toContain("evil");
  });
});
