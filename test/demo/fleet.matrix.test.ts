import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { choose as choosePerson, expectUsable, PEOPLE, TestUser } from "../browser/test-user.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { CookieBrowser, type BrowserResponse } from "../../src/testing/browser/cookie-browser.js";
import { ensureProgram } from "../support/debian-package.js";
import { eventually } from "../support/eventually.js";
import { redisForTests } from "../support/redis-server.js";
import { choose } from "./demo-process.js";
import { FleetProcess } from "./fleet-process.js";

const isMissing =
  (await redisForTests()) === undefined ||
  (await ensureProgram("haproxy", "haproxy")) === undefined;
const executablePath = await chromiumForTests();

const APPLICATIONS = ["app-1", "app-2", "app-3"];

describe.skipIf(isMissing)("the fleet", () => {
  let fleet: FleetProcess;
  let origin: string;
  let ended = false;

  beforeAll(async () => {
    fleet = new FleetProcess({ DEMO_FLEET_RESTART_SECONDS: "2" });
    origin = await fleet.origin();
  });

  afterAll(async () => {
    if (!ended) await fleet.end();
  });

  async function signedIn(): Promise<CookieBrowser> {
    const browser = new CookieBrowser({ origin });
    const home = await choose(browser, await browser.follow("/enter"), "ada");
    expect(home.url.href).toBe(`${origin}/`);
    return browser;
  }

  /** Everything is back, says the page, and each application process reaches the sessions again. */
  async function everybodyRuns(user: CookieBrowser): Promise<void> {
    await eventually(async () => {
      expect(fleet.unnoticed).toEqual([]);
      const answers = [
        await user.navigate("/"),
        await user.navigate("/"),
        await user.navigate("/"),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.map(answering).sort()).toEqual(APPLICATIONS);
      for (const { text } of answers)
        expect(text.match(/class="state( ended)?"/g)).toEqual(Array(6).fill('class="state"'));
    });
  }

  it("keeps a user signed in on every request while one application process after the other is killed", async () => {
    const browser = await signedIn();
    expect(new Set(await ask(browser, 30))).toEqual(new Set(APPLICATIONS));

    const dead = [fleet.pid("app-1"), fleet.pid("app-2")];
    // Some requests are in the very process that dies.
    const during = Promise.all([ask(browser, 30), ask(browser, 30), ask(browser, 30)]);
    fleet.kill("app-1");
    await during;
    await ask(browser, 30);
    fleet.kill("app-2");
    await ask(browser, 30);

    await everybodyRuns(browser);
    await ask(browser, 30);
    expect(dead).not.toContain(fleet.pid("app-1"));
    expect(fleet.said).toMatch(
      /^app-1 \(pid \d+\) ended by SIGKILL\. It starts again in 2 seconds\.$/m,
    );
    expect(fleet.said).toMatch(/^app-2 is back \(pid \d+\)\.$/m);
  });

  it("[S1] responds with 503 while Redis is down, touches no cookie, and knows everybody when it is back", async () => {
    const browser = await signedIn();
    fleet.kill("redis");
    const outage = await browser.navigate("/");
    expect({ status: outage.status, setCookies: outage.setCookies }).toEqual({
      status: 503,
      setCookies: [],
    });
    expect(outage.text).toContain("If you were signed in, you still are");
    await everybodyRuns(browser);
    await ask(browser, 6);
  });

  it("keeps everybody signed in while the provider is away, and its grants are good afterwards", async () => {
    const browser = await signedIn();
    fleet.kill("provider");
    await ask(browser, 6);
    await everybodyRuns(browser);
    expect((await browser.get("/api/userinfo")).json()).toMatchObject({ sub: "ada" });
    await signedIn();
  });

  it("has its provider at the same address again, also when another process has the port for a while", async () => {
    const browser = await signedIn();
    const address = async () =>
      new URL((await browser.get("/idpauth/login/")).location ?? "").origin;
    const before = await address();
    const dead = fleet.pid("provider");
    fleet.kill("provider");
    const other = createServer();
    await eventually(async () => {
      other.listen(Number(new URL(before).port), "127.0.0.1");
      await once(other, "listening");
    });
    const attempts = () =>
      fleet.said.match(/^provider \(pid \d+\) ended with code 1\./gm)?.length ?? 0;
    await expect.poll(attempts).toBeGreaterThan(0);
    await new Promise((resolve) => other.close(resolve));
    await everybodyRuns(browser);
    expect(fleet.pid("provider")).not.toBe(dead);
    expect(fleet.said).toContain("[provider] Its port is taken");
    expect(await address()).toBe(before);
    await signedIn();
  });

  it("says so when no application process is left, and comes back", async () => {
    const browser = await signedIn();
    for (const name of APPLICATIONS) fleet.kill(name);
    const nobody = await eventually(async () => {
      const answer = await browser.navigate("/");
      expect(answer.status).toBe(503);
      return answer;
    });
    expect(nobody.text).toContain("No process is running");
    await everybodyRuns(browser);
    await ask(browser, 6);
  });

  it("comes back under the same address when the balancer dies", async () => {
    const browser = await signedIn();
    fleet.kill("balancer");
    await everybodyRuns(browser);
    await ask(browser, 6);
  });

  describe.skipIf(executablePath === undefined)("in a browser", () => {
    let chromium: Browser;
    beforeAll(async () => {
      chromium = await launchChromium(executablePath!);
    });
    afterAll(() => chromium.close());

    it("shows by itself which process responded, what died and what came back, and pauses on request", async () => {
      const user = await TestUser.arrive(chromium, origin);
      const tab = await user.askFor("/enter");
      await tab.getByRole("button", { name: PEOPLE.ada }).click();
      await tab.getByText("Signed in as Ada Lovelace").waitFor();
      await tab
        .getByText(
          /Signed in on all of [5-9] answers: \d from app-1, \d from app-2, \d from app-3\./,
        )
        .waitFor();

      fleet.kill("app-3");
      await tab.getByText("2 of 3 application processes are running.").waitFor();
      await expectUsable(tab);
      await tab.getByText("3 of 3 application processes are running.").waitFor();
      await tab.getByText("Signed in as Ada Lovelace").waitFor();

      await tab.getByRole("button", { name: "Pause" }).press("Enter");
      const before = await tab.locator("#tally").innerText();
      await tab.waitForTimeout(1_500);
      expect(await tab.locator("#tally").innerText()).toBe(before);
      await tab.getByRole("link", { name: "Ask again" }).press("Enter");
      await expect.poll(() => tab.locator("#tally").innerText()).not.toBe(before);
      expect(user.complaints).toEqual([]);
      await user.leave();
    });

    it("closes the connections of every tab, whichever process has them, when the provider ends the session", async () => {
      const user = await TestUser.arrive(chromium, origin);
      const tab = await user.askFor("/enter");
      const provider = new URL(tab.url()).origin;
      await choosePerson(tab, "grace");
      await tab.getByText(/^Event stream: open, tick \d+\.$/).waitFor();
      const reports = await user.askFor("/reports");
      await reports.getByText("WebSocket: connected.", { exact: true }).waitFor();

      const administrator = await user.tab();
      await administrator.goto(provider);
      await administrator.getByRole("button", { name: PEOPLE.grace }).click();
      await administrator.getByText("The application accepted 1 of 1 logout tokens.").waitFor();

      const why = "closed, because the session has ended (logged_out_at_provider).";
      await tab.getByText(`Event stream: ${why}`, { exact: true }).waitFor();
      await tab.getByText("You are not signed in", { exact: true }).waitFor();
      for (const name of ["Event stream", "WebSocket"])
        await reports.getByText(`${name}: ${why}`, { exact: true }).waitFor();
      expect(user.complaints).toEqual([]);
      await user.leave();
    });

    it("works without its script, by loading the page again", async () => {
      const user = await TestUser.arrive(chromium, origin, { javaScriptEnabled: false });
      const tab = await user.askFor("/");
      await tab.getByText("You are not signed in").waitFor();
      expect(await tab.getByRole("button", { name: "Pause" }).isVisible()).toBe(false);
      const first = await tab.locator("#answer").getAttribute("data-name");
      await tab.getByRole("link", { name: "Ask again" }).click();
      expect(await tab.locator("#answer").getAttribute("data-name")).not.toBe(first);
      expect(user.complaints).toEqual([]);
      await user.leave();
    });
  });

  it("ends everything on Ctrl+C, also with a process that is dead at that moment", async () => {
    await everybodyRuns(await signedIn());
    for (const name of ["app-2", "redis"]) fleet.kill(name);
    await eventually(async () => {
      expect(fleet.said).toMatch(
        new RegExp(`^redis \\(pid ${String(fleet.pid("redis"))}\\) ended`, "m"),
      );
    });
    ended = true;
    // Ctrl+C reaches npm and its shell, too, which end by it: the exit code is theirs.
    expect((await fleet.end()).left).toEqual([]);
    // Nobody had an error of their own.
    expect(fleet.said).not.toContain("    at ");
  });
});

