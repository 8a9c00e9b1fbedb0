import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/node/node.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { buildPackage } from "../support/build.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { status } from "./client-application.js";
import { watchedContext } from "./patient-context.js";

// A page without a bundler: it loads the file that the package has for that, and the sample of
// docs/how-to/step-up.md.

const executablePath = await chromiumForTests();
const ROOT = path.resolve(import.meta.dirname, "../..");
/** The policy that docs/reference/client.md gives to applications. */
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";
const PAGE = `<!doctype html><title>Transfer</title>
<form><label>Purpose <input name="purpose"></label><button>Send</button></form>
<button id="confirm">Confirm</button><output></output>
<script type="module" src="/page.js"></script>`;

interface Application {
  readonly origin: string;
  readonly provider: TestProvider;
  /** The bodies that the guarded route and the API have taken. */
  readonly taken: string[];
  stop(): Promise<void>;
}

/** @param route what the page posts to: a guarded route, or the proxy to an API */
async function startApplication(route: string): Promise<Application> {
  await buildPackage();
  const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
  const scripts = new Map([
    ["/idpauth-client.js", read("dist/client/browser.js")],
    [
      "/page.js",
      `${read("docs/snippets/step-up/browser.mjs")
        .replace("idpauth/client", "/idpauth-client.js")
        .replace("/api/transfer", route)}; self.auth = auth; self.isFirst = true;`,
    ],
  ]);
  const provider = await startTestProvider({ person: { sub: "ada", name: "Ada Lovelace" } });
  const taken: string[] = [];
  /** The API refuses the token of the first sign-in. */
  let refused: string | undefined;
  const api = await listen((request, response) => {
    const { authorization } = request.headers;
    refused ??= authorization;
    if (authorization === refused)
      response.writeHead(401, {
        "WWW-Authenticate": `Bearer error="insufficient_user_authentication", max_age="300"`,
      });
    else void text(request).then((body) => taken.push(body));
    response.end();
  });
  const auth = idpAuth({
    env: provider.env,
    clock: provider.clock,
    log: () => undefined,
    apis: { payments: { url: `http://127.0.0.1:${String(api.port)}/`, path: "/api/payments/" } },
  });
  const transfer = auth.idpRequiredWith({ maxAge: 300 })(async (
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    taken.push(await text(request));
    response.end();
  });
  const send = (response: ServerResponse, type: string, body: string) => {
    response.setHeader("Content-Type", `${type}; charset=utf-8`);
    response.setHeader("Content-Security-Policy", POLICY);
    response.end(body);
  };
  const page = (request: IncomingMessage, response: ServerResponse) => {
    const script = scripts.get(request.url ?? "");
    if (script !== undefined) send(response, "text/javascript", script);
    else send(response, "text/html", PAGE);
  };
  const proxied = auth.proxyApi("payments")(page);
  const server = await listen(
    auth.listener((request, response) =>
      request.url === "/api/transfer" ? transfer(request, response) : proxied(request, response),
    ),
  );
  return {
    origin: `http://127.0.0.1:${String(server.port)}`,
    provider,
    taken,
    async stop() {
      await server.stop();
      await api.stop();
      await provider.stop();
    },
  };
}

describe.skipIf(executablePath === undefined).each([
  ["a guard's maxAge", "/api/transfer"],
  ["an API behind the proxy", "/api/payments/transfer"],
])("a step-up that %s requires, without a bundler", (_name, route) => {
  let browser: Browser;
  let application: Application;
  let context: BrowserContext;
  let complaints: string[];

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    application = await startApplication(route);
    ({ context, complaints } = await watchedContext(browser));
  });
  afterEach(async () => {
    await context.close();
    await application.stop();
    // The 401, and the icon that the provider doesn't have.
    expect(complaints.filter((one) => !/status of 40[14]/.test(one))).toEqual([]);
  });

  /** A page with a filled form, of a user who signed in ten minutes ago. */
  async function open(): Promise<Page> {
    const tab = await context.newPage();
    await tab.goto(`${application.origin}/idpauth/login/`);
    application.provider.clock.advance(600_000);
    await tab.goto(`${application.origin}/transfers`);
    await status(tab, "signed-in");
    await tab.getByLabel("Purpose").fill("Rent");
    return tab;
  }

  /** The page is as the user left it. */
  async function expectUnchanged(tab: Page, note: string): Promise<void> {
    await expect.poll(() => tab.locator("output").textContent()).toBe(note);
    expect(await tab.getByLabel("Purpose").inputValue()).toBe("Rent");
    expect(await tab.evaluate("[isFirst, location.pathname]")).toEqual([true, "/transfers"]);
  }

  const send = (tab: Page) => tab.getByRole("button", { name: "Send" }).click();

  it("happens in a window that closes, and the request is repeated with its body", async () => {
    const tab = await open();
    const popup = context.waitForEvent("page");
    await send(tab);
    await expectUnchanged(tab, "Sent.");
    await expect.poll(async () => (await popup).isClosed()).toBe(true);
    expect(application.taken).toEqual([expect.stringContaining("Rent")]);
    expect(await tab.evaluate("auth.getState().user.name")).toBe("Ada Lovelace");
  });

  it("that the user closes sends nothing", async () => {
    const tab = await open();
    application.provider.fault("authorize", {
      kind: "status",
      status: 200,
      times: 1,
      headers: { "Content-Type": "text/html" },
      body: "<!doctype html><title>Provider</title><h1>Who are you?</h1>",
    });
    const opened = context.waitForEvent("page");
    await send(tab);
    const popup = await opened;
    await popup.getByRole("heading", { name: "Who are you?" }).waitFor();
    await popup.close();
    // The browser's process for the page hears of it a little later.
    await expect
      .poll(() =>
        tab.evaluate(
          `dispatchEvent(new Event("focus")); document.querySelector("output").textContent`,
        ),
      )
      .not.toBe("");
    await expectUnchanged(tab, "Not sent. Confirm that it's you, and try again.");
    expect(application.taken).toEqual([]);
  });

  it("that the browser blocks navigates nowhere; a button that confirms helps", async () => {
    const tab = await open();
    await tab.evaluate("self.opens = self.open; self.open = () => null");
    await send(tab);
    await expectUnchanged(tab, "Not sent. Confirm that it's you, and try again.");
    await tab.evaluate("self.open = self.opens");
    await tab.getByRole("button", { name: "Confirm" }).click();
    await expectUnchanged(tab, "Confirmed. Send the form.");
    await send(tab);
    await expectUnchanged(tab, "Sent.");
    expect(application.taken).toEqual([expect.stringContaining("Rent")]);
  });
});
