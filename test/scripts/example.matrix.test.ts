import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect, it } from "vitest";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { freePort } from "../support/free-port.js";
import { choose } from "../support/choose-person.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

// With the example that asks for no package but idpauth, because npm fetches what it asks for.
it("npm run example starts an example with a provider at which a user signs in, and ends both", async () => {
  const { PATH, HOME, NODE_EXTRA_CA_CERTS } = process.env;
  const origin = `http://localhost:${String(await freePort())}`;
  const child = spawn("npm", ["run", "example", "--", "node"], {
    cwd: ROOT,
    // npm may need the certificates to reach its registry.
    env: { PATH, HOME, NODE_EXTRA_CA_CERTS, PORT: new URL(origin).port },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a process group of its own, which gets the signal as after Ctrl+C
  });
  let printed = "";
  const closed = once(child, "close");
  const listens = new Promise<void>((resolve, reject) => {
    for (const output of [child.stdout, child.stderr])
      output.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        if (printed.includes(`${origin}/`)) resolve();
      });
    void closed.then(() => {
      reject(new Error(`the example ended: ${printed}`));
    });
  });
  try {
    await listens;
    const browser = new CookieBrowser({ origin });
    const page = await choose(browser, await browser.follow("/reports"), "Ada Lovelace");
    expect([page.url.pathname, page.text]).toEqual([
      "/reports",
      expect.stringContaining("Hello Ada"),
    ]);
  } finally {
    process.kill(-child.pid!, "SIGINT");
    await closed;
  }
}, 240_000);
