import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { DemoProcess } from "../demo/demo-process.js";
import { launchChromium } from "../support/chromium.js";
import { TestUser } from "./test-user.js";

export interface Stage {
  /**
   * The demo as a process of its own, with a new user at its door. Tests with the same environment
   * share the demo.
   */
  open(env?: Readonly<Record<string, string>>): Promise<{ demo: DemoProcess; user: TestUser }>;
  /** Somebody with a browser profile of their own. */
  user(origin: string, options?: BrowserContextOptions): Promise<TestUser>;
}

/**
 * One Chromium for a test file, and its demos. After each test no user's browser may have
 * complained, and in the end no demo may have had an error. The demo is built when it is first
 * used.
 */
export function useStage(executablePath: string | undefined): Stage {
  let browser: Browser | undefined;
  const demos = new Map<string, { readonly demo: DemoProcess; readonly origin: Promise<string> }>();
  const users: TestUser[] = [];

  beforeAll(async () => {
    if (executablePath !== undefined) browser = await launchChromium(executablePath);
  }, 120_000);

  afterEach(async () => {
    const left = users.splice(0);
    await Promise.all(left.map((user) => user.leave()));
    expect(left.flatMap((user) => user.complaints)).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    const ended = await Promise.all([...demos.values()].map(({ demo }) => demo.kill()));
    for (const { code, stderr } of ended) {
      expect(code).toBe(0);
      // Warnings are single lines with a code; a stack is an error that nobody expected.
      expect(stderr).not.toContain("    at ");
    }
  });

  const stage: Stage = {
    async open(env = {}) {
      const key = JSON.stringify(env);
      let known = demos.get(key);
      if (known === undefined) {
        const demo = new DemoProcess(env);
        known = { demo, origin: demo.origin() };
        demos.set(key, known);
      }
      return { demo: known.demo, user: await stage.user(await known.origin) };
    },
    async user(origin, options) {
      const user = await TestUser.arrive(browser!, origin, options);
      users.push(user);
      return user;
    },
  };
  return stage;
}
