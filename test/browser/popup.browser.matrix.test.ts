import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listen } from "../adapters/applications/listen.js";
import { startClientApplication, status, type ClientApplication } from "./client-application.js";
import { OWN_ORIGIN, startApplication } from "../support/application.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();

const ATTEMPT = "attempt-of-the-attacker-0123";
/** A login that ends on the popup's page. */
const signedInAt = (origin: string) =>
  `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: `${origin}/idpauth/popup?attempt=${ATTEMPT}` }).toString()}`;
const PATIENCE = { timeout: 30_000 };

describe.skipIf(executablePath === undefined)("[ATT-2] a sign-in in a popup window", () => {
  let browser: Browser;
  let application: ClientApplication;
  let context: BrowserContext;
  let foreign: { readonly port: number; stop(): Promise<void> };

  beforeAll(async () => {
    browser = await launchChromium(executablePath!);
    application = await startClientApplication();
    foreign = await listen((_request, response) =>
      response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Evil</title>"),
    );
  });
  afterAll(async () => {
    await browser.close();
    await application.stop();
    await foreign.stop();
  });
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(() => context.close());

  it("that a page of another site opened gives that page neither its address, nor its content, nor that it has ended", async () => {
    const evil = await context.newPage();
    // For a browser, `localhost` and `127.0.0.1` are two sites.
    await evil.goto(`http://localhost:${String(foreign.port)}/`);
    const opened = context.waitForEvent("page");
    await evil.evaluate(`
      self.heard = [];
      addEventListener("message", ({ data }) => heard.push(data));
      self.channel = new BroadcastChannel("idpauth:/idpauth/");
      channel.onmessage = ({ data }) => heard.push(data);
      self.popup = open("${application.origin}${signedInAt(application.origin)}");`);
    const popup = await opened;
    await popup.waitForURL(`${application.origin}/idpauth/popup?attempt=${ATTEMPT}`);
    await popup.getByRole("heading", { name: "You are signed in" }).waitFor();

    expect(
      await outcomes(evil, [
        "popup.location.href",
        "popup.document.title",
        "popup.localStorage",
        "popup.self.self.origin",
      ]),
    ).toEqual(Array(4).fill("SecurityError"));
    expect(await evil.evaluate("popup.length")).toBe(0);
    // The script of the page hears only pages of its own origin.
    await evil.evaluate(`
      popup.postMessage({ type: "received", attempt: "${ATTEMPT}" }, "*");
      channel.postMessage({ type: "received", attempt: "${ATTEMPT}" });`);
    // The browser delivers messages in their order, and this one comes back.
    await popup.evaluate(
      `addEventListener("message", ({ source, data }) => data === "ping" && source.postMessage("pong", "*"))`,
    );
    await evil.evaluate(`popup.postMessage("ping", "*")`);
    await expect.poll(() => evil.evaluate("heard"), PATIENCE).toContain("pong");
    expect(await evil.evaluate("[heard, popup.closed]")).toEqual([["pong"], false]);
  });

  it("that a forged message of a page of the same origin reports, although it knows the attempt, signs nobody in and settles nothing", async () => {
    const hold = application.provider.hold("authorize");
    try {
      const tab = await context.newPage();
      await tab.goto(`${application.origin}/app?options=%7B%7D`);
      await status(tab, "signed-out");
      const login = context.waitForEvent("request", (request) => request.url().includes("attempt"));
      await tab.evaluate(
        "self.settled = []; void auth.signIn({ popup: true }).then((state) => settled.push(state))",
      );
      const destination = new URL((await login).url()).searchParams.get("origin_url") ?? "";
      const { searchParams } = new URL(destination);
      await hold.arrived;
      const other = await context.newPage();
      await other.goto(`${application.origin}/without-client`);
      const attempts = [searchParams.get("attempt"), "", null, "__proto__"];
      for (const attempt of attempts) {
        const probed = tab.waitForResponse((response) =>
          response.url().includes("/idpauth/session"),
        );
        const message = JSON.stringify({
          type: "signed-in",
          attempt,
          account: "ada",
          changed: true,
        });
        await other.evaluate(`new BroadcastChannel("idpauth:/idpauth/").postMessage(${message})`);
        await probed;
        await status(tab, "signed-out");
      }
      expect(await tab.evaluate("[settled, auth.getState().user]")).toEqual([[], null]);
    } finally {
      hold.release();
    }
  });

  it("that an attacker finished half-way, and whose callback a victim opens, signs no victim in and ends no session of one", async () => {
    const app = await startApplication();
    try {
      const [mallory, ada] = [app.user(), app.user()];
      const callback = () =>
        mallory.approve(signedInAt(OWN_ORIGIN), { sub: "mallory", email: "mallory@example.com" });
      const requests = () => app.provider.requestsTo("token").length;
      const stranger = await ada.get(await callback(), { headers: { accept: "text/html" } });
      expect([stranger.status, stranger.setCookies ?? [], requests()]).toEqual([400, [], 0]);
      expect(
        (await ada.get("/idpauth/popup", { headers: { accept: "text/html" } })).body,
      ).not.toContain("<script");
      await ada.signIn(signedInAt(OWN_ORIGIN));
      const before = requests();
      const signedIn = await ada.get(await callback(), { headers: { accept: "text/html" } });
      expect([signedIn.status, signedIn.setCookies ?? [], requests()]).toEqual([400, [], before]);
      expect((await app.auth.getSession(ada.request("/")))?.user.email).toBe("ada@example.com");
    } finally {
      await app.stop();
    }
  });
});

/** The name of the error with which each expression fails in the page, or what it gives. */
function outcomes(page: Page, expressions: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    expressions.map((expression) =>
      page.evaluate<string>(
        `(() => { try { return String(${expression}); } catch (error) { return error.name; } })()`,
      ),
    ),
  );
}
