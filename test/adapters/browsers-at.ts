import { expect } from "vitest";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import type { TestClock } from "../../src/testing/test-clock.js";

/** New browsers at an application, as they come and signed in. */
export function browsersAt(origin: string, clock: TestClock) {
  const browser = () => new CookieBrowser({ origin, now: () => clock.now() });
  return {
    browser,
    async signedIn() {
      const by = browser();
      expect((await by.follow("/idpauth/login/")).status).toBeLessThan(500);
      return by;
    },
  };
}