it.skipIf(isMissing)(
  "a fleet whose terminal is closed ends and leaves nothing behind",
  async () => {
    const fleet = new FleetProcess();
    await fleet.origin();
    await fleet.hangUp();
  },
);

describe.skipIf(isMissing)("a fleet that cannot start", () => {
  it("says plainly that a driver is missing", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "fleet-driver-"));
    const hook = path.join(folder, "hook.mjs");
    const resolve =
      "export async function resolve(name, context, next) { if (name === 'better-sqlite3') throw Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' }); return next(name, context); }";
    writeFileSync(
      hook,
      `import { register } from "node:module"; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(resolve)}`)});`,
    );
    try {
      const fleet = new FleetProcess({
        NODE_OPTIONS: `--import=${hook}`,
        DEMO_SESSIONS: "nonsense",
      });
      await expect(fleet.origin()).rejects.toThrow(
        "The package better-sqlite3 is needed and cannot be loaded: it is not installed.",
      );
      expect(fleet.said).not.toContain("    at ");
      expect(await fleet.end()).toEqual({ code: 1, left: [] });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("says plainly that the port is taken, and leaves nothing behind", async () => {
    // Whose sessions a demo would have is no matter here.
    const other = new FleetProcess({ DEMO_SESSIONS: "nonsense" });
    const { port } = new URL(await other.origin());
    const fleet = new FleetProcess({ PORT: port });
    await expect(fleet.origin()).rejects.toThrow("Set PORT to another one");
    expect(await fleet.end()).toEqual({ code: 1, left: [] });
    expect((await other.end()).left).toEqual([]);
  });
});

/** The user asks so many times, and every answer must be theirs; gives who answered. */
async function ask(browser: CookieBrowser, times: number): Promise<string[]> {
  const names: string[] = [];
  for (let time = 0; time < times; time += 1) {
    const answer = await browser.navigate("/");
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("Signed in as Ada Lovelace");
    names.push(answering(answer));
  }
  return names;
}

function answering({ text }: BrowserResponse): string {
  return /data-name="([^"]*)"/.exec(text)?.[1] ?? "nobody";
}
