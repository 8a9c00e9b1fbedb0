import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { launchChromium } from "../support/chromium.js";
import {
  startStageApplication,
  type StageApplication,
  type StageOptions,
} from "./stage-application.js";
import { TestUser } from "./test-user.js";

export interface Stage {
  /**
   * An application with a new user at its door. Tests with the same options share the application,
   * unless the provider is the test's own.
   */
  open(options?: StageOptions): Promise<{ application: StageApplication; user: TestUser }>;
  /** Somebody with a browser profile of their own. */
  user(origin: string, options?: BrowserContextOptions): Promise<TestUser>;
}

/**
 * One Chromium for a test file, and its applications. After each test no user's browser may have
 * complained, and in the end no application may have had an error.
 */
export function useStage(executablePath: string | undefined): Stage {
  let browser: Browser | undefined;
  const applications = new Map<unknown, Promise<StageApplication>>();
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
    for (const application of await Promise.all(applications.values())) {
      await application.stop();
      expect(application.errors).toEqual([]);
    }
  });

  const stage: Stage = {
    async open(options = {}) {
      const isShared = options.provider === undefined || Array.isArray(options.provider);
      const key = isShared ? JSON.stringify(options) : options;
      const known = applications.get(key) ?? startStageApplication(options);
      applications.set(key, known);
      const application = await known;
      return { application, user: await stage.user(application.origin) };
    },
    async user(origin, options) {
      const user = await TestUser.arrive(browser!, origin, options);
      users.push(user);
      return user;
    },
  };
  return stage;
}
