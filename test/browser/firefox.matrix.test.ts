import { describe } from "vitest";
import { ensureProgram } from "../support/debian-package.js";
import { installDrivers } from "./browser.js";
import { startFirefox } from "./firefox.js";
import { scenarios } from "./scenarios.js";

const executablePath = (await installDrivers())
  ? await ensureProgram("firefox-esr", "firefox-esr")
  : undefined;

describe.skipIf(executablePath === undefined)("Firefox", { timeout: 120_000 }, () => {
  scenarios(() => startFirefox(executablePath!));
});
