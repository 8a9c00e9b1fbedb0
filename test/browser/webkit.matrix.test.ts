import { describe } from "vitest";
import { ensureProgram } from "../support/debian-package.js";
import { installDrivers } from "./browser.js";
import { scenarios } from "./scenarios.js";
import { startWebKit } from "./webkit.js";

const PACKAGES = "webkit2gtk-driver xvfb";

const driver = (await installDrivers())
  ? await ensureProgram("WebKitWebDriver", PACKAGES)
  : undefined;
const xvfb = driver === undefined ? undefined : await ensureProgram("Xvfb", PACKAGES);

// WebKit's driver can lose a command, which then never gets a response. The second try has a new
// session.
describe.skipIf(xvfb === undefined)("WebKit", { timeout: 60_000 }, () => {
  scenarios(() => startWebKit({ driver: driver!, xvfb: xvfb! }));
});
