import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { parseEnv, promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { heading, TestUser } from "../browser/test-user.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { startTxtServer, type TxtServer } from "../support/txt-server.js";
import { ExampleProcess, installExample, manifestOf, PackedPackage } from "./example-process.js";

// examples/tenants outside the project, over the packed package, as its README starts it.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = path.join(ROOT, "examples/tenants");
/** Milliseconds, for a build on a busy machine. */
const BUILD = 240_000;
/** Milliseconds, for what another process notices after `maxAge`. */
const FOLLOWS = 60_000;

const executablePath = await chromiumForTests();

it("the example is private, and depends on the versions that the project is tested with", () => {
  const { version, dependencies, devDependencies } = manifestOf(ROOT);
  const example = manifestOf(EXAMPLE);
  expect(example.private).toBe(true);
  expect({ ...devDependencies, ...dependencies, idpauth: `^${version ?? ""}` }).toMatchObject({
    ...example.dependencies,
    ...example.devDependencies,
  });
});

it("the page with a customer's settings is short", () => {
  const lines = readFileSync(path.join(EXAMPLE, "sso-page.mjs"), "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line));
  expect(lines.length).toBeLessThanOrEqual(80);
});

describe.skipIf(executablePath === undefined)("examples/tenants", () => {
  let packed: PackedPackage;
  let folder: string;
  let example: ExampleProcess;
  let browser: Browser;
  let dns: TxtServer;
  let origin: string;
  let issuers: string;
  /** What the provider for development has written about its clients. */
  let settings: NodeJS.Dict<string>;
  const users: TestUser[] = [];

  beforeAll(async () => {
    packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    dns = await startTxtServer();
    const [port, providerPort] = [await freePort(), await freePort()];
    issuers = `http://127.0.0.1:${String(providerPort)}`;
    example = new ExampleProcess(folder, {
      PORT: String(port),
      PROVIDER_PORT: String(providerPort),
      DNS_SERVERS: dns.address,
    });
    origin = await example.origin();
    settings = parseEnv(readFileSync(path.join(folder, "provider.env"), "utf8"));
    browser = await launchChromium(executablePath!);
  }, BUILD);
  afterEach(async () => {
    for (const user of users.splice(0)) {
      expect(user.complaints).toEqual([]);
      await user.leave();
    }
  });
  afterAll(async () => {
    await browser.close();
    const { code, stderr } = await example.terminate();
    await example.end();
    await dns.stop();
    rmSync(folder, { recursive: true, force: true });
    packed.remove();
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/ {4}at /) });
  });

  async function arrive(): Promise<TestUser> {
    const user = await TestUser.arrive(browser, origin);
    users.push(user);
    return user;
  }

  /** Enters an address on the page that asks for it. */
  async function enterEmail(tab: Page, email: string): Promise<void> {
    await tab.goto(origin);
    await tab.getByRole("link", { name: "Sign in" }).click();
    await tab.locator("input[name=email]").fill(email);
    await tab.locator("input[name=email]").press("Enter");
  }

  /** Chooses a person at the provider. */
  async function choosePerson(tab: Page, name: string): Promise<void> {
    await tab.getByRole("button", { name }).click();
    await tab.waitForURL((url) => url.origin !== issuers);
  }

  async function signIn(email: string, name: string): Promise<Page> {
    const tab = await (await arrive()).tab();
    await enterEmail(tab, email);
    await choosePerson(tab, name);
    return tab;
  }

  /** What an operator runs. Returns what it printed. */
  async function manage(...words: readonly string[]): Promise<string> {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["manage-customers.mjs", ...words], {
      cwd: folder,
      env: { BASE_URL: origin },
    });
    return stdout;
  }

  function notices(tab: Page): Promise<string> {
    return tab
      .getByRole("status")
      .allInnerTexts()
      .then((texts) => texts.join("\n"));
  }

  it("an email address leads to the login of its own company, and then to the company's page", async () => {
    const tab = await (await arrive()).tab();
    await enterEmail(tab, "Ada@ACME.example");
    expect(tab.url()).toMatch(`${issuers}/acme/authorize`);
    await choosePerson(tab, "Ada Lovelace");
    expect([tab.url(), await heading(tab)]).toEqual([`${origin}/t/acme/`, "Acme"]);
    expect(await tab.locator("li").allInnerTexts()).toContain("Ada Lovelace");
  });

  it("an address of a company that is no customer stays on the page that asks", async () => {
    const tab = await (await arrive()).tab();
    await enterEmail(tab, "ada@hooli.example");
    expect(tab.url()).toMatch(`${origin}/idpauth/login/`);
    await tab.getByRole("alert").waitFor();
  });

  it("a user of globex who opens acme's page gets acme's login, and a script gets 401", async () => {
    const tab = await signIn("grace@globex.example", "Grace Hopper");
    expect(await heading(tab)).toBe("Globex");
    const said = await tab.context().request.get(`${origin}/t/acme/`, {
      headers: { accept: "application/json", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
      maxRedirects: 0,
    });
    expect(said.status()).toBe(401);
    expect(await said.json()).toMatchObject({
      login_url: expect.stringMatching(/provider=acme/),
    });
    await tab.goto(`${origin}/t/acme/`);
    expect(tab.url()).toMatch(`${issuers}/acme/authorize`);
    // The session at globex is still there.
    await tab.goto(`${origin}/t/globex/`);
    expect(await heading(tab)).toBe("Globex");
  });

  it("a user in two tenants has an account in each, and one session, at one of them", async () => {
    const tab = await signIn("ada@globex.example", "Ada Lovelace");
    await tab.goto(`${origin}/t/acme/`);
    await choosePerson(tab, "Ada Lovelace");
    expect(await heading(tab)).toBe("Acme");
    expect(await tab.locator("li").allInnerTexts()).toContain("Ada Lovelace");
    await tab.goto(`${origin}/t/globex/`);
    expect(tab.url()).toMatch(`${issuers}/globex/authorize`);
  });

  it("only an administrator of a tenant may open its settings, and another tenant's administrator gets its login", async () => {
    const grace = await signIn("grace@acme.example", "Grace Hopper");
    expect((await grace.goto(`${origin}/t/acme/sso/`))?.status()).toBe(403);
    const ada = await signIn("ada@acme.example", "Ada Lovelace");
    await ada.getByRole("link", { name: "Single sign-on" }).click();
    expect(await heading(ada)).toBe("Single sign-on of Acme");
    expect(await ada.content()).toContain(`${origin}/idpauth/login-callback/acme`);
    await ada.goto(`${origin}/t/globex/sso/`);
    expect(ada.url()).toMatch(`${issuers}/globex/authorize`);
  });

  it("client secrets aren't in the database in plain text", () => {
    const files = readdirSync(folder).filter((name) => name.startsWith("customers.db"));
    expect(files).not.toEqual([]);
    for (const key of ["ACME", "GLOBEX"]) {
      const secret = settings[`IDP_PROVIDER_${key}_CLIENT_SECRET`]!;
      for (const file of files)
        expect(readFileSync(path.join(folder, file)).includes(secret)).toBe(false);
    }
  });

  // Not again, because its customer is there then.
  const once = { retry: 0 };
  it(
    "a new customer enters a provider by the link that was sent to it, and its users sign in",
    once,
    async () => {
      const link = /http\S+/.exec(await manage("add", "initech", "Initech"))![0];
      const tab = await (await arrive()).tab();
      await tab.goto(link);
      expect(await heading(tab)).toBe("Single sign-on of Initech");
      await tab.getByRole("button", { name: "Switch on" }).click();
      expect(await notices(tab)).toBe("Enter the provider first.");

      // What can't work, and what may not be called, isn't saved.
      const secret = settings["IDP_PROVIDER_INITECH_CLIENT_SECRET"]!;
      for (const [issuer, clientSecret, why] of [
        [`${issuers}/initech`, "not the secret", "invalid_client"],
        [`${issuers}/nowhere`, secret, "404"],
        ["http://169.254.169.254", secret, "http address"],
        ["https://169.254.169.254", secret, "an address that idpauth doesn't connect to"],
      ] as const) {
        await enterProvider(tab, issuer, clientSecret);
        expect(await notices(tab)).toContain(why);
        expect(await notices(tab)).not.toContain("The provider works.");
        expect(await tab.getByLabel("Issuer").inputValue()).toBe("");
      }
      await enterProvider(tab, `${issuers}/initech`, secret);
      expect(await notices(tab)).toBe("The provider works. Its settings are saved.");
      expect(await tab.getByLabel("Client secret").inputValue()).toBe("");

      await enterDomain(tab, "Initech.Example");
      await tab.getByRole("button", { name: "Check the record" }).click();
      expect(await notices(tab)).toContain("The record isn't there yet.");
      await addRecord(tab);
      await tab.getByRole("button", { name: "Check the record" }).click();
      expect(await notices(tab)).toBe("The domain is verified.");
      await tab.getByRole("button", { name: "Switch on" }).click();
      expect(await notices(tab)).toBe("Single sign-on is on.");

      const grace = await signIn("grace@initech.example", "Grace Hopper");
      expect([grace.url(), await heading(grace)]).toEqual([`${origin}/t/initech/`, "Initech"]);
      expect((await tab.goto(link))?.status()).toBe(404);
    },
  );

  it(
    "a customer can't verify a domain that is another one's, even with the record",
    once,
    async () => {
      const link = /http\S+/.exec(await manage("add", "hooli", "Hooli"))![0];
      const tab = await (await arrive()).tab();
      await tab.goto(link);
      await enterDomain(tab, "acme.example");
      await addRecord(tab);
      await tab.getByRole("button", { name: "Check the record" }).click();
      expect(await notices(tab)).toBe("Another customer has verified this domain.");
    },
  );

  it("a removed customer's users are signed out of its pages, and signed in again when it is restored", async () => {
    const tab = await signIn("ada@acme.example", "Ada Lovelace");
    const other = await signIn("ada@globex.example", "Ada Lovelace");
    await manage("remove", "acme");
    await eventually(async () => {
      expect((await tab.goto(`${origin}/t/acme/`))?.status()).toBe(404);
    }, FOLLOWS);
    await tab.goto(origin);
    await tab.getByRole("link", { name: "Sign in" }).waitFor();
    await other.goto(`${origin}/t/globex/`);
    expect(await heading(other)).toBe("Globex");
    await manage("restore", "acme");
    await eventually(async () => {
      expect((await tab.goto(`${origin}/t/acme/`))?.status()).toBe(200);
    }, FOLLOWS);
    expect([tab.url(), await heading(tab)]).toEqual([`${origin}/t/acme/`, "Acme"]);
  });

  async function enterProvider(tab: Page, issuer: string, secret: string): Promise<void> {
    await tab.getByLabel("Issuer").fill(issuer);
    await tab.getByLabel("Client ID").fill("idpauth-dev-initech");
    await tab.getByLabel("Client secret").fill(secret);
    await tab.getByRole("button", { name: "Test and save" }).click();
    await tab.waitForLoadState();
  }

  async function enterDomain(tab: Page, domain: string): Promise<void> {
    await tab.getByLabel("Domain").fill(domain);
    await tab.getByRole("button", { name: "Save domain" }).click();
    expect(await notices(tab)).toBe("Now add the DNS record.");
  }

  /** Adds the record that the page asks for to the domain. */
  async function addRecord(tab: Page): Promise<void> {
    const [name = "", text = ""] = await tab
      .locator("p", { hasText: "Add a TXT record" })
      .locator("code")
      .allInnerTexts();
    dns.records.set(name, text);
  }
});
