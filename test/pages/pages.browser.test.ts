import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stylesheet } from "../../src/http/request-and-replies.js";
import { createPages } from "../../src/pages/pages.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { startPageServer } from "./page-server.mjs";
import { errorStates, indexStates, sessionsStates } from "./states.mjs";

const executablePath = await chromiumForTests();
const STATES = Object.entries({ index: indexStates(""), error: errorStates, sessions: sessionsStates }).flatMap(([page, states]) =>
  Object.keys(states).map((name) => `${page}-${name}`),
);
const SCREENS = [
  ["phone", "light", 320],
  ["phone", "dark", 320],
  ["desktop", "light", 1280],
  ["desktop", "dark", 1280],
] as const;

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

describe.skipIf(executablePath === undefined)("the pages in a browser", () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof startPageServer>>;
  let axe: string;

  beforeAll(async () => {
    axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    server = await startPageServer({ createPages, stylesheet });
    browser = await launchChromium(executablePath ?? "");
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  describe.each(SCREENS)("on a %s, %s", (_device, colorScheme, width) => {
    let tab: Page;
    const complaints: string[] = [];
    const outside: string[] = [];

    beforeAll(async () => {
      tab = await browser.newPage({ colorScheme, viewport: { width, height: 720 } });
      tab.on("console", (message) => {
        if (!message.location().url.endsWith("/gone.png")) complaints.push(message.text());
      });
      tab.on("pageerror", (error) => complaints.push(error.message));
      tab.on("request", (request) => {
        if (!request.url().startsWith(server.url(""))) outside.push(request.url());
      });
    });
    afterAll(() => tab.close());

    it.each(STATES)("%s: axe finds nothing, nothing scrolls sideways, the policy refuses nothing, nothing is inline", async (state) => {
      complaints.length = 0;
      outside.length = 0;
      await tab.goto(server.url(state), { waitUntil: "load" });
      expect(await tab.evaluate("document.querySelectorAll('script, style, [style], iframe').length")).toBe(0);
      expect(await tab.evaluate("document.querySelectorAll('form').length")).toBe(state.startsWith("sessions-") ? 1 : 0);
      expect(await tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBeLessThanOrEqual(0);
      // The stylesheet has arrived, and in the scheme asked for.
      const background = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
      expect(background).toBe(colorScheme === "light" ? "rgb(238, 241, 246)" : "rgb(15, 19, 25)");
      await tab.evaluate(axe);
      const { violations, passes } = await tab.evaluate<AxeResult>("axe.run()");
      expect(violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => node.failureSummary) }))).toEqual([]);
      expect(passes.map(({ id }) => id)).toContain("color-contrast");
      expect(complaints).toEqual([]);
      expect(outside).toEqual([]);
    });
  });

  it("shows the picture from the one origin that the policy names", async () => {
    const loaded = "document.querySelector('img').naturalWidth";
    expect(await inFreshTab(browser, server.url("index-signed-in"), loaded)).toBeGreaterThan(0);
  });

  it("shows an initial where the picture does not load", async () => {
    const shown = "getComputedStyle(document.querySelector('img'), '::after').content";
    expect(await inFreshTab(browser, server.url("index-signed-in-long"), shown)).toBe('"W"');
  });

  it("can be worked with the keyboard, and shows where the focus is", async () => {
    const tab = await browser.newPage();
    try {
      await tab.goto(server.url("index-signed-out"));
      await tab.keyboard.press("Tab");
      expect(await tab.evaluate("document.activeElement.textContent")).toBe("Sign in");
      expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
      await tab.keyboard.press("Enter");
      await expect.poll(() => tab.url()).toBe(server.url("idpauth/login/"));
    } finally {
      await tab.close();
    }
  });

  it("does not move for those who asked for less motion", async () => {
    const tab = await browser.newPage({ reducedMotion: "reduce" });
    try {
      await tab.goto(server.url("index-signed-out"));
      expect(await tab.evaluate("getComputedStyle(document.querySelector('.button')).transitionDuration")).toBe("0s");
    } finally {
      await tab.close();
    }
  });
});

async function inFreshTab(browser: Browser, url: string, expression: string): Promise<unknown> {
  const tab = await browser.newPage();
  try {
    await tab.goto(url, { waitUntil: "load" });
    return await tab.evaluate(expression);
  } finally {
    await tab.close();
  }
}
