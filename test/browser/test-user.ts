import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The name of each person at `idpauth provider`, as its buttons show it. */
export const PEOPLE = {
  ada: "Ada Lovelace",
  grace: "Grace Hopper",
  alan: "Alan Turing",
} as const;
export type Person = keyof typeof PEOPLE;

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly failureSummary: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

const INTERRUPTED_SOCKET = ": WebSocket is closed before the connection is ";
const STATUS_LINES =
  /^Failed to load resource: the server responded with a status of |^WebSocket connection to '[^']*' failed: HTTP Authentication failed/;

/**
 * A person with a browser profile of their own. What the browser complains about and whom it asks
 * is written down.
 */
export class TestUser {
  readonly context: BrowserContext;
  readonly origin: string;
  /** Everything in the console, uncaught errors, and what a Content-Security-Policy refused. */
  readonly complaints: string[] = [];
  /** Every origin that was asked, with the kinds of resources asked for. */
  readonly asked = new Map<string, Set<string>>();
  /** The addresses of all navigations that went to a callback. */
  readonly callbacks: string[] = [];

  private constructor(context: BrowserContext, origin: string) {
    this.context = context;
    this.origin = origin;
    context.on("console", (message) => {
      // The lines that Chromium writes for every response with an error status, and for a WebSocket
      // that a navigation interrupts.
      const isHarmless =
        STATUS_LINES.test(message.text()) || message.text().includes(INTERRUPTED_SOCKET);
      if (!isHarmless) this.complaints.push(message.text());
    });
    context.on("weberror", (error) => this.complaints.push(error.error().message));
    context.on("request", (request) => {
      const url = new URL(request.url());
      const kinds = this.asked.get(url.origin) ?? new Set();
      this.asked.set(url.origin, kinds.add(request.resourceType()));
      if (url.pathname.endsWith("/login-callback")) this.callbacks.push(url.href);
    });
  }

  static async arrive(
    browser: Browser,
    origin: string,
    options: BrowserContextOptions = {},
  ): Promise<TestUser> {
    const context = await browser.newContext(options);
    // Nothing here takes longer; a test that waits for what never comes should say so soon.
    context.setDefaultTimeout(60_000);
    return new TestUser(context, origin);
  }

  tab(): Promise<Page> {
    return this.context.newPage();
  }

  url(path: string): string {
    return new URL(path, this.origin).href;
  }

  /** A tab that asked for a page and was sent to the provider. */
  async askFor(path: string): Promise<Page> {
    const tab = await this.tab();
    await tab.goto(this.url(path));
    return tab;
  }

  /** A tab in which the whole trip is done, and which is back at the page asked for. */
  async signIn(path = "/idpauth/login/", person: Person = "ada"): Promise<Page> {
    const tab = await this.askFor(path);
    await choose(tab, person);
    return tab;
  }

  async leave(): Promise<void> {
    await this.context.close();
  }
}

/** Clicks on a person at the provider, and waits until the browser is where that leads. */
export async function choose(tab: Page, person: Person | "cancel"): Promise<void> {
  const provider = new URL(tab.url()).origin;
  const button = person === "cancel" ? "Cancel" : PEOPLE[person];
  await tab.getByRole("button", { name: button }).click();
  await tab.waitForURL((url) => url.origin !== provider);
}

export function heading(tab: Page): Promise<string> {
  return tab.getByRole("heading", { level: 1 }).innerText();
}

/**
 * A page as everybody must be able to use it: phone and desktop, light and dark; axe finds nothing,
 * nothing scrolls sideways.
 */
export async function expectUsable(tab: Page): Promise<void> {
  for (const [colorScheme, width] of [
    ["light", 320],
    ["dark", 1280],
  ] as const) {
    await tab.setViewportSize({ width, height: 720 });
    await tab.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const overflow = await tab.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect(overflow, `${tab.url()} scrolls sideways at ${width} px`).toBeLessThanOrEqual(0);
    await tab.evaluate(AXE);
    const { violations, passes } = await tab.evaluate<AxeResult>("axe.run()");
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => node.failureSummary) })),
    ).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain("color-contrast");
  }
}
