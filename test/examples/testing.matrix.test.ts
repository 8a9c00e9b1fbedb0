import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chromiumForTests } from "../support/chromium.js";
import { installExample, manifestOf, PackedPackage } from "./example-process.js";

// Each folder of examples/testing/ as it is, outside the project, over the packed package, by its
// own runner.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLES = path.join(ROOT, "examples/testing");
const PAGE = readFileSync(path.join(ROOT, "docs/tutorial/first-test.md"), "utf8");
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
  const folder = installExample(path.join(EXAMPLES, example), packed);
  folders.push(folder);
  return folder;
}

/**
 * As `npm test` runs it, with nothing of this run in its environment. Gives what it printed; fails
 * when a test does.
 */
async function npmTest(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const programs = path.join(folder, "node_modules/.bin");
  const surroundings = {
    PATH: `${programs}${path.delimiter}${process.env["PATH"] ?? ""}`,
    HOME: folder,
    ...env,
  };
  const command = manifestOf(folder).scripts?.["test"] ?? "false";
  const { stdout } = await run("sh", ["-c", command], { cwd: folder, env: surroundings }).catch(
    (error: unknown) => {
      const { stdout: printed, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${command} failed:\n${printed}\n${stderr}`);
    },
  );
  return stdout;
}

/** The lines that somebody would have to write. */
function linesOf(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

const FOLDERS = ["node-test", "playwright", "vitest"];

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
    const tests = readdirSync(example).filter((file) => /^reports\.(?:test|spec)\.mjs$/.test(file));
    expect(tests).toHaveLength(1);
    expect(linesOf(readFileSync(path.join(example, tests[0]!), "utf8"))).toBeLessThan(30);
    const { devDependencies = {}, dependencies = {} } = manifestOf(ROOT) as {
      devDependencies?: object;
      dependencies?: object;
    };
    const own = { idpauth: `^${manifestOf(ROOT).version}` };
    expect({ ...devDependencies, ...dependencies, ...own }).toMatchObject({
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
