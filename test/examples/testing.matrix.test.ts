import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { chromiumForTests } from "../support/chromium.js";
import {
  installExample,
  installExampleOf,
  manifestOf,
  npmTest,
  PackedPackage,
} from "./example-process.js";

// Each folder of examples/testing/ as it is, outside the project, over the packed package, by its
// own runner.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLES = path.join(ROOT, "examples/testing");
const PAGE = readFileSync(path.join(ROOT, "docs/tutorial/first-test.md"), "utf8");
/** Jest and Cypress, without Cypress's own program. */
const RUNNERS = path.resolve(import.meta.dirname, "../recipes/runners");
const hasRunners = await installFramework(RUNNERS);
const run = promisify(execFile);

/** Milliseconds for a runner that has to start in a folder that it has never seen. */
const RUN = 120_000;

let packed: PackedPackage;
const folders: string[] = [];

beforeAll(async () => {
  packed = await PackedPackage.pack();
});
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
afterAll(() => {
  packed.remove();
});

function install(example: string): string {
  const source = path.join(EXAMPLES, example);
  const folder = ["jest", "cypress"].includes(example)
    ? installExampleOf(RUNNERS, source, packed)
    : installExample(source, packed);
  folders.push(folder);
  return folder;
}

/** The lines that somebody would have to write. */
function linesOf(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

const FOLDERS = ["cypress", "jest", "node-test", "playwright", "supertest", "vitest"];

it("there is an example for each runner, over one and the same application", () => {
  expect(
    readdirSync(EXAMPLES)
      .filter((name) => existsSync(path.join(EXAMPLES, name, "package.json")))
      .sort(),
  ).toEqual(FOLDERS);
  const applications = FOLDERS.map((folder) =>
    readFileSync(path.join(EXAMPLES, folder, "app.mjs"), "utf8"),
  );
  expect(new Set(applications).size).toBe(1);
});

it.each(FOLDERS)(
  "%s: small, private, and with the versions that the project is tested with",
  (name) => {
    const example = path.join(EXAMPLES, name);
    const manifest = manifestOf(example);
    expect(manifest).toMatchObject({
      private: true,
      type: "module",
      scripts: { test: expect.any(String) },
    });
    const tests = readdirSync(example).filter((file) =>
      /^reports\.(?:test|spec|cy)\.mjs$/.test(file),
    );
    expect(tests).toHaveLength(1);
    expect(linesOf(readFileSync(path.join(example, tests[0]!), "utf8"))).toBeLessThan(30);
    const { devDependencies = {}, dependencies = {} } = manifestOf(ROOT) as {
      devDependencies?: object;
      dependencies?: object;
    };
    const own = { idpauth: `^${manifestOf(ROOT).version}` };
    const { jest, cypress } = manifestOf(RUNNERS).dependencies ?? {};
    const runners = { jest: `^${jest}`, cypress: `^${cypress}` };
    expect({ ...devDependencies, ...dependencies, ...runners, ...own }).toMatchObject({
      ...manifest.dependencies,
      ...manifest.devDependencies,
    });
  },
);

it(
  "vitest runs its example",
  async () => expect(await npmTest(install("vitest"))).toMatch(/Tests .*2 passed/),
  RUN,
);

it(
  "node:test runs its example",
  async () => expect(await npmTest(install("node-test"))).toMatch(/pass 2$/m),
  RUN,
);

it(
  "node:test runs the example of supertest",
  async () => expect(await npmTest(install("supertest"))).toMatch(/pass 2$/m),
  RUN,
);

describe.skipIf(!hasRunners)("a runner that the project doesn't have", () => {
  it(
    "Jest runs its example",
    // Jest reports on stderr, and fails with a test.
    async () => expect(await npmTest(install("jest"), { CI: "true" })).toBe(""),
    RUN,
  );

  it(
    "the tasks of the example of Cypress sign a user in, and simulate an outage",
    async () => {
      const folder = install("cypress");
      const { stdout } = await run("node", ["--input-type=module", "--eval", TASKS], {
        cwd: folder,
      });
      expect(JSON.parse(stdout)).toEqual([{ for: "grace@example.com" }, 401, 503, 200]);
    },
    RUN,
  );

  it(
    "the configuration and the tests of Cypress are of the right types",
    async () => {
      const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
      const options = [
        "--noEmit",
        "--checkJs",
        "--strict",
        "false",
        "--skipLibCheck",
        "--types",
        "cypress",
      ];
      const modules = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
      const files = ["cypress.config.mjs", "reports.cy.mjs"];
      const { stdout } = await run("node", [tsc, ...options, ...modules, ...files], {
        cwd: install("cypress"),
      }).catch((error: unknown) => error as { stdout: string });
      expect(stdout).toBe("");
    },
    RUN,
  );

  // The package on npm contains no program. `npx cypress install` downloads it from elsewhere.
  const program = process.env["CYPRESS_RUN_BINARY"];
  it.skipIf(program === undefined)(
    "Cypress runs its example, if CYPRESS_RUN_BINARY names its program",
    async () =>
      expect(await npmTest(install("cypress"), { CYPRESS_RUN_BINARY: program! })).toMatch(
        /2 passing/,
      ),
    RUN,
  );
});

/** Calls the tasks of cypress.config.mjs as Cypress does, and prints the responses. */
const TASKS = `
  import config from "./cypress.config.mjs";
  const handlers = {};
  const on = (event, handler) => (handlers[event] = handler);
  const { baseUrl } = await config.e2e.setupNodeEvents(on, {});
  const { task } = handlers;
  const reports = (cookie) => fetch(baseUrl + "/reports", { headers: { cookie } });
  const { name, value } = await task.signedInCookie({ email: "grace@example.com" });
  const signedIn = await (await reports(name + "=" + value)).json();
  const signedOut = (await reports("")).status;
  const { signIn } = await import("idpauth/testing");
  const user = await signIn(baseUrl);
  task.outage();
  const duringOutage = (await reports(user.cookie)).status;
  task.recovery();
  const after = (await reports(user.cookie)).status;
  console.log(JSON.stringify([signedIn, signedOut, duringOutage, after]));
  await handlers["after:run"]();
`;

const chromium = await chromiumForTests();
it.skipIf(chromium === undefined)(
  "Playwright runs its example, by the system's Chromium where it has none of its own",
  async () =>
    expect(await npmTest(install("playwright"), { CHROMIUM_PATH: chromium! })).toMatch(/2 passed/),
  RUN,
);

describe("docs/tutorial/first-test.md", () => {
  const blocks = new Map(
    [...PAGE.matchAll(/^`([^`\n]+)`:\n\n```js\n(.*?)^```$/gms)].map(([, file = "", text = ""]) => [
      file,
      text,
    ]),
  );

  it(
    "tests a guarded route in under ten lines, and that test passes",
    async () => {
      expect([...blocks.keys()]).toEqual(["app.mjs", "reports.test.mjs"]);
      expect(linesOf(blocks.get("reports.test.mjs")!)).toBeLessThan(10);
      const folder = install("vitest");
      for (const [file, text] of blocks) writeFileSync(path.join(folder, file), text);
      expect(await npmTest(folder)).toMatch(/Tests .*1 passed/);
    },
    RUN,
  );

  it(
    "and its form for node:test passes, too",
    async () => {
      const [, text = ""] = /^```js\n(import \{ equal .*?)^```$/ms.exec(PAGE) ?? [];
      const folder = install("node-test");
      writeFileSync(path.join(folder, "app.mjs"), blocks.get("app.mjs")!);
      writeFileSync(path.join(folder, "reports.test.mjs"), text);
      expect(await npmTest(folder)).toMatch(/pass 1$/m);
    },
    RUN,
  );

  it(
    "and would fail without the sign-in",
    async () => {
      const folder = install("vitest");
      for (const [file, text] of blocks)
        writeFileSync(
          path.join(folder, file),
          text.replace(/signIn\((.*), \{.*\}\)/, "browser($1)").replace("{ signIn,", "{ browser,"),
        );
      await expect(npmTest(folder)).rejects.toThrow(/expected 401 to be 200/);
    },
    RUN,
  );
});
