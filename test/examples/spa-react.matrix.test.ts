import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createServer } from "vite";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestUser } from "../browser/test-user.js";
import { HOSTNAME, type RunningProxy } from "../proxies/programs.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { freePort } from "../support/free-port.js";
import { compile } from "./compile-example.js";
import { ExampleProcess, installExample, PackedPackage } from "./example-process.js";
import { FRONT_SERVERS } from "./front-server.js";

// examples/spa-react outside the project, over the packed package.
// docs/start/single-page-application.md shows its files, and
// docs/how-to/single-page-applications.md the configurations of nginx and Caddy.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = path.join(ROOT, "examples/spa-react");
const FRONT_END = ["src/app.tsx", "src/auth.ts", "src/main.tsx"];
const SOURCES = ["app.mjs", "server.mjs", "index.html", ...FRONT_END, "vite.config.mjs"];
const START_PAGE = path.join(ROOT, "docs/start/single-page-application.md");

/**
 * A line that is there for the authentication alone. A guard, `auth.fetch` or the returned object
 * stands in a line that the application has anyway.
 */
const AUTHENTICATION =
  /idpauth|\bauth\b(?!\.idpRequired|\.fetch| \};)|useSession|SessionProvider|\bstatus [!=]==/;

/**
 * Opens the event stream, ends the session once the stream has begun, and gives what the stream
 * says.
 */
const STREAM_AT_SIGN_OUT = `new Promise((resolve, reject) => {
  const stream = new EventSource("/idpauth/events");
  stream.onopen = () => fetch("/idpauth/logout/?response=json");
  stream.onerror = () => reject(new Error("the stream failed"));
  stream.addEventListener("ended", ({ data }) => {
    stream.close();
    resolve(JSON.parse(data));
  });
})`;

const STATUSES_OF_MISSING = `Promise.all(
  ["/assets/missing.js", "/users/ada.lovelace"].map((path) => fetch(path).then(({ status }) => status)),
)`;

/** The settings that the start page adds to the provider's: NAME=VALUE, one a line. */
const RETURN_TO_APP = Object.fromEntries(
  [...readFileSync(START_PAGE, "utf8").matchAll(/^(IDP_AUTH_\w+)=(\S+)$/gm)].map(
    ([, name = "", value = ""]) => [name, value],
  ),
);

/** What Vite's server and React's development build say on the console. */
const DEVELOPMENT = /^\[vite\] |Download the React DevTools/;

/** Milliseconds for a test that builds or starts the example. */
const BUILD = 240_000;

const executablePath = await chromiumForTests();

const linesOf = (file: string) =>
  readFileSync(path.join(EXAMPLE, file), "utf8").trimEnd().split("\n");

it("is under 170 lines, of which at most 18 are authentication", () => {
  const lines = SOURCES.flatMap(linesOf);
  expect(lines.length).toBeLessThan(170);
  const code = ["app.mjs", "server.mjs", ...FRONT_END]
    .flatMap(linesOf)
    .filter((line) => !/^\s*(?:\/\/|\/\*\*|<\/|$)/.test(line));
  const authentication = code.filter((line) => AUTHENTICATION.test(line.replace(/\/\/ .*/, "")));
  expect(authentication.length, authentication.join("\n")).toBeLessThanOrEqual(18);
});

