import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Browser, type Tab } from "./browser.js";
import { ADA } from "./session-server.js";

const HOUR = 3600;
const TABS = 10;

/** Ten tabs of one user, of which some are visible. */
async function tenTabs(visible: number, options = {}): Promise<{ browser: Browser; tabs: Tab[] }> {
  const browser = new Browser();
  browser.server.signIn(ADA, { idle: 2 * HOUR, maxAge: 8 * HOUR, idToken: 24 * HOUR });
  const tabs = Array.from({ length: TABS }, (_, index) =>
    browser.tab(`tab ${String(index + 1)}`, options, { isVisible: index < visible }),
  );
  await browser.pass(1);
  return { browser, tabs };
}

/** How many probes the tabs have sent. */
interface Count {
  readonly all: number;
  readonly most: number;
  readonly least: number;
}
function countOf(tabs: readonly Tab[]): Count {
  const probes = tabs.map((tab) => tab.probes);
  return {
    all: probes.reduce((sum, one) => sum + one, 0),
    most: Math.max(...probes),
    least: Math.min(...probes),
  };
}

const SCENARIOS: readonly (readonly [
  name: string,
  run: () => Promise<{ browser: Browser; tabs: Tab[] }>,
])[] = [
  [
    "One tab is visible",
    async () => {
      const ten = await tenTabs(1);
      await ten.browser.pass(HOUR);
      return ten;
    },
  ],
  [
    "The user goes to the next tab every minute",
    async () => {
      const ten = await tenTabs(1);
      for (let minute = 1; minute <= 60; minute++) {
        await ten.browser.pass(60);
        ten.tabs[(minute - 1) % TABS]?.hide();
        ten.tabs[minute % TABS]?.show();
      }
      return ten;
    },
  ],
  [
    "All ten are visible, in windows of their own",
    async () => {
      const ten = await tenTabs(TABS);
      await ten.browser.pass(HOUR);
      return ten;
    },
  ],
  [
    "No tab is visible",
    async () => {
      const ten = await tenTabs(0);
      await ten.browser.pass(HOUR);
      return ten;
    },
  ],
];

describe("ten tabs for an hour", () => {
  const rows: object[] = [];

  it.each(SCENARIOS)("%s: the probes, and none moves the idle timeout", async (name, run) => {
    const { browser, tabs } = await run();
    const start = browser.server.now - HOUR - 1;
    expect(browser.server.lastActive).toBe(start);
    const { all, most, least } = countOf(tabs);
    rows.push({ name, all, most, least });
    // One tab asks in each minute, and each tab that is shown asks once at its start.
    expect(all).toBeLessThanOrEqual(60 + TABS);
  });

  it("the counts are those of docs/evidence/performance.json", () => {
    const file = new URL("../../docs/evidence/performance.json", import.meta.url);
    const { client } = JSON.parse(readFileSync(file, "utf8")) as { client: { rows: object[] } };
    expect(rows).toEqual(client.rows);
  });

  it("with trackActivity, a user who is active in one tab keeps the session, by one request a minute", async () => {
    const { browser, tabs } = await tenTabs(1, { trackActivity: true });
    for (let second = 0; second < HOUR; second += 10) {
      tabs[0]?.fire("keydown");
      await browser.pass(10);
    }
    const slides = browser.server.probes().filter(({ target }) => !target.includes("slide=false"));
    expect(slides).toHaveLength(60);
    expect(new Set(slides.map(({ tab }) => tab))).toEqual(new Set(["tab 1"]));
    expect(browser.server.now - (browser.server.lastActive ?? 0)).toBeLessThanOrEqual(60);
  });
});
