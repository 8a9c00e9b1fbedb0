import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, type InlineConfig, type ViteDevServer } from "vite";
import config from "../../examples/fastify-react/vite.config.mjs";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestUser } from "../browser/test-user.js";
import { chromiumForTests, launchChromium } from "../support/chromium.js";
import { freePort } from "../support/free-port.js";
import { compile } from "./compile-example.js";
import { ExampleProcess, installExample, npmTest, PackedPackage } from "./example-process.js";

// examples/fastify-react outside the project, over the packed package: its own tests in Chromium,
// and development with Vite, where the API is the example's own.

const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/fastify-react");
/** The API and the tests would be the same without a sign-in, or are no part of the application. */
const SOURCES = ["app.mjs", "server.mjs", ...pageSources()];

/**
 * A line that is there for the sign-in. `auth.fetch`, `openStream` and `openSocket` stand where the
 * browser's own would.
 */
const SIGN_IN =
  /idpauth|sessionsPage|apis:|proxyApi|proxyUpgrade|options|auth\.(?:plugin|close|sign)|createClient|signIn|SignedIn|SignedOut|SessionProvider|useSession|user\?|status ===|step-?up|weren't signed in/i;

/** Milliseconds for a test that builds or starts the example. */
const BUILD = 240_000;

const executablePath = await chromiumForTests();

function pageSources(): string[] {
  return readdirSync(path.join(EXAMPLE, "src")).map((file) => `src/${file}`);
}

it("has at most 45 lines that would vanish without the sign-in", () => {
  const lines = SOURCES.flatMap((file) => codeOf(readFileSync(path.join(EXAMPLE, file), "utf8")));
  const signIn = lines.filter((line) => SIGN_IN.test(line));
  expect(signIn.length).toBeGreaterThan(20);
  expect(signIn.length, signIn.join("\n")).toBeLessThanOrEqual(45);
});

/** The lines without imports, comments and blank lines. */
function codeOf(source: string): string[] {
  return source
    .replaceAll(/^\s*(?:\/\*\*.*?\*\/|\{\/\*.*?\*\/\})$/gms, "")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)\/\/ .*$/, ""))
    .filter((line) => !/^import |^\s*$/.test(line));
}

describe("examples/fastify-react", () => {
  let packed: PackedPackage;
  let folder: string;

  beforeAll(async () => {
    packed = await PackedPackage.pack();
    folder = installExample(EXAMPLE, packed);
  }, BUILD);
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    packed.remove();
  });

  it(
    "passes a strict type check, the server and the API too",
    async () => {
      const files = ["api.mjs", "app.mjs", "server.mjs", "vite.config.mjs"];
      expect(await compile(folder, files)).toBe("");
    },
    BUILD,
  );

  it.skipIf(executablePath === undefined)(
    "passes its own tests in Chromium",
    async () => {
      expect(await npmTest(folder, { CHROMIUM_PATH: executablePath! })).toContain("4 passed");
    },
    BUILD,
  );

  describe.skipIf(executablePath === undefined)("with Vite's server", () => {
    let provider: TestProvider;
    let server: ExampleProcess;
    let vite: ViteDevServer;
    let browser: Browser;
    let origin: string;

    beforeAll(async () => {
      provider = await startTestProvider();
      const [port, apiPort] = [await freePort(), await freePort()];
      origin = `http://localhost:${String(port)}`;
      server = new ExampleProcess(folder, {
        ...provider.env,
        BASE_URL: origin,
        API_PORT: String(apiPort),
      });
      vite = await createServer(viteSettings({ port, target: await server.origin() }));
      await vite.listen();
      browser = await launchChromium(executablePath!);
    }, BUILD);
    afterAll(async () => {
      await browser.close();
      await vite.close();
      const { stderr } = await server.terminate();
      expect(stderr).not.toContain("    at ");
      await provider.stop();
    }, BUILD);

    /** The example's own configuration, with these ports. */
    function viteSettings({ port, target }: { port: number; target: string }): InlineConfig {
      const entries = Object.entries(config.server?.proxy ?? {}).map(
        ([prefix, entry]) => [prefix, { ...(entry as object), target }] as const,
      );
      return {
        configFile: false,
        root: folder,
        logLevel: "silent",
        server: {
          ...config.server,
          host: "localhost",
          port,
          proxy: Object.fromEntries(entries),
        },
      };
    }

    it(
      "the stream, the WebSocket and a step-up pass the proxy to an API that checks tokens",
      async () => {
        provider.person = { sub: "ada", name: "Ada Lovelace", auth_time: 0 };
        const user = await TestUser.arrive(browser, origin);
        const tab = await user.askFor("/");
        await tab.getByRole("button", { name: "Sign in" }).click();
        const orders = tab.getByRole("list", { name: "Orders" });
        await orders.getByText("Punched cards").waitFor();
        await tab.getByLabel("Message").fill("Hello");
        await tab.getByRole("button", { name: "Send" }).click();
        await tab.getByRole("list", { name: "Chat" }).getByText("ada: Hello").waitFor();

        await tab.getByLabel("New order").fill("Engine oil");
        await tab.getByRole("button", { name: "Add" }).click();
        const added = orders.getByRole("listitem").filter({ hasText: "Engine oil" }).last();
        await added.waitFor();

        // The user signed in long ago, and does so again in the window.
        provider.person = { sub: "ada", name: "Ada Lovelace" };
        await added.getByRole("button", { name: "Pay" }).click();
        await added.getByText("(paid)").waitFor();
        expect([...user.asked.keys()].sort()).toEqual([user.origin, provider.issuer].sort());
        await user.leave();
      },
      BUILD,
    );
  });
});
