import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import type { EndReason, Events } from "../../src/index.js";
import {
  startApplication,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { settled } from "../../src/testing/settled.js";
import { EVENT_TABLE } from "../../scripts/event-tables.mjs";
import { application, pass, start as startPlain, store } from "../support/one-application.js";

const HOUR = 3600;
const NAMES = Object.keys(EVENT_TABLE) as (keyof Events)[];
/** All but the outages, which outages.test.ts looks at. */
const VERDICTS = NAMES.filter((name) => name !== "outage");

let events: { name: keyof Events; event: Record<string, unknown> }[];

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await startPlain(options);
  events = [];
  for (const name of VERDICTS)
    application.auth.on(name, (event) => events.push({ name, event: { ...event } }));
  return user;
}

async function signedIn(options: ApplicationOptions = {}): Promise<TestUser> {
  const user = await start(options);
  await user.signIn();
  events.length = 0;
  return user;
}

const identity = () => ({ issuer: application.provider.issuer, subject: "ada-1815" });

afterEach(() => application.stop());

describe("events", () => {
  it("login: time, issuer, subject and duration", async () => {
    const user = await start();
    await user.signIn();
    expect(events).toEqual([
      { name: "login", event: { time: application.clock.now(), ...identity(), duration: 0 } },
    ]);
  });

  it("login measures how long the provider took", async () => {
    const user = await start();
    const target = await user.approve();
    const hold = application.provider.hold("token");
    const answer = user.get(target);
    await hold.arrived;
    pass(2);
    hold.release();
    await answer;
    expect(events[0]?.event["duration"]).toBe(2000);
  });

  it("login once for a double click, and none for a reload", async () => {
    const user = await start();
    const target = await user.approve();
    const copy = application.user();
    for (const [name, value] of user.cookies) copy.cookies.set(name, value);
    await Promise.all([user.get(target), copy.get(target)]);
    await user.get(target);
    expect(events.map(({ name }) => name)).toEqual(["login"]);
  });

  it("refresh: once, however many request it", async () => {
    const user = await signedIn();
    pass(HOUR);
    await Promise.all(Array.from({ length: 10 }, () => user.get("/idpauth/session")));
    expect(events).toEqual([
      { name: "refresh", event: { time: application.clock.now(), ...identity(), duration: 0 } },
    ]);
  });

  it.each<[string, ApplicationOptions, object]>([
    ["revoked, with the milliseconds that took", {}, { revoked: true, duration: 0 }],
    ["revocation off", { tokenRevokeOnLogout: false }, { revoked: null }],
  ])("logout: %s", async (_name, options, more) => {
    const user = await signedIn(options);
    await user.get("/idpauth/logout/");
    expect(events).toEqual([
      { name: "logout", event: { time: application.clock.now(), ...identity(), ...more } },
    ]);
  });

  it("logout: the revocation failed", async () => {
    const user = await signedIn();
    application.provider.fault("revoke", { kind: "reset" });
    await user.get("/idpauth/logout/");
    expect(events.find(({ name }) => name === "logout")?.event).toMatchObject({ revoked: false });
  });

  it("none for a logout of a user who was not signed in", async () => {
    const user = await start();
    await user.get("/idpauth/logout/");
    await user.get("/idpauth/login/");
    await user.get("/idpauth/logout/");
    expect(events).toEqual([]);
  });

  it("blocked: with the reason, and who where that is known", async () => {
    const user = await signedIn({ sessionMaxAge: 60 });
    await application.auth.guard(application.user().request("/reports"));
    expect(events).toEqual([
      { name: "blocked", event: { time: application.clock.now(), reason: "no_credentials" } },
    ]);
    pass(61);
    await application.auth.guard(user.request("/reports"));
    expect(events.at(-1)).toEqual({
      name: "blocked",
      event: { time: application.clock.now(), ...identity(), reason: "max_age" },
    });
  });

  it.each<[string, ApplicationOptions, number]>([
    ["max_age", { sessionMaxAge: 60 }, 61],
    ["idle", { sessionIdleTimeout: 60 }, 61],
    ["auto_refresh_off", { sessionAutoRefresh: false }, HOUR],
    ["no_refresh_token", { provider: { issueRefreshToken: false } }, HOUR],
  ])("ended by %s: once per session, however many request it", async (reason, options, seconds) => {
    const user = await signedIn(options);
    pass(seconds);
    await Promise.all(Array.from({ length: 5 }, () => user.get("/idpauth/session")));
    await application.auth.getCredentials(user.request("/"));
    await application.auth.getCredentials(user.at(application.another()).request("/"));
    await user.get("/idpauth/");
    pass(60);
    await user.get("/idpauth/session");
    expect(events).toEqual([
      { name: "ended", event: { time: application.clock.now() - 60_000, ...identity(), reason } },
    ]);
  });

  it("ended by a refusal: a failure, then ended once", async () => {
    const user = await signedIn();
    application.provider.revokeAll();
    pass(HOUR);
    for (let probe = 0; probe < 3; probe += 1) await user.get("/idpauth/session");
    expect(events.map(({ name, event }) => [name, event["reason"]])).toEqual([
      ["failure", "invalid_grant"],
      ["ended", "refresh_rejected"],
    ]);
    expect(events[0]?.event).toMatchObject({ during: "refresh", ...identity() });
  });

  it("ended again after a new sign-in", async () => {
    const user = await signedIn({ sessionMaxAge: 60 });
    for (let round = 0; round < 2; round += 1) {
      pass(61);
      await user.get("/idpauth/session");
      await user.signIn();
    }
    expect(events.map(({ name }) => name)).toEqual(["ended", "login", "ended", "login"]);
  });

  it.each<[string, (user: TestUser) => Promise<unknown>, Record<string, unknown>]>([
    [
      "login while the provider is away",
      (user) => {
        application.provider.fault("discovery", { kind: "reset" });
        return user.get("/idpauth/login/");
      },
      { during: "login", kind: "outage", reason: "network" },
    ],
    [
      "callback with an error of the provider",
      async (user) => user.get((await user.approve()).replace(/code=[^&]*/, "error=access_denied")),
      { during: "callback", kind: "refusal", reason: "access_denied" },
    ],
    [
      "callback with another issuer",
      async (user) => user.get((await user.approve()).replace(/iss=[^&]*/, "iss=x")),
      { during: "callback", kind: "refusal", reason: "iss" },
    ],
    [
      "code refused",
      async (user) => user.get((await user.approve()).replace(/code=[^&]*/, "code=x")),
      { during: "callback", reason: "invalid_grant" },
    ],
    [
      "ID token refused",
      async (user) => {
        application.provider.mutateIdToken = (draft) => ({
          claims: { ...draft.claims, nonce: "x" },
        });
        return user.signIn();
      },
      { during: "callback", kind: "refusal", reason: "id_token_nonce" },
    ],
    [
      "a state that nobody knows",
      (user) => user.get("/idpauth/login-callback?state=x&code=y"),
      { during: "callback", kind: "refusal", reason: "state" },
    ],
    [
      "login with parameters that are not allowed",
      (user) => user.get("/idpauth/login/?scheme=x"),
      { during: "login", kind: "refusal", reason: "invalid_parameter" },
    ],
    [
      "login under a Host that is none",
      (user) => user.get("/idpauth/login/", { host: "a b" }),
      { during: "login", kind: "refusal", reason: "host_invalid" },
    ],
    [
      "logout with parameters that are not allowed",
      (user) => user.get("/idpauth/logout/?response=x"),
      { during: "logout", kind: "refusal", reason: "invalid_parameter" },
    ],
    [
      "provider away at the exchange",
      async (user) => {
        application.provider.fault("token", { kind: "reset" });
        return user.signIn();
      },
      { during: "callback", reason: "network" },
    ],
    [
      "store away at the callback",
      async (user) => {
        const target = await user.approve();
        store.isDown = true;
        return user.get(target);
      },
      { during: "callback", kind: "outage", reason: "store_unavailable" },
    ],
    [
      "store away once the tokens are there",
      async (user) => {
        const target = await user.approve();
        const hold = application.provider.hold("token", { before: false });
        const answer = user.get(target);
        await hold.arrived;
        store.isDown = true;
        hold.release();
        return answer;
      },
      { during: "callback", kind: "outage", reason: "store_unavailable" },
    ],
    [
      "store away at login",
      async (user) => {
        store.isDown = true;
        return user.get("/idpauth/login/");
      },
      { during: "login", reason: "store_unavailable" },
    ],
    [
      "store away at logout",
      async (user) => {
        await user.get("/idpauth/login/");
        store.isDown = true;
        return user.get("/idpauth/logout/");
      },
      { during: "logout", reason: "store_unavailable" },
    ],
    [
      "logout while the callback was under way",
      async (user) => {
        const target = await user.approve();
        const leaving = application.user();
        for (const [name, value] of user.cookies) leaving.cookies.set(name, value);
        const hold = application.provider.hold("token");
        const answer = user.get(target);
        await hold.arrived;
        await leaving.get("/idpauth/logout/");
        hold.release();
        return answer;
      },
      { during: "callback", reason: "logged_out_meanwhile" },
    ],
  ])("failure: %s", async (_name, act, event) => {
    const user = await start();
    await act(user);
    expect(events.map(({ name }) => name)).toEqual(["failure"]);
    expect(events[0]?.event).toMatchObject({ time: application.clock.now(), ...event });
  });

  it("failure: an outage during a refresh", async () => {
    const user = await signedIn();
    pass(HOUR);
    application.provider.fault("token", { kind: "status", status: 500 });
    await user.get("/idpauth/session");
    expect(events).toEqual([
      {
        name: "failure",
        event: expect.objectContaining({
          during: "refresh",
          kind: "outage",
          reason: "http_500",
          ...identity(),
        }) as unknown,
      },
    ]);
    // Told at once from now on, without asking; it is an outage for this user all the same.
    await user.get("/idpauth/session");
    expect(events.at(-1)?.event).toMatchObject({
      during: "refresh",
      kind: "outage",
      reason: "backing_off",
    });
  });

  it("are the same for every listener, even if one changes or throws", async () => {
    const user = await start();
    const heard: unknown[] = [];
    application.auth.on("login", (event) => Object.assign(event, { subject: "somebody else" }));
    application.auth.on("login", ({ subject }) => heard.push(subject));
    await user.signIn();
    expect(heard).toEqual(["ada-1815"]);
  });

  it("a listener that throws is logged and disturbs nobody", async () => {
    const user = await start();
    application.auth.on("login", () => {
      throw new TypeError("EVIL");
    });
    let heard = 0;
    application.auth.on("login", () => (heard += 1));
    expect((await user.signIn()).status).toBe(302);
    expect(heard).toBe(1);
    const lines = application.log.filter(({ code }) => code === "function_threw");
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain("EVIL");
  });

  it("a listener's error whose properties throw disturbs nobody either", async () => {
    const user = await start();
    const thrower = () => {
      throw new Error("EVIL");
    };
    const error = Object.defineProperties(new Error(), {
      stack: { get: thrower },
      name: { get: thrower },
    });
    application.auth.on("login", () => {
      throw error;
    });
    expect((await user.signIn()).status).toBe(302);
    expect(application.log.filter(({ code }) => code === "function_threw")).toHaveLength(1);
  });

  it("an async listener that rejects is logged and ends no process", async () => {
    const user = await start();
    application.auth.on("login", () => Promise.reject(new TypeError("EVIL")));
    expect((await user.signIn()).status).toBe(302);
    await expect
      .poll(() => application.log.filter(({ code }) => code === "function_threw"))
      .toHaveLength(1);
    expect(JSON.stringify(application.log)).not.toContain("EVIL");
  });

  it("are typed by name", async () => {
    await start();
    const { auth } = application;
    auth.on("ended", ({ reason, issuer, subject, time }) => {
      const typed: [EndReason, string | undefined, string | undefined, number] = [
        reason,
        issuer,
        subject,
        time,
      ];
      return typed;
    });
    auth.on("logout", ({ revoked }) => revoked satisfies boolean | null);
    auth.on("failure", ({ during }) => during satisfies string);
    // @ts-expect-error -- a login has no reason
    auth.on("login", ({ reason }) => reason as string);
    // @ts-expect-error -- there is no such event
    expect(auth.on("signed-in", () => undefined)).toBeTypeOf("function");
  });

  it("one that is added by a listener hears the next event, and no listener goes on for ever", async () => {
    const user = await start();
    const heard: string[] = [];
    application.auth.on("login", () => {
      heard.push("first");
      if (heard.length < 100) application.auth.on("login", () => heard.push("added"));
    });
    await user.signIn();
    expect(heard).toEqual(["first"]);
    await user.signIn();
    expect(heard).toEqual(["first", "first", "added"]);
  });

  it("a promise of another realm that rejects is logged like any other", async () => {
    const user = await start();
    application.auth.on(
      "login",
      runInNewContext("async () => { throw new Error('far') }") as () => unknown,
    );
    await user.signIn();
    await settled(application.auth);
    expect(application.log.map(({ code }) => code)).toContain("function_threw");
  });

  it("a listener that was removed hears nothing", async () => {
    const user = await start();
    let heard = 0;
    const stop = application.auth.on("login", () => (heard += 1));
    stop();
    await user.signIn();
    expect(heard).toBe(0);
  });
});

