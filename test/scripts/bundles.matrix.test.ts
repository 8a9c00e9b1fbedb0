import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { rolldown, type OutputOptions } from "rolldown";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { buildPackage } from "../support/build.js";
import { freePort } from "../support/free-port.js";

// An application in a bundle, with the built package and every store.

const ROOT = path.resolve(import.meta.dirname, "../..");

const APPLICATION = `
import express from "express";
import { idpAuth } from "idpauth/express";
import { postgresStore } from "idpauth/postgres";
import { redisStore } from "idpauth/redis";
import { sqliteStore } from "idpauth/sqlite";

const app = express();
const auth = idpAuth({
  pages: { locale: "auto" },
  store: sqliteStore(process.env.SESSIONS),
  apis: { orders: { url: process.env.IDP_ISSUER + "/", path: "/orders/" } },
});
auth.mount(app);
app.use(auth.proxyApi("orders"));
app.get("/", auth.idpRequired, async (request, response) => {
  const { user } = await auth.requireSession(request);
  response.json({ name: user.name, stores: [typeof redisStore, typeof postgresStore] });
});
app.listen(process.env.PORT);
`;

/** An output of a bundler: its module format, and what it makes of \`import.meta.url\`. */
interface Bundle {
  readonly output: OutputOptions;
  readonly file: string;
  readonly url?: string;
}

const ONE_FILE = { codeSplitting: false } as const;
const BUNDLES: Readonly<Record<string, Bundle>> = {
  "one CommonJS file": { output: { format: "cjs", ...ONE_FILE }, file: "app.cjs" },
  "one CommonJS file, minified, with an empty import.meta, as esbuild writes it": {
    output: { format: "cjs", minify: true, ...ONE_FILE },
    file: "app.cjs",
    url: "undefined",
  },
  "one CommonJS file with the source's address, as webpack writes it": {
    output: { format: "cjs", ...ONE_FILE },
    file: "app.cjs",
    url: '"file:///build/node_modules/idpauth/dist/stores/sqlite/sqlite-store.js"',
  },
  "CommonJS files that load each other late": { output: { format: "cjs" }, file: "app.cjs" },
  "one ES module": { output: { format: "esm", ...ONE_FILE }, file: "app.mjs" },
};

describe.each(Object.entries(BUNDLES))("%s", (_name, { output, file, url }) => {
  let folder: string;
  let provider: TestProvider;

  beforeAll(async () => {
    await buildPackage();
    provider = await startTestProvider();
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-bundle-"));
    for (const place of ["source", "deployed"])
      mkdirSync(path.join(folder, place, "node_modules"), { recursive: true });
    const link = (name: string, to: string, place: string): void => {
      symlinkSync(to, path.join(folder, place, "node_modules", name), "junction");
    };
    link("idpauth", ROOT, "source");
    link("express", path.join(ROOT, "node_modules/express"), "source");
    const input = path.join(folder, "source/app.mjs");
    writeFileSync(input, APPLICATION);
    const bundle = await rolldown({
      input,
      platform: "node",
      logLevel: "silent",
      ...(url !== undefined && { transform: { define: { "import.meta.url": url } } }),
    });
    const [, extension = ""] = file.split(".");
    await bundle.write({
      ...output,
      dir: path.join(folder, "deployed/dist"),
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `[name]-[hash].${extension}`,
    });
    await bundle.close();
    // The bundle contains idpauth.
    rmSync(path.join(folder, "source"), { recursive: true });
  });

  afterAll(async () => {
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts the bundle, in another working folder than its own. */
  async function start(): Promise<CookieBrowser> {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const child: ChildProcess = spawn(
      process.execPath,
      [path.join(folder, "deployed/dist", file)],
      {
        cwd: tmpdir(),
        env: {
          PATH: process.env["PATH"],
          PORT: String(port),
          BASE_URL: origin,
          SECRET_KEY: "a secret key of at least 32 bytes",
          IDP_ISSUER: provider.issuer,
          IDP_CLIENT_ID: provider.clientId,
          IDP_CLIENT_SECRET: provider.clientSecret,
          SESSIONS: path.join(folder, "sessions.db"),
        },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    onTestFinished(() => void child.kill());
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
    const browser = new CookieBrowser({ origin });
    const status = (): Promise<number | string> =>
      browser.get("/idpauth/session").then(
        (response) => response.status,
        () => errors,
      );
    await expect
      .poll(async () => (child.exitCode === null ? status() : errors), { timeout: 30_000 })
      .toBe(200);
    return browser;
  }

  it("signs in with a session in SQLite, and loads a page's language and the proxy", async () => {
    const browser = await start();
    expect((await browser.follow("/")).json()).toEqual({
      name: "Ada Lovelace",
      stores: ["function", "function"],
    });
    expect(readdirSync(folder)).toContain("sessions.db");
    const page = await browser.navigate("/idpauth/", { headers: { "accept-language": "de" } });
    expect(page.text).toContain('lang="de"');
    const proxied = await browser.get("/orders/.well-known/openid-configuration");
    expect([proxied.status, proxied.json().issuer]).toEqual([200, provider.issuer]);
  });
});
