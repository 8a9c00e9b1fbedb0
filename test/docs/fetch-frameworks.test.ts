import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../hosts/applications/listen.js";

// The snippets of docs/fetch-frameworks.md as they are, with the frameworks that run without a build of their own.

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(path.join(ROOT, "docs/fetch-frameworks.md"), "utf8");
const SNIPPETS = new Map([...PAGE.matchAll(/^`([^`\n]+)`:\n\n```tsx?\n(.*?)^```$/gms)].map(([, file = "", text = ""]) => [file, text]));

/** The releases of h3, as package.json names them. */
const RELEASES = { 2: "h3", 1: "h3-v1" } as const;

let provider: TestProvider;
const folders: string[] = [];
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  provider = await startTestProvider();
  vi.stubEnv("SECRET_KEY", "a secret key of at least 32 bytes");
  vi.stubEnv("IDP_ISSUER", provider.issuer);
  vi.stubEnv("IDP_CLIENT_ID", provider.clientId);
  vi.stubEnv("IDP_CLIENT_SECRET", provider.clientSecret);
  vi.stubEnv("SCOPE", "openid email profile offline_access");
  vi.stubEnv("IDP_DEBUG", "true");
  // The test runner's own, which is no origin.
  vi.stubEnv("BASE_URL", "");
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(async () => {
  await provider.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An application's folder with these snippets in it, compiled, and `h3` in that release. */
function folderWith(release: keyof typeof RELEASES, files: readonly string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-snippets-"));
  folders.push(folder);
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/idpauth"));
  symlinkSync(path.join(ROOT, "node_modules", RELEASES[release]), path.join(folder, "node_modules/h3"));
  for (const file of files) {
    const text = SNIPPETS.get(file);
    if (text === undefined) throw new Error(`docs/fetch-frameworks.md has no block for ${file}`);
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const { outputText } = ts.transpileModule(text, { compilerOptions });
    writeFileSync(
      path.join(folder, compiled(file)),
      outputText.replace(/"(\.\/[\w-]+\.ts)"/g, (_, name: string) => `"${compiled(name)}"`),
    );
  }
  return folder;
}

const compiled = (file: string) => file.replace(/\.ts$/, ".mjs");

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what it exports is the snippet's business
const load = async (folder: string, file: string): Promise<any> => import(pathToFileURL(path.join(folder, file)).href);

async function serve(listener: RequestListener): Promise<CookieBrowser> {
  const server = await listen(listener);
  running.push(server);
  return new CookieBrowser({ origin: `http://127.0.0.1:${String(server.port)}` });
}

async function expectWholeTrip(browser: CookieBrowser): Promise<void> {
  const api = await browser.get("/reports");
  expect([api.status, api.json().error]).toEqual([401, "login_required"]);
  const page = await browser.follow("/reports?month=10");
  expect([page.status, page.url.search, page.json().user.name]).toEqual([200, "?month=10", "Ada Lovelace"]);
  expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
  expect((await browser.get("/idpauth/logout/?response=json")).json()).toEqual({ status: "logged_out" });
  expect((await browser.navigate("/reports")).status).toBe(302);
  expect((await browser.get("/elsewhere")).status).toBe(404);
}

describe("docs/fetch-frameworks.md", () => {
  it("h3 2: endpoints as middleware, the guard in a route", async () => {
    const folder = folderWith(2, ["auth.ts", "idpauth.ts", "reports.ts"]);
    const { H3, toNodeHandler } = await load(folder, "node_modules/h3/dist/_entries/node.mjs");
    const app = new H3();
    app.use((await load(folder, "idpauth.mjs")).default);
    app.get("/reports", (await load(folder, "reports.mjs")).default);
    await expectWholeTrip(await serve(toNodeHandler(app)));
  });

  it("h3 1: over a Request of the event's own, without the body", async () => {
    const folder = folderWith(1, ["auth.ts", "idp-request.ts", "idpauth-v1.ts"]);
    const { createApp, createRouter, defineEventHandler, readBody, toNodeListener } = await load(folder, "node_modules/h3/dist/index.mjs");
    const { auth } = await load(folder, "auth.mjs");
    const { idpRequest } = await load(folder, "idp-request.mjs");
    const router = createRouter();
    router.get(
      "/reports",
      defineEventHandler(async (event: object) => {
        const blocked = await auth.guard(idpRequest(event));
        if (blocked) return blocked;
        return { user: await auth.getUser(idpRequest(event)) };
      }),
    );
    router.post(
      "/echo",
      defineEventHandler((event: object) => readBody(event)),
    );
    const app = createApp();
    app.use((await load(folder, "idpauth-v1.mjs")).default);
    app.use(router);
    const browser = await serve(toNodeListener(app));
    await expectWholeTrip(browser);
    const echo = await browser.get("/echo", { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } });
    expect(echo.json()).toEqual({ a: 1 });
  });
});