describe("examples/spa-react", () => {
  let packed: PackedPackage;
  let folder: string;
  let provider: TestProvider;
  let browser: Browser | undefined;
  const running: ExampleProcess[] = [];
  const users: TestUser[] = [];
  const fronts: RunningProxy[] = [];

  beforeAll(async () => {
    packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
    provider = await startTestProvider({
      person: { sub: "ada", name: "Ada Lovelace", email: "ada@example.com" },
    });
    if (executablePath !== undefined)
      browser = await launchChromium(executablePath, {
        args: [`--host-resolver-rules=MAP ${HOSTNAME} 127.0.0.1`],
      });
  }, BUILD);
  afterEach(async () => {
    const left = users.splice(0);
    await Promise.all(left.map((user) => user.leave()));
    for (const each of fronts.splice(0)) await each.stop();
    for (const each of running.splice(0)) await each.end();
    const complaints = left.flatMap((user) => user.complaints);
    expect(complaints.filter((text) => !DEVELOPMENT.test(text))).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await provider.stop();
    // Vite may still write its cache there.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    packed.remove();
  }, BUILD);

  /** `npm start`, which builds the front end first. */
  async function start(env: Readonly<Record<string, string>> = {}): Promise<string> {
    const started = new ExampleProcess(folder, {
      SECRET_KEY: "a secret key of at least 32 bytes",
      IDP_ISSUER: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: provider.clientSecret,
      PORT: String(await freePort()),
      ...env,
    });
    running.push(started);
    return started.origin();
  }

  /** A tab in which the user has clicked on "Sign in" and sees the items. */
  async function signedIn(origin: string): Promise<{ user: TestUser; tab: Page }> {
    const user = await TestUser.arrive(browser!, origin, { ignoreHTTPSErrors: true });
    users.push(user);
    const tab = await user.askFor("/list?month=10#new");
    await tab.getByRole("button", { name: "Sign in" }).click();
    await tab.getByText("Order punched cards").waitFor();
    expect(tab.url()).toContain("/list?month=10");
    return { user, tab };
  }

  it(
    "passes a strict type check, the server too",
    async () => {
      expect(await compile(folder, ["app.mjs", "server.mjs", "vite.config.mjs"])).toBe("");
    },
    BUILD,
  );

  it(
    "guards its API, and refuses a request that another site starts",
    async () => {
      const user = new CookieBrowser({ origin: await start(RETURN_TO_APP) });
      expect((await user.get("/api/items")).status).toBe(401);
      expect((await user.follow("/idpauth/login/")).url.pathname).toBe("/");
      expect((await user.get("/api/items")).json()).toHaveLength(1);
      const post = (headers: Readonly<Record<string, string>>) =>
        user.get("/api/items", {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: '{"text":"Two"}',
        });
      expect((await post({ "sec-fetch-site": "cross-site" })).status).toBe(403);
      expect((await post({ "sec-fetch-site": "same-origin" })).status).toBe(200);
      expect((await user.get("/nowhere")).headers["content-security-policy"]).toContain(
        "script-src 'self'",
      );
    },
    BUILD,
  );

  it(
    "fails to start if the port is taken",
    async () => {
      const { port } = new URL(await start());
      await expect(start({ PORT: port })).rejects.toThrow("EADDRINUSE");
    },
    BUILD,
  );

  it(
    "responds to HEAD as to GET, and a missing file is 404, not a page",
    async () => {
      const user = new CookieBrowser({ origin: await start() });
      const statuses = async (target: string) => [
        (await user.get(target)).status,
        (await user.get(target, { method: "HEAD" })).status,
      ];
      expect(await statuses("/items/7?tab=all")).toEqual([200, 200]);
      expect(await statuses("/assets/missing.js")).toEqual([404, 404]);
      expect(await statuses("/api/nothing")).toEqual([404, 404]);
    },
    BUILD,
  );

  it.skipIf(executablePath === undefined)(
    "a 401 keeps the half-filled form, which is sent once after the sign-in; a second tab follows a sign-out",
    async () => {
      const origin = await start(RETURN_TO_APP);
      const { user, tab } = await signedIn(origin);
      await tab.getByLabel("New item").fill("Oil the engine");
      // The session ends, and the page does not know.
      await tab.evaluate(`fetch("/idpauth/logout/?response=json").then(({ status }) => status)`);
      const statuses: number[] = [];
      tab.on("response", (response) => {
        if (response.request().method() === "POST") statuses.push(response.status());
      });
      // With the keyboard, because the list above goes as soon as the page hears of the end.
      await tab.getByLabel("New item").press("Enter");
      const signIn = tab.getByRole("button", { name: "Sign in", exact: true });
      await signIn.waitFor();
      expect(await tab.getByLabel("New item").inputValue()).toBe("Oil the engine");
      await Promise.all([tab.waitForEvent("popup"), signIn.click()]);
      await tab.getByRole("listitem").getByText("Oil the engine").waitFor();
      expect(statuses).toEqual([401, 200]);

      const second = await user.askFor("/");
      await second.getByRole("button", { name: "Sign out" }).waitFor();
      await tab.getByRole("button", { name: "Sign out" }).click();
      await second.getByRole("button", { name: "Sign in", exact: true }).waitFor();
      await tab.waitForURL(`${origin}/`);
    },
    BUILD,
  );

  it.each([
    ["an object with changeOrigin: false", 200],
    ["the short form, a string", 500],
  ])(
    "development with Vite's proxy, written as %s: the sign-in ends with %i",
    async (form, status) => {
      const port = await freePort();
      const origin = `http://localhost:${String(port)}`;
      const target = await start({ BASE_URL: origin });
      const entry = status === 200 ? { target, changeOrigin: false } : target;
      const vite = await createServer({
        configFile: false,
        root: folder,
        logLevel: "silent",
        server: {
          port,
          strictPort: true,
          host: "localhost",
          proxy: { "/api": entry, "/idpauth": entry },
        },
      });
      try {
        await vite.listen();
        const user = new CookieBrowser({ origin });
        expect((await user.get("/")).text).toContain("/src/main.tsx");
        const end = await user.follow(
          "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=" +
            encodeURIComponent(`${origin}/api/items`),
        );
        expect([form, end.status]).toEqual([form, status]);
        if (status === 500) expect(end.text).toContain("login_loop");
        else expect(end.json()).toHaveLength(1);
      } finally {
        await vite.close();
      }
    },
    BUILD,
  );

  it.skipIf(executablePath === undefined)(
    "development with the printed configuration: an edit keeps the page and its draft",
    async () => {
      const port = await freePort();
      const origin = `http://localhost:${String(port)}`;
      const target = await start({ ...RETURN_TO_APP, BASE_URL: origin });
      const entry = { target, changeOrigin: false };
      const vite = await createServer({
        configFile: path.join(folder, "vite.config.mjs"),
        root: folder,
        logLevel: "silent",
        server: { port, host: "localhost", proxy: { "/api": entry, "/idpauth": entry } },
      });
      const component = path.join(folder, "src/app.tsx");
      const code = readFileSync(component, "utf8");
      try {
        await vite.listen();
        const { tab } = await signedIn(origin);
        await tab.getByLabel("New item").fill("Oil the engine");
        writeFileSync(component, code.replace(">Add</button>", ">Add it</button>"));
        await tab.getByRole("button", { name: "Add it" }).waitFor();
        expect(await tab.getByLabel("New item").inputValue()).toBe("Oil the engine");
      } finally {
        writeFileSync(component, code);
        await vite.close();
      }
    },
    BUILD,
  );

  describe.each(FRONT_SERVERS)("behind $name", ({ program, start: startFront }) => {
    it.skipIf(program === undefined || executablePath === undefined)(
      "serves the front end, passes on the API and the sign-in over https, and the event stream at once; a missing asset is 404",
      async () => {
        const port = await freePort();
        const origin = `https://${HOSTNAME}:${String(port)}`;
        const { port: api } = new URL(await start({ BASE_URL: origin, IDP_EVENTS: "true" }));
        fronts.push(await startFront({ port, files: path.join(folder, "dist"), api: Number(api) }));

        const { user, tab } = await signedIn(origin);
        expect(
          (await user.context.cookies(origin)).map(({ name, secure }) => ({ name, secure })),
        ).toContainEqual({
          name: "__Host-Http-idpauth",
          secure: true,
        });
        const page = await tab.reload();
        expect(page?.headers()["content-security-policy"]).toContain("script-src 'self'");
        await tab.getByLabel("New item").fill("Oil the engine");
        await tab.getByRole("button", { name: "Add" }).click();
        await tab.getByRole("listitem").getByText("Oil the engine").waitFor();

        const ended = await tab.evaluate(STREAM_AT_SIGN_OUT);
        expect(ended).toEqual({ reason: "logout" });
        expect(await tab.evaluate(STATUSES_OF_MISSING)).toEqual([404, 200]);
      },
      BUILD,
    );
  });
});
