import { describe } from "vitest";
import { ensureProgram } from "../support/debian-package.js";
import { installDrivers } from "./browser.js";
import { scenarios } from "./scenarios.js";
import { startWebKit } from "./webkit.js";

const PACKAGES = "webkit2gtk-driver xvfb";

const driver = (await installDrivers()) ? await ensureProgram("WebKitWebDriver", PACKAGES) : undefined;
const xvfb = driver === undefined ? undefined : await ensureProgram("Xvfb", PACKAGES);

describe.skipIf(xvfb === undefined)("WebKit", { timeout: 120_000 }, () => {
  scenarios(() => startWebKit({ driver: driver!, xvfb: xvfb! }));
});
