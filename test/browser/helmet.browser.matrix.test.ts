import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import express, { type Express } from "express";
import helmet from "helmet";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

// What docs/how-to/csrf.md says about helmet, whose defaults its two snippets change.

const executable = await chromiumForTests();

/** An application with helmet's own defaults, but for these options. */
function withHelmet(options?: Parameters<typeof helmet>[0]): Express {
  const app = express();
  app.use(helmet(options));
  const auth = idpAuth();
  auth.mount(app);
  app.use(auth.csrf);
  return app;
}

/** The application of a file in docs/snippets/csrf. */
const snippet = async (file: string) =>
  ((await import(path.join(SNIPPETS, file))) as { app: Express }).app;

const SNIPPETS = path.resolve(import.meta.dirname, "../../docs/snippets/csrf");
/** The first byte of a TLS connection (RFC 8446 section 5.1). */
const TLS_HANDSHAKE = 0x16;
const PAGE = `<!doctype html><meta charset="utf-8"><title>Page</title><link rel="icon" href="data:,">
<form action="/idpauth/logout/"><button>Sign out</button></form>
<form action="/save" method="post"><button>Save</button></form>
<img src="https://pictures.example/ada.png" alt="">`;

describe.skipIf(executable === undefined)("helmet", () => {
  let browser: Browser;
  let page: Page;
  let provider: TestProvider;
  let server: Server | undefined;

  beforeAll(async () => {
    // A plain http address for which Chromium sends no Sec-Fetch-Site.
    const args = ["--host-resolver-rules=MAP app.test 127.0.0.1"];
    browser = await launchChromium(executable!, { args });
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    provider = await startTestProvider();
    for (const [name, value] of Object.entries(provider.env)) vi.stubEnv(name, value);
    vi.stubEnv("IDP_LOGOUT_AT_PROVIDER", "on");
  });
  afterEach(async () => {
    await close();
    await provider.stop();
    vi.unstubAllEnvs();
  });

  async function close(): Promise<void> {
    await page.close();
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  }

  /** Opens a page with two forms and the user's picture. Returns what the browser's console says. */
  async function open(app: Express, hostname: string): Promise<string[]> {
    page = await browser.newPage();
    const violations: string[] = [];
    page.on("console", (message) => violations.push(message.text()));
    app.get("/", (_request, response) => void response.send(PAGE));
    app.post("/save", (_request, response) => void response.send("saved"));
    server = createServer(app);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const origin = `http://${hostname}:${String(port)}`;
    if (hostname === "localhost") await page.goto(`${origin}/idpauth/login/?origin_url=/`);
    await page.goto(`${origin}/`);
    return violations;
  }

  it("stops a form that signs out at the provider, and the user's picture, and not with the snippet's options", async () => {
    const stopped = await open(withHelmet(), "localhost");
    await page.click("text=Sign out");
    await expect.poll(() => stopped.join()).toContain("form-action");
    expect(stopped.join()).toContain("img-src");
    expect(provider.requestsTo("endSession")).toHaveLength(0);
    await close();

    const allowed = await open(await snippet("helmet.mjs"), "localhost");
    await page.click("text=Sign out");
    await expect.poll(() => provider.requestsTo("endSession")).toHaveLength(1);
    expect(allowed.join()).not.toContain("Content Security Policy");
  });

  it("lets the application's own forms pass auth.csrf on localhost", async () => {
    await open(withHelmet(), "localhost");
    await page.click("text=Save");
    await page.getByText("saved").waitFor();
  });

  it("over plain http elsewhere sends forms to https, or with `Origin: null`, and not with the snippet's options", async () => {
    /** Returns the status of the form's response, or "https" where the browser sends it. */
    const outcome = async (app: Express) => {
      let found: number | "https" | undefined;
      await open(app, "app.test");
      server?.prependListener("request", ({ method }, response) => {
        if (method === "POST") response.on("finish", () => (found = response.statusCode));
      });
      server?.on("clientError", ({ rawPacket }: Error & { rawPacket?: Buffer }, socket) => {
        if (rawPacket?.[0] === TLS_HANDSHAKE) found = "https";
        socket.destroy();
      });
      await page.click("text=Save", { noWaitAfter: true });
      await expect.poll(() => found, { timeout: 5_000 }).toBeDefined();
      await close();
      return found;
    };
    const directives = { "upgrade-insecure-requests": null };
    expect([
      await outcome(withHelmet()),
      await outcome(withHelmet({ contentSecurityPolicy: { directives } })),
      await outcome(await snippet("helmet-http.mjs")),
    ]).toEqual(["https", 403, 200]);
  });
});