describe("the log", () => {
  it("[ASVS-16.2.5] and the events of a whole run, with every kind of failure, hold no secret", async () => {
    const user = await start({ sessionMaxAge: 3 * HOUR, debug: true });
    const { provider, log } = application;
    const failing = application.user();
    await failing.get((await failing.approve()).replace(/code=[^&]*/, "error=access_denied"));
    await failing.get((await failing.approve()).replace(/iss=[^&]*/, "iss=x"));
    await failing.get((await failing.approve()).replace(/code=[^&]*/, "code=unknown"));
    provider.mutateIdToken = (draft) => ({ claims: { ...draft.claims, nonce: "other" } });
    await failing.signIn();
    provider.mutateIdToken = (draft) => draft.sign({ ...draft.header, alg: "none" }, draft.claims);
    await failing.signIn();
    provider.mutateIdToken = undefined;
    await user.signIn();
    await user.get("/idpauth/debug");
    // The provider says every secret back to us, as careless ones do.
    const careless = () =>
      secretsOf(application)
        .map(({ value }) => value)
        .join(" ");
    pass(HOUR);
    for (const status of [500, 401, 404, 429]) {
      provider.fault("token", {
        kind: "status",
        status,
        times: 1,
        body: { error: careless(), error_description: careless() },
      });
      await user.get("/idpauth/session");
      pass(61);
    }
    expect(await user.isSignedIn()).toBe(true);
    provider.fault("revoke", { kind: "status", status: 400, body: { error: careless() } });
    await application.auth.revokeIdpToken(provider.issued.at(-1)?.value ?? "");
    const doomed = application.user();
    await doomed.signIn();
    pass(HOUR);
    provider.fault("token", {
      kind: "status",
      status: 400,
      times: 1,
      body: { error: "invalid_grant", error_description: careless() },
    });
    await doomed.get("/idpauth/session");
    await user.get("/idpauth/logout/");
    await application.auth.guard(user.request("/reports"));
    store.isDown = true;
    await doomed.get("/idpauth/session");

    expect(new Set(events.map(({ name }) => name))).toEqual(new Set(VERDICTS));
    expect(log.length).toBeGreaterThan(10);
    const secrets = [
      ...secretsOf(application),
      ...[...user.cookies.values(), ...doomed.cookies.values()].map((value) => ({
        kind: "cookie",
        value,
      })),
    ];
    expect(leaksIn(JSON.stringify(log), secrets)).toEqual([]);
    expect(leaksIn(JSON.stringify(events), secrets)).toEqual([]);
    for (const { message } of log) expect(message).not.toMatch(/[\r\n]/);
  });
});

it("[ASVS-16.5.4] a listener or a log that fails has no effect on requests", async () => {
  const fail = () => {
    throw new Error("the log failed");
  };
  const application = await startApplication({ log: fail });
  const { auth } = application;
  for (const event of ["login", "logout", "blocked", "failure"] as const) auth.on(event, fail);
  const user = application.user();
  expect((await auth.guard(user.request("/reports")))?.reply.status).toBe(401);
  expect((await user.get("/idpauth/login-callback?state=x&code=y")).status).toBe(400);
  expect((await user.signIn()).status).toBe(302);
  expect(await auth.guard(user.request("/reports"))).toBeUndefined();
  expect((await user.get("/idpauth/logout/?response=json")).status).toBe(200);
  await application.stop();
});
