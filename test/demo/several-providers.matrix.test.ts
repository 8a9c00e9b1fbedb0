import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { CookieBrowser, FollowedResponse } from "../../src/testing/browser/cookie-browser.js";
import { choose, DemoProcess } from "./demo-process.js";

const HOSTS = ["express", "fastify", "hono", "koa", "node", "fetch"] as const;
const running: DemoProcess[] = [];

afterEach(() => Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL"))));

function start(env: Readonly<Record<string, string>> = {}): DemoProcess {
  const demo = new DemoProcess({ DEMO_PROVIDERS: "2", ...env });
  running.push(demo);
  return demo;
}

const providersOf = (demo: DemoProcess) =>
  [...demo.stdout.matchAll(/^Provider: (\S+)/gm)].map(([, issuer = ""]) => issuer);

/** Clicks on a provider on the chooser. */
function chooseProvider(
  browser: CookieBrowser,
  page: FollowedResponse,
  key: string,
): Promise<FollowedResponse> {
  const href = new RegExp(`href="([^"]*provider=${key}[^"]*)"`).exec(page.text)?.[1] ?? "";
  return browser.follow(href.replaceAll("&amp;", "&"));
}

async function signInAsCustomer(browser: CookieBrowser): Promise<FollowedResponse> {
  return choose(
    browser,
    await chooseProvider(browser, await browser.follow("/reports?month=10"), "customers"),
    "mary",
  );
}

const details = async (browser: CookieBrowser) =>
  (await browser.get("/idpauth/session?details=true")).json();

describe.each(HOSTS)("the demo of two providers with %s", (host) => {
  it("has a page for staff only, and uses the provider of each session", async () => {
    const demo = start({ DEMO_HOST: host });
    const browser = await demo.browser();
    expect((await browser.navigate("/")).text).toContain("You are signed in at no provider.");
    const reports = await signInAsCustomer(browser);
    expect([reports.url.href, reports.status]).toEqual([
      `${await demo.origin()}/reports?month=10`,
      200,
    ]);
    expect(await details(browser)).toMatchObject({
      provider: "customers",
      user: { name: "Mary Somerville" },
    });
    expect((await browser.get("/api/userinfo")).json()).toMatchObject({ sub: "mary" });

    const login = await browser.follow("/payroll");
    const [staff, customers] = providersOf(demo);
    expect([login.url.origin, staff === customers]).toEqual([staff, false]);
    const payroll = await choose(browser, login, "ada");
    expect([payroll.url.pathname, payroll.status]).toEqual(["/payroll", 200]);
    expect(payroll.text).toContain("Signed in as Ada Lovelace");
    expect((await browser.get("/api/userinfo")).json()).toMatchObject({ sub: "ada" });

    const form = { "content-type": "application/x-www-form-urlencoded" };
    const ended = await browser.get(`${staff ?? ""}/end/ada`, {
      method: "POST",
      headers: form,
      body: "",
    });
    expect(ended.text).toContain("The application accepted 1 of 1 logout tokens.");
    expect((await browser.get("/api/reports")).status).toBe(401);
    expect(await demo.kill()).toMatchObject({ code: 0, stderr: "" });
  });
});

it("a restart keeps the users of both providers signed in", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "demo-providers-"));
  try {
    const env = { TMPDIR: folder, PORT: "0" };
    const first = start(env);
    const [mary, ada] = [await first.browser(), await first.browser()];
    await signInAsCustomer(mary);
    await choose(ada, await ada.follow("/payroll"), "ada");
    const before = providersOf(first);
    await first.kill("SIGKILL");
    const second = start(env);
    const probe = `${await second.origin()}/idpauth/session?details=true`;
    expect((await mary.get(probe)).json()).toMatchObject({
      authenticated: true,
      provider: "customers",
    });
    expect((await ada.get(probe)).json()).toMatchObject({ authenticated: true, provider: "staff" });
    expect(providersOf(second)).toEqual(before);
  } finally {
    await Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL")));
    rmSync(folder, { recursive: true, force: true });
  }
});

it("two providers are refused beside a provider of the environment", async () => {
  const { code, stderr } = await start({ IDP_CLIENT_ID: "client" }).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^DEMO_PROVIDERS is 2, but the demo starts no provider, because one of these is set: .*IDP_CLIENT_ID/,
  );
});
