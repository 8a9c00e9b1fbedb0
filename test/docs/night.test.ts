import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Events, LogEntry } from "../../src/index.js";
import {
  startApplication,
  type Answer,
  type Application,
  type ApplicationOptions,
} from "../support/application.js";
import { SealingStore } from "../support/sealing-store.js";
import { TestClock } from "../../src/testing/test-clock.js";

// docs/how-to/night.md: each row of its table is caused here, and the row has the log's codes and
// reasons and the page's code. The alert on failed logins counts those that fail at idpauth.

const page = readFileSync(new URL("../../docs/how-to/night.md", import.meta.url), "utf8");
const table = page.slice(page.indexOf("## What it means"), page.indexOf("## Causes"));
const rows = table.split("\n").filter((line) => line.startsWith("| ") && line.includes("`"));
const HOUR = 3_600_000;

let application: Application;
let store: SealingStore;
let failures: Events["failure"][];

async function start(options: ApplicationOptions = {}) {
  const clock = new TestClock();
  store = new SealingStore(clock);
  application = await startApplication({
    clock,
    store,
    baseUrl: "http://app.example",
    ...options,
  });
  failures = [];
  application.auth.on("failure", (event) => void failures.push(event));
}

beforeEach(() => start());
afterEach(() => application.stop());

/** What the log and the user got since the cause. */
interface Seen {
  readonly lines: readonly LogEntry[];
  readonly answer: Answer;
}

/** The row of this cause names what the log has, what the check reports and what the user sees. */
function expectRow(cause: string, { lines, answer }: Seen, check: string): void {
  const row = rows.find((line) => line.includes(cause)) ?? "";
  const [, log = "", checked = "", users = ""] = row.split("|");
  const own = lines.flatMap(({ code, details }) => [code, details?.["reason"]]);
  const named = [...log.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(
    named.some((name) => own.includes(name)),
    `${log}: ${own.join()}`,
  ).toBe(true);
  expect(checked).toContain(check);
  expect(users).toContain(String(answer.status));
  expect(users).toContain(codeOf(answer));
}

function codeOf({ body }: Answer): string {
  return /<code>(\w+)<\/code>/.exec(body ?? "")?.[1] ?? "";
}

/** Runs what a user does, with the lines that it causes. */
async function seen(act: () => Promise<Answer>): Promise<Seen> {
  const before = application.log.length;
  const answer = await act();
  return { answer, lines: application.log.slice(before) };
}

const PAGE = { headers: { accept: "text/html", "sec-fetch-mode": "navigate" } };
const logIn = () => seen(() => application.user().get("/idpauth/login/", PAGE));
const signIn = () =>
  seen(async () => {
    const user = application.user();
    return user.get(await user.approve(), PAGE);
  });

describe("docs/how-to/night.md", () => {
  it.each([
    ["network", { kind: "reset" }],
    ["http_503", { kind: "status", status: 503 }],
  ] as const)("the provider is down: %s", async (_reason, fault) => {
    application.provider.fault("discovery", fault);
    expectRow("(#the-provider-is-down)", await logIn(), "E101");
    expect(failures).toMatchObject([{ during: "login", kind: "outage" }]);
  });

  it("a running process still redirects to a provider that is down, and its log has nothing", async () => {
    await signIn();
    await application.provider.stop();
    const { lines, answer } = await logIn();
    expect([lines, answer.status, failures]).toEqual([[], 302, []]);
  });

  it("the store is down", async () => {
    store.before = () => {
      throw new Error("down");
    };
    expectRow("(#the-store-is-down-or-full)", await logIn(), "E111");
    expect(failures).toMatchObject([{ during: "login", reason: "store_unavailable" }]);
  });

  it.each([
    ["id_token_iat", 180],
    ["id_token_exp", -2 * 3600],
  ])("a clock is wrong: %s", async (reason, seconds) => {
    application.provider.mutateIdToken = (draft) => {
      draft.claims["iat"] = Number(draft.claims["iat"]) + seconds;
      draft.claims["exp"] = Number(draft.claims["exp"]) + seconds;
      return draft;
    };
    const result = await signIn();
    expectRow("(#a-clock-is-wrong)", result, "E110");
    expect(result.lines.map(({ message }) => message).join()).toContain("clock");
    expect(failures).toMatchObject([{ during: "callback", reason }]);
  });

  it("the client secret is wrong, and the next lines say only backing_off", async () => {
    application.provider.settings.clientSecret = "another one";
    const result = await signIn();
    expectRow("(#the-client-secret)", result, "E109");
    const again = await signIn();
    expect(again.lines.map(({ code, details }) => [code, details?.["reason"]])).toEqual([
      ["callback_failed", "backing_off"],
    ]);
    application.provider.violations.splice(0);
  });

  it("the provider's certificate has expired", async () => {
    const cause = Object.assign(new Error("expired"), { code: "CERT_HAS_EXPIRED" });
    await application.stop();
    await start({ fetch: () => Promise.reject(new TypeError("fetch failed", { cause })) });
    const result = await logIn();
    expectRow("(#the-providers-certificate)", result, "E102");
    expect(result.lines.at(-1)?.message).toContain("(certificate, CERT_HAS_EXPIRED)");
  });

  it("the proxy changes the Host header", async () => {
    const target = "/idpauth/login/?idp_hop=1";
    expectRow(
      "| `login_loop`",
      await seen(() => application.user().get(target, { ...PAGE, host: "app.internal" })),
      "nothing",
    );
    expect(failures).toMatchObject([{ during: "login", reason: "login_loop" }]);
  });

  it("the proxy removes the cookie", async () => {
    const user = application.user();
    const callback = await user.approve();
    expectRow(
      "| `callback_failed` with `state` | nothing",
      await seen(() => application.user().get(callback, PAGE)),
      "nothing",
    );
    expect(failures).toMatchObject([{ during: "callback", reason: "state" }]);
  });

  it("keys differ", async () => {
    const user = application.user();
    await user.signIn();
    const other = application.another({ secretKey: "another key of at least 32 bytes" });
    other.start();
    const before = application.log.length;
    expect(await user.at(other).isSignedIn()).toBe(false);
    expect(application.log.slice(before).map(({ code }) => code)).toEqual(["session_unreadable"]);
    expect(rows.filter((row) => row.startsWith("| `session_unreadable` |"))).toHaveLength(1);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("the application's own code fails", async () => {
    await application.stop();
    await start({ onSignIn: () => Promise.reject(new Error("no database")) });
    expectRow("| `function_threw`", await signIn(), "nothing");
  });

  it("a refresh during an outage leaves the session as it is", async () => {
    const user = application.user();
    await user.signIn();
    application.clock.advance(HOUR);
    const end = application.provider.fault("token", { kind: "status", status: 503 });
    const { lines } = await seen(() => user.get("/idpauth/session"));
    expect(lines.map(({ code }) => code)).toEqual(["refresh_failed"]);
    end();
    application.clock.advance(30_000);
    expect(await user.isSignedIn()).toBe(true);
  });
});
