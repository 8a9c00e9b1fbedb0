import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown, type Plugin } from "rolldown";
import { describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import { chromiumForTests, launchChromium } from "../support/chromium.js";

// The compositions of examples/vue and examples/svelte, over the real client, in components in a
// browser.

const ROOT = path.resolve(import.meta.dirname, "../..");
const ORIGIN = "http://app.example";
const executablePath = await chromiumForTests();
/** The folder that Vue and Svelte are installed for. */
const PACKAGES = path.join(ROOT, "test/recipes/compositions");
const isInstalled = await installFramework(PACKAGES);

const NOBODY = {
  account: null,
  ends_in: null,
  expires_in: null,
  max_age_expires_in: null,
  idle_expires_in: null,
};
const SIGNED_OUT = {
  ...NOBODY,
  authenticated: false,
  user: null,
  reason: "idle",
  session_expiry_expires_in: null,
};
const USER = { name: "Ada Lovelace", email: "ada@example.com", picture: null };
const SIGNED_IN = {
  ...SIGNED_OUT,
  authenticated: true,
  user: USER,
  reason: null,
  account: "ada",
  ends_in: 3600,
  expires_in: 3600,
};

describe.skipIf(executablePath === undefined || !isInstalled)(
  "the compositions for Vue and Svelte",
  () => {
    it("pass the type check", async () => {
      const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
      await promisify(execFile)(process.execPath, [compiler, "-p", import.meta.dirname]);
    });

    it("follow the session, and end their subscriptions with their components", async () => {
      const script = await bundle();
      const browser = await launchChromium(executablePath!);
      const tab = await browser.newPage();
      const complaints: string[] = [];
      tab.on("console", (message) => complaints.push(message.text()));
      tab.on("pageerror", (error) => complaints.push(error.message));
      let probe: object = SIGNED_IN;
      await tab.route(`${ORIGIN}/**`, async (route) => {
        const { pathname } = new URL(route.request().url());
        if (pathname === "/idpauth/session") await route.fulfill({ json: probe });
        else if (pathname === "/page.js")
          await route.fulfill({ contentType: "text/javascript", body: script });
        else await route.fulfill({ contentType: "text/html", body: pathname === "/" ? PAGE : "" });
      });
      await tab.goto(`${ORIGIN}/`);
      const shown = async () => [
        await tab.textContent("#vue"),
        await tab.textContent("#store"),
        await tab.textContent("#reactivity"),
      ];
      await expect.poll(shown).toEqual(Array(3).fill("signed-in: Ada Lovelace"));
      // Each framework has a warning, too.
      expect(await tab.evaluate("listeners")).toBe(5);
      probe = { ...SIGNED_IN, ends_in: 80, idle_expires_in: 80 };
      await tab.evaluate("client.refresh().then(() => {})");
      for (const name of ["Stay in Vue", "Stay in Svelte"])
        await tab.getByRole("button", { name }).waitFor();
      probe = SIGNED_OUT;
      await tab.evaluate("client.refresh().then(() => {})");
      await expect.poll(shown).toEqual(Array(3).fill("signed-out: no user"));
      await tab.evaluate("leave()");
      await expect.poll(() => tab.evaluate("listeners")).toBe(0);
      expect(complaints).toEqual([]);
      await browser.close();
    });

    it("are in the guide as they are in examples/", () => {
      const guide = readFileSync(path.join(ROOT, "docs/how-to/react-vue-svelte.md"), "utf8");
      for (const file of [
        "vue/use-session.ts",
        "svelte/session-store.ts",
        "svelte/use-session.ts",
      ]) {
        expect(guide).toContain(readFileSync(path.join(ROOT, "examples", file), "utf8"));
      }
    });
  },
);

const PAGE = `<!doctype html><title>Session</title><div id="vue-root"></div><div id="svelte-root"></div><script type="module" src="/page.js"></script>`;

async function bundle(): Promise<string> {
  const { compile } = (await import(
    pathToFileURL(path.join(packageFolder(PACKAGES, "svelte"), "src/compiler/index.js")).href
  )) as {
    compile(source: string, options: object): { js: { code: string } };
  };
  const packages: Plugin = {
    name: "packages of the recipes",
    resolveId(source) {
      if (source === "idpauth/client") return path.join(ROOT, "src/client/client.ts");
      if (source === "idpauth/client/warning")
        return path.join(ROOT, "src/client/warning/warning.ts");
      // The examples and this folder have no packages.
      return /^(?:vue|svelte)(?:\/|$)/.test(source)
        ? this.resolve(source, path.join(PACKAGES, "x.js"), { skipSelf: true })
        : null;
    },
    transform(code, id) {
      return id.endsWith(".svelte")
        ? compile(code, { filename: id, generate: "client" }).js.code
        : null;
    },
  };
  const bundled = await rolldown({
    input: path.join(import.meta.dirname, "application/page.js"),
    platform: "browser",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    tsconfig: false,
    // "sideEffects" of package.json names files of dist/.
    treeshake: { moduleSideEffects: [{ test: /./, sideEffects: true }] },
    transform: {
      define: {
        "process.env.NODE_ENV": '"production"',
        __VUE_OPTIONS_API__: "true",
        __VUE_PROD_DEVTOOLS__: "false",
      },
    },
    plugins: [packages],
  });
  const { output } = await bundled.generate({ format: "esm" });
  await bundled.close();
  return output[0].code;
}
