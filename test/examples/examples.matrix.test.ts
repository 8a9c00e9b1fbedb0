import "../adapters/applications/next-installed.js";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { BrowserResponse, CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { leaveOpen } from "../samples/hostile-client.js";
import { eventually } from "../support/eventually.js";
import {
  ExampleProcess,
  installed,
  installExample,
  manifestOf,
  PackedPackage,
} from "./example-process.js";

// Each folder of examples/ as it is, outside the project, over the packed package.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLES = path.join(ROOT, "examples");
const HOSTS = ["express", "fastify", "fetch", "hono", "koa", "nestjs", "next", "node"];

/** Files that are no part of the application: they are copied as they are. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  nestjs: [
    "idp-auth/current-user.decorator.ts",
    "idp-auth/idp-auth.module.ts",
    "idp-auth/idp-error.filter.ts",
    "idp-auth/idp-required.guard.ts",
    "notices/notices.gateway.ts",
    "reports/reports.resolver.ts",
  ],
  next: [
    "proxy.ts",
    "reports.test.ts",
    "app/admin/page.tsx",
    "app/no-access/page.tsx",
    "app/session.tsx",
    "app/reports/actions.ts",
    "app/reports/note-form.tsx",
    "app/reports/notes.tsx",
    "redis/instrumentation.ts",
    "redis/lib/auth.ts",
  ],
};

/**
 * Milliseconds for a test that starts an example: some build themselves first, which takes what the
 * machine has.
 */
const BUILD = 240_000;

/** Somebody whose name would be markup if an example did not escape it. */
const PERSON = { sub: "eve", email: "eve@example.com", name: `<b id="x">Eve & 'Co'</b>` };

/** Whole applications: each has a test of its own, such as spa-react.matrix.test.ts. */
const APPLICATIONS = [
  "express-complete",
  "fastify-react",
  "migrate-from-auth-js",
  "migrate-from-express-openid-connect",
  "migrate-from-passport",
  "next-two-providers",
  "several-services",
  "spa-react",
  "tenants",
];
const folders = readdirSync(EXAMPLES)
  .filter((name) => !APPLICATIONS.includes(name))
  .filter((name) => existsSync(path.join(EXAMPLES, name, "package.json")))
  .sort();

it("there is an example for each framework", () => {
  expect(folders).toEqual(HOSTS);
});

let packed: PackedPackage;
beforeAll(async () => {
  packed = await PackedPackage.pack();
});
afterAll(() => {
  packed.remove();
});

describe.each(folders)("examples/%s", (name) => {
  const example = path.join(EXAMPLES, name);
  const manifest = manifestOf(example);
  let folder: string;
  let provider: TestProvider;
  const running: ExampleProcess[] = [];

  beforeAll(async () => {
    folder = installExample(example, packed);
    provider = await startTestProvider({ person: PERSON, idTokenSeconds: 1 });
  });
  afterEach(async () => {
    provider.clearFaults();
    for (const each of running.splice(0)) await each.end();
  });
  afterAll(async () => {
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(env: Readonly<Record<string, string>> = {}): ExampleProcess {
    const started = new ExampleProcess(folder, {
      SECRET_KEY: "a secret key of at least 32 bytes",
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
      ...env,
    });
    running.push(started);
    return started;
  }

  it("is small, private, and says how it is started", () => {
    const application = sourcesOf(example).filter(
      ({ file }) => RECIPES[name]?.includes(file) !== true,
    );
    expect(application.reduce((sum, { lines }) => sum + lines, 0)).toBeLessThan(80);
    expect(manifest).toMatchObject({
      private: true,
      type: "module",
      scripts: { start: expect.any(String) },
    });
    const readme = readFileSync(path.join(example, "README.md"), "utf8");
    for (const text of [
      "npm start",
      "SECRET_KEY",
      "IDP_CLIENT_ID",
      "IDP_CLIENT_SECRET",
      "IDP_ISSUER",
    ])
      expect(readme).toContain(text);
    expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(21);
  });

  it("depends on the versions that the project is tested with", () => {
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.keys(wanted)).toContain("idpauth");
    const misfits = Object.entries(wanted).filter(([dependency, range]) => {
      const present =
        manifestOf(dependency === "idpauth" ? ROOT : installed(dependency)!).version ?? "";
      return !isWithin(present, range);
    });
    expect(misfits).toEqual([]);
  });

  it(
    "signs a user in, brings them back, responds with 503 in an outage, signs them out, and ends on request",
    async () => {
      const app = start();
      const browser = await app.browser();
      const home = await browser.navigate("/");
      expect([home.status, home.headers["content-type"]]).toEqual([
        200,
        expect.stringContaining("text/html"),
      ]);
      expect(linkTo(home, "/idpauth/login/")).toBeDefined();

      expect((await browser.get("/api/reports")).status).toBe(401);
      const page = await browser.follow("/reports?month=10");
      expect([page.status, page.url.pathname + page.url.search]).toEqual([
        200,
        "/reports?month=10",
      ]);
      expect(page.text).not.toContain(`<b id="x">`);
      expect(page.text).toMatch(/(?:&lt;|&#60;|&#x3c;)b id=/i);
      // The client of Next.js's page navigates there.
      const logout = name === "next" ? "/idpauth/logout/" : linkTo(page, "/idpauth/logout/");
      expect(logout).toBeDefined();
      await expectReports(browser);

      // Whenever the ID token has run out, which takes a second: from then on each request needs
      // the provider.
      provider.fault("token", { kind: "status", status: 503 });
      await eventually(async () => expect((await browser.get("/api/reports")).status).toBe(503));
      for (const answer of [
        await browser.navigate("/reports"),
        await browser.get("/api/reports"),
      ]) {
        expect([answer.status, answer.setCookies]).toEqual([503, []]);
        expect(answer.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      }
      // It asks who is there, so what it says is the error handler's; that of Next.js is built
      // beforehand, and asks nobody.
      expect((await browser.navigate("/")).status).toBe(name === "next" ? 200 : 503);
      provider.clearFaults();
      await eventually(async () => expectReports(browser));

      await browser.follow(logout!);
      expect((await browser.get("/api/reports")).status).toBe(401);
      expect((await browser.navigate("/reports")).status).toBe(302);
      const refreshToken = provider.issued
        .filter(({ kind }) => kind === "refresh_token")
        .at(-1)!.value;
      expect(provider.isActive(refreshToken)).toBe(false);

      await leaveOpen(Number(new URL(await app.origin()).port), "/idpauth/events");
      const since = performance.now();
      const { code, signal, stderr } = await app.terminate();
      expect(performance.now() - since).toBeLessThan(5_000);
      // Next.js says itself what a shell says of a process that SIGTERM has ended.
      expect([0, "SIGTERM", ...(name === "next" ? [143] : [])]).toContain(code ?? signal);
      expect(stderr).not.toContain("    at ");
    },
    BUILD,
  );

  it(
    "does not start without its secret",
    async () => {
      const { code, stdout, stderr } = await start({ SECRET_KEY: "" }).ended;
      expect(code).not.toBe(0);
      expect(stdout + stderr).toContain("E001");
    },
    BUILD,
  );

  /** The guarded interface answers with JSON, which has no token in it. */
  async function expectReports(browser: CookieBrowser): Promise<void> {
    const answer = await browser.get("/api/reports");
    expect([answer.status, answer.headers["content-type"]]).toEqual([
      200,
      expect.stringContaining("application/json"),
    ]);
    expect(answer.json()).toBeTypeOf("object");
    for (const { value } of provider.issued) expect(answer.text).not.toContain(value);
  }
});

/** Where a page's link below that path leads. */
function linkTo({ text }: BrowserResponse, below: string): string | undefined {
  return [...text.matchAll(/href="([^"]*)"/g)]
    .map(([, target = ""]) => target)
    .find((target) => target.startsWith(below));
}

function sourcesOf(folder: string): { file: string; lines: number }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(
      (file) =>
        /\.[cm]?[jt]sx?$/.test(file) &&
        !/(?:^|[/\\])(?:node_modules|dist|\.next)[/\\]/.test(file) &&
        !file.endsWith(".d.ts"),
    )
    .map((file) => ({
      file,
      lines: readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n").length,
    }));
}

/** Whether a version fits a range, which is of the form `^1.2.3`. */
function isWithin(version: string, range: string): boolean {
  const least = /^[\^~](\d+)\.(\d+)\.(\d+)$/.exec(range)?.slice(1).map(Number);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor = 0, leastPatch = 0] = least ?? [];
  if (major !== leastMajor || ((major === 0 || range.startsWith("~")) && minor !== leastMinor))
    return false;
  return minor > leastMinor || (minor === leastMinor && patch >= leastPatch);
}
