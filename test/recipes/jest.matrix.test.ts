import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import { installPackage, PackedPackage } from "../examples/example-process.js";
import { canRun, PREPARATION } from "./recipe.js";

// "Run the tests with Jest" of docs/how-to/testing.md, over the packed package: an application as
// Nest's CLI creates it, with the NestJS recipe, and one of ES modules.

const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDER = path.join(import.meta.dirname, "jest");

interface Manifest {
  readonly scripts?: { readonly test: string };
  readonly jest?: Readonly<Record<string, unknown>>;
}

/** What the page says to put into package.json, in the order of its blocks. */
const [command, compiled, names] = (() => {
  const page = readFileSync(path.join(ROOT, "docs/how-to/testing.md"), "utf8");
  const section = /^## Run the tests with Jest\n(.*?)^## /ms.exec(page)?.[1] ?? "";
  return [...section.matchAll(/^```json\n(.*?)^```$/gms)].map(
    ([, block = ""]) => JSON.parse(block) as Manifest,
  );
})();

const installed = await canRun("jest");

describe.skipIf(!installed)("docs/how-to/testing.md, Jest", { timeout: PREPARATION }, () => {
  const folders: string[] = [];
  let packed: PackedPackage;
  beforeAll(async () => {
    packed = await PackedPackage.pack();
  }, PREPARATION);
  afterAll(() => {
    packed.remove();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** Runs an application's tests with these blocks of the page. Returns what Jest prints. */
  async function jest(
    application: string,
    blocks: readonly (Manifest | undefined)[],
  ): Promise<string> {
    mkdirSync(path.join(FOLDER, "build"), { recursive: true });
    const folder = mkdtempSync(path.join(FOLDER, "build/application-"));
    folders.push(folder);
    cpSync(path.join(FOLDER, "application", application), folder, { recursive: true });
    if (application === "nest")
      cpSync(path.join(ROOT, "examples/nestjs/idp-auth"), path.join(folder, "src/idp-auth"), {
        recursive: true,
      });
    const manifest = path.join(folder, "package.json");
    let merged = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
    for (const block of blocks)
      merged = { ...merged, ...block, jest: { ...merged.jest, ...block?.jest } };
    await writeFile(manifest, JSON.stringify(merged));
    installPackage(packed, path.join(folder, "node_modules"));
    symlinkSync(packageFolder(FOLDER, "jest"), path.join(folder, "node_modules/jest"));
    const test = merged.scripts?.test ?? "node node_modules/jest/bin/jest.js";
    const PATH = `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"] ?? ""}`;
    const env = { PATH, CI: "true", NO_COLOR: "1" };
    return new Promise((resolve) => {
      // Jest prints its outcome to stderr.
      const args = ["-c", `${test} --cacheDirectory=cache`];
      execFile("sh", args, { cwd: folder, env }, (_error, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });
  }

  const PASSED = /^Tests: +1 passed, 1 total$/m;

  it("a Nest application's tests load idpauth with the flag of Node.js, and not without it", async () => {
    expect(await jest("nest", [command, names])).toMatch(PASSED);
    expect(await jest("nest", [names])).toContain("Must use import to load ES Module");
  });

  it("without the flag, Jest compiles idpauth and its dependencies", async () => {
    expect(await jest("nest", [compiled, names])).toMatch(PASSED);
  });

  it("tests that are ES modules need the flag alone", async () => {
    expect(await jest("esm", [command])).toMatch(PASSED);
  });
});
