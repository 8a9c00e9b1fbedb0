import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import path from "node:path";
import { parseEnv, promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectUsable, heading, TestUser } from "../browser/test-user.js";
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

  /** The origin of a customer. */
  function originOf(key: string): string {
    return origin.replace("://", `://${key}.`);
  }

  /**
   * What a script gets from a customer's origin. Node.js doesn't find names below `localhost` on
   * every system.
   */
  async function statusFor(key: string, cookie: string): Promise<[number | undefined, unknown]> {
    const request = get(origin, {
      headers: { host: new URL(originOf(key)).host, cookie, accept: "application/json" },
    });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const parts = await response.toArray();
    return [response.statusCode, JSON.parse(Buffer.concat(parts).toString())];
  }

  async function arrive(): Promise<TestUser> {
    const user = await TestUser.arrive(browser, origin);
    users.push(user);
    return user;
  }

  /** Enters an address on the page that asks for it. */
  async function enterEmail(tab: Page, email: string, at = origin): Promise<void> {
    await tab.goto(at === origin ? at : `${at}/idpauth/`);
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
      env: { APP_ORIGIN: origin },
    });
    return stdout;
  }

  function notices(tab: Page): Promise<string> {
    return tab
      .getByRole("status")
      .allInnerTexts()
      .then((texts) => texts.join("\n"));
  }

  it("an email address leads to the login of its own company, and then to the company's subdomain", async () => {
    const tab = await (await arrive()).tab();
    await enterEmail(tab, "Ada@ACME.example");
    expect(tab.url()).toMatch(`${issuers}/acme/authorize`);
    expect(new URL(tab.url()).searchParams.get("login_hint")).toBe("Ada@ACME.example");
    await choosePerson(tab, "Ada Lovelace");
    expect([tab.url(), await heading(tab)]).toEqual([`${originOf("acme")}/`, "Acme"]);
    expect(await tab.locator("li").allInnerTexts()).toContain("Ada Lovelace");
    // The session is acme's, and the application's own origin has none.
    expect(await tab.context().cookies(origin)).toEqual([]);
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
    await tab.goto(originOf("acme"));
    expect(tab.url()).toMatch(`${issuers}/acme/authorize`);
    const [session] = await tab.context().cookies(originOf("globex"));
    const cookie = `${session?.name ?? ""}=${session?.value ?? ""}`;
    expect(await statusFor("acme", cookie)).toEqual([
      401,
      expect.objectContaining({ login_url: expect.stringMatching(/provider=acme/) }),
    ]);
    // The session at globex is still there.
    await tab.goto(originOf("globex"));
    expect(await heading(tab)).toBe("Globex");
  });

  it("a user in two tenants has an account and a session in each", async () => {
    const tab = await signIn("ada@globex.example", "Ada Lovelace");
    await tab.goto(originOf("acme"));
    await choosePerson(tab, "Ada Lovelace");
    expect(await heading(tab)).toBe("Acme");
    expect(await tab.locator("li").allInnerTexts()).toContain("Ada Lovelace");
    await tab.goto(originOf("globex"));
    expect(await heading(tab)).toBe("Globex");
    await tab.getByRole("link", { name: "Sign out" }).click();
    await tab.goto(originOf("globex"));
    expect(tab.url()).toMatch(`${issuers}/globex/authorize`);
    await tab.goto(originOf("acme"));
    expect(await heading(tab)).toBe("Acme");
  });

  it("an address of globex that is entered at acme leads to globex's subdomain", async () => {
    const tab = await (await arrive()).tab();
    await enterEmail(tab, "grace@globex.example", originOf("acme"));
    await choosePerson(tab, "Grace Hopper");
    expect([tab.url(), await heading(tab)]).toEqual([`${originOf("globex")}/`, "Globex"]);
    await tab.goto(originOf("acme"));
    expect(tab.url()).toMatch(`${issuers}/acme/authorize`);
  });

  it("only an administrator of a tenant may open its settings, and another tenant's administrator gets its login", async () => {
    const grace = await signIn("grace@acme.example", "Grace Hopper");
    expect((await grace.goto(`${originOf("acme")}/sso/`))?.status()).toBe(403);
    const ada = await signIn("ada@acme.example", "Ada Lovelace");
    await ada.getByRole("link", { name: "Single sign-on" }).click();
    expect(await heading(ada)).toBe("Single sign-on of Acme");
    expect(await ada.content()).toContain(`${originOf("acme")}/idpauth/login-callback/acme`);
    await expectUsable(ada);
    await ada.goto(`${originOf("globex")}/sso/`);
    expect(ada.url()).toMatch(`${issuers}/globex/authorize`);
  });

  it("a logout token of acme's provider ends the session at acme's subdomain alone", async () => {
    const tab = await signIn("alan@acme.example", "Alan Turing");
    await tab.goto(originOf("globex"));
    await choosePerson(tab, "Alan Turing");
    await tab.goto(issuers);
    await tab
      .locator("form[action='/acme/end']")
      .getByLabel(/Alan Turing/)
      .click();
    await tab.waitForLoadState();
    await tab.goto(originOf("globex"));
    expect(await heading(tab)).toBe("Globex");
    await tab.goto(originOf("acme"));
    expect(tab.url()).toMatch(`${issuers}/acme/authorize`);
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
  const withoutRetry = { retry: 0 };
  it(
    "a new customer enters a provider by the link that was sent to it, and its users sign in",
    withoutRetry,
    async () => {
      const link = /http\S+/.exec(await manage("add", "initech", "Initech"))![0];
      const tab = await (await arrive()).tab();
      expect((await tab.goto(link.replace("initech.", "acme.")))?.status()).toBe(404);
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
      expect([grace.url(), await heading(grace)]).toEqual([`${originOf("initech")}/`, "Initech"]);
      expect((await tab.goto(link))?.status()).toBe(404);
    },
  );

  it(
    "a customer can't verify a domain that is another one's, even with the record",
    withoutRetry,
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
      expect((await tab.goto(originOf("acme")))?.status()).toBe(404);
    }, FOLLOWS);
    await other.goto(originOf("globex"));
    expect(await heading(other)).toBe("Globex");
    await manage("restore", "acme");
    await eventually(async () => {
      expect((await tab.goto(originOf("acme")))?.status()).toBe(200);
    }, FOLLOWS);
    expect([tab.url(), await heading(tab)]).toEqual([`${originOf("acme")}/`, "Acme"]);
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
