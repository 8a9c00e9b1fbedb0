import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { DemoProcess } from "../demo/demo-process.js";
import { launchChromium } from "../support/chromium.js";
import { Visitor } from "./visitor.js";

export interface Stage {
  /** The demo as a process of its own, with a new visitor at its door. Tests with the same environment share the demo. */
  open(env?: Readonly<Record<string, string>>): Promise<{ demo: DemoProcess; visitor: Visitor }>;
  /** Somebody with a browser profile of their own. */
  visitor(origin: string, options?: BrowserContextOptions): Promise<Visitor>;
}

/**
 * One Chromium for a test file, and its demos. After each test no visitor's browser may have complained, and in the end no
 * demo may have had an error. The demo is built when it is first used.
 */
export function useStage(executablePath: string | undefined): Stage {
  let browser: Browser | undefined;
  const demos = new Map<string, { readonly demo: DemoProcess; readonly origin: Promise<string> }>();
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    if (executablePath !== undefined) browser = await launchChromium(executablePath);
  }, 120_000);

  afterEach(async () => {
    const left = visitors.splice(0);
    await Promise.all(left.map((visitor) => visitor.leave()));
    expect(left.flatMap((visitor) => visitor.complaints)).toEqual([]);
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
      return { demo: known.demo, visitor: await stage.visitor(await known.origin) };
    },
    async visitor(origin, options) {
      const visitor = await Visitor.arrive(browser!, origin, options);
      visitors.push(visitor);
      return visitor;
    },
  };
  return stage;
}
