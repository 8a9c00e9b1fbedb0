import { describe } from "vitest";
import { IN_A_BROWSER } from "../support/chromium.js";
import { ensureProgram } from "../support/debian-package.js";
import { installDrivers } from "./browser.js";
import { startFirefox } from "./firefox.js";
import { scenarios } from "./scenarios.js";

const executablePath = (await installDrivers())
  ? await ensureProgram("firefox-esr", "firefox-esr")
  : undefined;

describe.skipIf(executablePath === undefined)(
  "Firefox",
  { ...IN_A_BROWSER, timeout: 120_000 },
  () => {
    scenarios(() => startFirefox(executablePath!));
  },
);
