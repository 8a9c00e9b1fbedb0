// @ts-check
import { existsSync } from "node:fs";
import { chromium, defineConfig } from "@playwright/test";

// Playwright's own Chromium where `npx playwright install chromium` has put it, else the system's.
const installed = existsSync(chromium.executablePath())
  ? undefined
  : (process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium");

export default defineConfig({
  use: {
    launchOptions: {
      args: ["--disable-gpu"],
      ...(installed !== undefined && { executablePath: installed }),
    },
  },
});
