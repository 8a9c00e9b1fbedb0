import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { freePort } from "../support/free-port.js";
import { ExampleProcess, installExampleOf, PackedPackage } from "./example-process.js";

// docs/migrate/auth-js.md shows files of this application, and says what users notice.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = path.join(ROOT, "examples/migrate-from-auth-js");
/** Each version of Auth.js: the folder with its packages, and with the files that differ. */
const VERSIONS = [
  { version: 5, packages: "auth-js", setUp: "auth.ts", oldCookie: "authjs.session-token" },
  {
    version: 4,
    packages: "next-auth-4",
    setUp: "lib/auth-options.ts",
    oldCookie: "next-auth.session-token",
  },
].map((each) => ({ ...each, packages: path.join(import.meta.dirname, each.packages) }));
const NEW_SIGN_INS = { SIGN_IN_WITH: "idpauth" };
const ADA = { sub: "ada", email: "ada@example.com", name: "Ada Lovelace" };

const installed: typeof VERSIONS = [];
for (const each of VERSIONS) if (await installFramework(each.packages)) installed.push(each);

describe.each(installed)("examples/migrate-from-auth-js, next-auth $version", (old) => {
  let folder: string;
  let packed: PackedPackage;
  let provider: TestProvider;
  let orders: Server;
  let settings: Record<string, string>;
  let running: ExampleProcess | undefined;

  beforeAll(async () => {
    packed = await PackedPackage.pack();
    folder = installExampleOf(old.packages, EXAMPLE, packed);
    const differing = path.join(old.packages, "application");
    if (existsSync(differing)) {
      rmSync(path.join(folder, "auth.ts"));
      cpSync(differing, folder, { recursive: true });
    }
    // The tests count how often the callback runs.
    const setUp = readFileSync(path.join(folder, old.setUp), "utf8");
    expect(setUp).toMatch(/\bjwt: /);
    writeFileSync(
      path.join(folder, old.setUp),
      setUp.replace(/\bjwt: \((.*?)\) => \(/, 'jwt: ($1) => (console.log("jwt callback"), '),
    );
    provider = await startTestProvider({ person: ADA });
    orders = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(request.headers.authorization ?? null));
    });
    await once(orders.listen(0, "127.0.0.1"), "listening");
    const port = await freePort();
    const key = () => randomBytes(32).toString("base64url");
    settings = {
      ...provider.env,
      AUTH_SECRET: key(),
      NEXTAUTH_SECRET: key(),
      NEXTAUTH_URL: `http://localhost:${String(port)}`,
      ORDERS_URL: `http://127.0.0.1:${String((orders.address() as AddressInfo).port)}/`,
      BASE_URL: `http://localhost:${String(port)}`,
      PORT: String(port),
      SECRET_KEY: key(),
    };
    await build();
  }, 900_000);
  afterEach(async () => {
    await running?.end();
  });
  afterAll(async () => {
    await provider.stop();
    orders.close();
    packed.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function build(): Promise<void> {
    const building = new ExampleProcess(folder, {}, "build");
    expect(await building.ended).toMatchObject({ code: 0 });
  }

  /** Ends the running process, and starts another one with the same settings and these. */
  async function deploy(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await running?.end();
    running = new ExampleProcess(folder, { ...settings, ...env });
    expect(await running.origin()).toBe(settings["BASE_URL"]);
  }

  const arrive = () => new CookieBrowser({ origin: settings["BASE_URL"]! });

  const cookiesOf = (browser: CookieBrowser) =>
    (browser.cookies.header(new URL(settings["BASE_URL"]!)) ?? "")
      .split("; ")
      .map((pair) => pair.slice(0, pair.indexOf("=")));

  /** Signs in on Auth.js's own page. */
  async function signInWithAuthJs(browser: CookieBrowser): Promise<void> {
    const { csrfToken } = (await browser.get("/api/auth/csrf")).json() as { csrfToken: string };
    const form = new URLSearchParams({ csrfToken, callbackUrl: "/reports" });
    const toProvider = await browser.follow("/api/auth/signin/company", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: form.toString(),
      from: new URL(settings["BASE_URL"]!),
    });
    expect([toProvider.url.pathname, toProvider.status]).toEqual(["/reports", 200]);
  }

  /** Where a signed-out user's navigation to the reports ends up first. */
  const sentTo = async () => {
    const { trail } = await arrive().follow("/reports?month=10");
    return trail[1]!.url;
  };

  it("first, signed-out users still go to Auth.js, and nobody notices idpauth", async () => {
    await deploy();
    const signInPage = await sentTo();
    expect(signInPage.pathname).toBe("/api/auth/signin");
    const callback = new URL(signInPage.searchParams.get("callbackUrl")!, settings["BASE_URL"]);
    expect(callback.pathname + callback.search).toBe("/reports?month=10");
    const ada = arrive();
    await signInWithAuthJs(ada);
    expect((await ada.navigate("/reports")).text).toContain("You are <!-- -->Ada Lovelace");
    expect(cookiesOf(ada)).toContain(old.oldCookie);
    expect(cookiesOf(ada)).not.toContain("idpauth");
  });

  it("with SIGN_IN_WITH, old sessions continue and are renewed, new users get a session of idpauth, and pages and useSession() find both", async () => {
    await deploy();
    const early = arrive();
    await signInWithAuthJs(early);

    await deploy(NEW_SIGN_INS);
    const page = await early.navigate("/reports");
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("Ada Lovelace")]);
    // withAuth of version 4 renews none.
    if (old.version === 5) expect(page.setCookies.join()).toContain(old.oldCookie);
    expect((await sentTo()).pathname).toBe("/idpauth/login/");

    const ada = arrive();
    const back = await ada.follow("/reports?month=10");
    expect([back.status, back.url.search]).toEqual([200, "?month=10"]);
    expect(back.text).toContain("Ada Lovelace");
    expect(cookiesOf(ada)).not.toContain(old.oldCookie);
    for (const browser of [early, ada]) {
      expect((await browser.get("/api/auth/session")).json()).toMatchObject({
        user: { id: "ada", name: "Ada Lovelace", email: "ada@example.com" },
        expires: expect.stringMatching(/^\d{4}-/),
      });
    }
    expect((await arrive().get("/api/auth/session")).json() ?? {}).toEqual({});
  });

  it("proxy.ts runs the jwt callback as often as before, so it spends no refresh token whose successor it couldn't store", async () => {
    await deploy();
    const ada = arrive();
    await signInWithAuthJs(ada);
    /** The callback's runs in a request that reaches proxy.ts, but none of the pages. */
    const runs = async () => {
      const before = running!.stdout.length;
      expect((await ada.navigate("/reports/missing")).status).toBe(404);
      return running!.stdout.slice(before).split("jwt callback").length - 1;
    };
    // withAuth of version 4 reads only the cookie.
    const usual = old.version === 5 ? 1 : 0;
    expect(await runs()).toBe(usual);
    await deploy(NEW_SIGN_INS);
    expect(await runs()).toBe(usual);
  });

  it("a route handler calls the API with the access token of either session", async () => {
    await deploy(NEW_SIGN_INS);
    const [early, ada] = [arrive(), arrive()];
    await signInWithAuthJs(early);
    await ada.follow("/reports");
    for (const browser of [early, ada])
      expect((await browser.get("/api/orders")).json()).toMatch(/^Bearer (?!undefined).+/);
    expect((await arrive().get("/api/orders")).status).toBe(401);
  });

  it("a sign-out ends both sessions, and lands on the page of IDP_AUTH_LOGOUT_REDIRECT_URL", async () => {
    await deploy(NEW_SIGN_INS);
    const ada = arrive();
    await signInWithAuthJs(ada);
    await ada.follow("/idpauth/login/");
    expect(cookiesOf(ada)).toEqual(expect.arrayContaining([old.oldCookie, "idpauth"]));
    const home = await ada.follow("/sign-out", { from: new URL(settings["BASE_URL"]!) });
    expect([home.status, home.url.pathname]).toEqual([200, "/"]);
    expect(cookiesOf(ada)).not.toContain(old.oldCookie);
    expect((await ada.navigate("/reports")).status).toBe(302);
  });

  it("during an outage of the provider, a user with a session of idpauth gets a 503, and isn't sent to Auth.js", async () => {
    await deploy(NEW_SIGN_INS);
    const ada = arrive();
    const lifetime = provider.settings.idTokenSeconds;
    provider.settings.idTokenSeconds = 1;
    await ada.follow("/reports");
    provider.fault("token", { kind: "status", status: 503 });
    await expect.poll(async () => (await ada.navigate("/reports")).status).toBe(503);
    provider.clearFaults();
    provider.settings.idTokenSeconds = lifetime;
  });

  it("after the last step, proxy.ts deletes Auth.js's cookies, and no others", async () => {
    await deploy();
    const ada = arrive();
    await signInWithAuthJs(ada);
    copyFileSync(path.join(folder, "proxy-after.ts"), path.join(folder, "proxy.ts"));
    await build();
    await deploy();
    expect(cookiesOf(ada)).toContain(old.oldCookie);
    const reports = await ada.follow("/reports");
    expect([reports.status, reports.text]).toEqual([200, expect.stringContaining("Ada Lovelace")]);
    expect(cookiesOf(ada)).toEqual(["idpauth"]);
  }, 300_000);
});
