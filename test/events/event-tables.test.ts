import { afterEach, describe, expect, it } from "vitest";
import { EVENT_TABLE } from "../../scripts/event-tables.mjs";
import type { IdpAuth } from "../../src/adapter.js";
import type { Events, IdpRequest, LogEntry } from "../../src/index.js";
import { settled } from "../../src/testing/settled.js";
import { type ApplicationOptions } from "../support/application.js";
import type { SealingStore } from "../support/sealing-store.js";
import { mistakesInEvent, mistakesInLine, type HeardEvent } from "../support/event-fields.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { application, sealing, startOver } from "../support/one-application.js";

const HOUR = 3_600_000;
const NAMES = Object.keys(EVENT_TABLE) as (keyof Events)[];
const ADA = { sub: "ada-1815", name: "Ada Lovelace", email: "ada@users.example" };
const BROWSER = { "user-agent": "Mozilla/5.0 (Ada)", "x-forwarded-for": "203.0.113.7" };

type Fields = Readonly<Record<string, unknown>>;
let store: SealingStore;
let events: HeardEvent[];

async function start(options: ApplicationOptions = {}): Promise<void> {
  events = [];
  store = await startOver(sealing, options);
  listen(application.auth);
}

function listen(auth: IdpAuth<IdpRequest>): void {
  for (const name of NAMES) auth.on(name, (event) => events.push({ name, event: { ...event } }));
}

/** Asserts that everything that came out is in the tables, and that it tells nobody who the user is. */
function expectTables(): void {
  expect(events.flatMap(mistakesInEvent)).toEqual([]);
  expect(application.log.flatMap(mistakesInLine)).toEqual([]);
  const text = JSON.stringify([events, application.log]);
  expect(leaksIn(text, secretsOf(application))).toEqual([]);
  for (const value of [ADA.name, ADA.email, ...Object.values(BROWSER)])
    expect(text).not.toContain(value);
  const withoutSubject = events.map(({ event: { subject: _subject, ...others } }) => others);
  expect(JSON.stringify([withoutSubject, application.log])).not.toContain(ADA.sub);
}

const codes = () => new Set(application.log.map(({ code }) => code));
const heard = () => new Set(events.map(({ name }) => name));

afterEach(() => application.stop());

describe("what events and log lines contain is in the tables of docs/reference/events.md", () => {
  it("for a user who signs in, refreshes, is blocked, reaches a limit and signs out", async () => {
    await start({
      sessionMaxAge: 3 * 3600,
      sessionLabel: (request) => request.header("user-agent") ?? null,
    });
    const user = application.user();
    await user.get(await user.approve("/idpauth/login/", ADA), { headers: BROWSER });
    application.clock.advance(HOUR);
    await user.get("/idpauth/session", { headers: BROWSER });
    application.clock.advance(HOUR);
    application.provider.fault("token", { kind: "status", status: 503, times: 1 });
    await user.get("/idpauth/session");
    await application.auth.guard(user.request("/reports"), { allow: () => false });
    await application.auth.guard(application.user().request("/reports", { headers: BROWSER }));
    application.clock.advance(2 * HOUR);
    await user.get("/idpauth/session");
    await user.signIn(undefined, ADA);
    await user.get("/idpauth/logout/");
    await settled(application.auth);
    expect(heard()).toEqual(new Set(NAMES));
    expectTables();
  });

  it("for outages and refusals of the provider", async () => {
    await start();
    const { provider } = application;
    provider.settings.claimsInIdToken = false;
    provider.fault("userinfo", { kind: "status", status: 502, times: 1 });
    const user = application.user();
    await user.signIn(undefined, ADA);
    provider.fault("revoke", { kind: "status", status: 400, times: 1 });
    await user.get("/idpauth/logout/");
    await user.get("/idpauth/login-callback?state=x&code=y", { headers: BROWSER });
    await user.get("/idpauth/login/?scheme=x");
    await user.get("/idpauth/login/", { host: "a b" });
    await user.signIn(undefined, ADA);
    provider.revokeAll();
    application.clock.advance(HOUR);
    await user.get("/idpauth/session");
    provider.settings.clientSecret = "changed meanwhile";
    await user.signIn(undefined, ADA);
    await settled(application.auth);
    provider.violations.splice(0);
    expect([...codes()]).toEqual(
      expect.arrayContaining([
        "started",
        "provider_unavailable",
        "provider_misconfigured",
        "callback_failed",
        "login_failed",
        "refresh_rejected",
      ]),
    );
    expectTables();
  });

  it("for functions of the application that throw, and claims that its schema doesn't accept", async () => {
    await start({
      onSignIn: () => {
        throw new Error(`The user ${ADA.email}`);
      },
      pages: {
        render: () => {
          throw new TypeError(ADA.name);
        },
      },
    });
    const user = application.user();
    await user.signIn(undefined, ADA);
    expect(codes()).toContain("function_threw");
    expectTables();
    await application.stop();

    await start({
      claims: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: ({ email }: Fields) => ({
            issues: [{ message: `${String(email)} is no employee`, path: ["email"] }],
          }),
        },
      } as NonNullable<ApplicationOptions["claims"]>,
    });
    await application.user().signIn(undefined, ADA);
    expect(codes()).toContain("claims_rejected");
    expectTables();
  });

  it("for a store that doesn't respond, and sessions that can't be read", async () => {
    await start();
    const user = application.user();
    await user.signIn(undefined, ADA);
    const stranger = application.another({ secretKey: "another secret key of at least 32 bytes" });
    listen(stranger);
    await user.at(stranger).get("/idpauth/session");
    store.before = () => {
      throw Object.assign(new Error(ADA.email), { code: "ECONNREFUSED" });
    };
    await user.get("/idpauth/session");
    await user.get("/idpauth/logout/");
    expect([...codes()]).toEqual(
      expect.arrayContaining(["session_unreadable", "store_unavailable"]),
    );
    expectTables();
  });

  it("for APIs and several providers", async () => {
    await start({ apis: { orders: { url: "https://orders.internal/" } } });
    const { issuer, clientId, clientSecret } = application.provider;
    const several = application.another({
      providers: { staff: { issuer, clientId, clientSecret } },
      apis: { orders: { url: "https://orders.internal/" } },
    });
    listen(several);
    const user = application.user().at(several);
    await user.signIn("/idpauth/login/?provider=staff", ADA);
    application.provider.fault("token", {
      kind: "status",
      status: 400,
      body: { error: "invalid_target" },
    });
    application.clock.advance(HOUR);
    await several.getAccessToken(user.request("/"), { api: "orders" }).catch(() => undefined);
    expect(events.map(({ event }) => event["provider"])).toContain("staff");
    expectTables();
  });
});

it("a field without a row is found", async () => {
  await start();
  const event = { time: 1, during: "login", kind: "outage", reason: "x", email: ADA.email };
  expect(mistakesInEvent({ name: "failure", event })).toEqual(["failure.email"]);
  expect(mistakesInEvent({ name: "failure", event: { time: "1" } })).toEqual([
    "failure.time is string",
    "failure without during",
    "failure without kind",
    "failure without reason",
  ]);
  const line = { level: "info", code: "blocked", message: "", details: { email: "x", count: 1 } };
  expect(mistakesInLine(line as unknown as LogEntry)).toEqual(["blocked.email", "blocked.count"]);
});
