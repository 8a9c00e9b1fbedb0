import "../adapters/applications/next-installed.js";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { providersEnv, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { ExampleProcess, installExample, PackedPackage } from "../examples/example-process.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

const executablePath = await chromiumForTests();
const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/next-two-providers");
const ADA = { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" };
const MARY = { sub: "mary", name: "Mary Somerville", email: "mary@example.com" };

/**
 * A line that would vanish from the application if it had no sign-in, closing tags aside. `fetch`
 * would stand in place of `auth.fetchApi` and `client.fetch`, and a rewrite of `next.config` in place
 * of `auth.proxyApi`.
 */
const SIGN_IN =
  /\bidpAuth\(|auth\.(?:handlers|proxy;|start|requireSession)|matcher|pageClient\(\{|<SessionProvider|<ServerContent|<idpauth-warning|signOut|<SignedIn/;

it("has at most 12 lines that would vanish if it had no sign-in", () => {
  const lines = readdirSync(EXAMPLE, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/^(?:node_modules|\.next)/.test(file))
    .flatMap((file) => readFileSync(path.join(EXAMPLE, file), "utf8").split("\n"))
    .filter((line) => !/^\s*(?:\/\/|\/?\*|import |$)/.test(line) && SIGN_IN.test(line));
  expect(lines.length, lines.join("\n")).toBeLessThanOrEqual(12);
});

describe.skipIf(executablePath === undefined)("examples/next-two-providers", () => {
  let folder: string;
  let staff: TestProvider;
  let customers: TestProvider;
  const processes: ExampleProcess[] = [];
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  let tab: Page;

  beforeAll(async () => {
    const packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    packed.remove();
    [staff, customers] = await Promise.all([
      startTestProvider({ person: ADA }),
      startTestProvider({ person: MARY }),
    ]);
    const issuers = { ORDERS_ISSUERS: `${staff.issuer} ${customers.issuer}` };
    const api = new ExampleProcess(folder, issuers, "api");
    processes.push(api);
    const app = new ExampleProcess(folder, {
      ...providersEnv({ staff, customers }),
      ORDERS_URL: `${(await api.origin()).replace("localhost", "127.0.0.1")}/`,
    });
    processes.push(app);
    [browser, origin] = await Promise.all([launchChromium(executablePath!), app.origin()]);
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    for (const each of processes) await each.end();
    await Promise.all([staff.stop(), customers.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    context = await browser.newContext();
    tab = await context.newPage();
  });
  afterEach(() => context.close());

  const heading = (name: string) => tab.getByRole("heading", { name, exact: true }).waitFor();
  /** Each provider agrees by itself. */
  async function signIn(provider: "staff" | "customers", page = "/orders") {
    await tab.goto(`${origin}${page}`);
    await tab.getByRole("link", { name: provider }).click();
    await tab.waitForURL(`${origin}${page}`);
  }

  it("lets users of both providers order, and the API gets each one's own token", async () => {
    await signIn("customers");
    await heading("Orders");
    await tab.getByLabel("Article").fill("Punched cards");
    await tab.getByRole("button", { name: "Order" }).click();
    await tab.getByRole("listitem").getByText("Punched cards, by mary").waitFor();
    expect(await tab.getByLabel("Article").inputValue()).toBe("");
  });

  it("sends a customer from the payroll to the login of staff, and back", async () => {
    await signIn("customers");
    await heading("Orders");
    await tab.goto(`${origin}/payroll`);
    await heading("The payroll, for Ada Lovelace");
    expect(new URL(tab.url()).pathname).toBe("/payroll");
  });

  it("a sign-out shows in both tabs at once, and the form keeps its text and is sent after the next sign-in", async () => {
    await signIn("staff");
    await tab.getByLabel("Article").fill("Half an order");
    const other = await context.newPage();
    await other.goto(`${origin}/orders`);
    await other.getByRole("button", { name: "Sign out" }).click();
    await expect.poll(() => tab.getByLabel("Article").isVisible()).toBe(false);
    expect(await tab.getByRole("button", { name: "Sign out" }).count()).toBe(0);

    // The window goes to the provider of the session that ended, where the user is still signed in.
    await Promise.all([
      context.waitForEvent("page"),
      tab.getByRole("button", { name: "Sign in" }).click(),
    ]);
    await tab.getByLabel("Article").waitFor();
    expect(await tab.getByLabel("Article").inputValue()).toBe("Half an order");
    await tab.getByRole("button", { name: "Order" }).click();
    await tab.getByRole("listitem").getByText("Half an order, by ada").waitFor();
  });
});
