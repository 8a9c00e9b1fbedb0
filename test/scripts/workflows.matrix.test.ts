import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";

// The workflows run only on GitHub. Here, their form is checked; workflows.unit.test.ts has the rest.

const ROOT = path.resolve(import.meta.dirname, "../..");
const TOOLS = path.join(ROOT, "scripts/check-project");
const run = promisify(execFile);
const installed = await installFramework(TOOLS);

const filesOf = (folder: string) =>
  readdirSync(path.join(ROOT, folder)).map((file) => `${folder}/${file}`);
const WORKFLOWS = filesOf(".github/workflows");
const FORMS = filesOf(".github/ISSUE_TEMPLATE").filter((file) => !file.endsWith("/config.yml"));
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

const validate = (file: string) =>
  run(process.execPath, [path.join(TOOLS, "node_modules/@action-validator/cli/cli.mjs"), file], {
    cwd: ROOT,
  });

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id?: string;
    readonly attributes: { readonly label?: string; readonly value?: string };
  }[];
}

describe.skipIf(!installed)("the files for GitHub", () => {
  const yaml = createRequire(path.join(TOOLS, "package.json")) as (name: "yaml") => {
    parse(text: string): unknown;
  };
  const parse = (file: string) => yaml("yaml").parse(read(file));

  it.each(WORKFLOWS)("%s is a valid workflow", async (file) => {
    await expect(validate(file)).resolves.toMatchObject({ stderr: "" });
  });

  it("a workflow with a wrong property is invalid", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "idpauth-workflow-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, ".github/workflows/test.yml");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(
      file,
      read(".github/workflows/test.yml").replace("runs-on: ubuntu-latest", "run-on: ubuntu-latest"),
    );
    await expect(validate(file)).rejects.toThrow();
  });

  it("the tests run on three systems, with every supported version of Node.js", () => {
    const { jobs } = parse(".github/workflows/test.yml") as {
      jobs: Record<string, { strategy?: { matrix: Record<string, unknown> } }>;
    };
    const matrices = Object.values(jobs).flatMap(({ strategy }) => strategy?.matrix ?? []);
    expect(matrices).toEqual([
      { node: [20, 22, 24, 26] },
      { os: ["macos-latest", "windows-latest"], node: [20, 22, 24, 26] },
    ]);
  });

  it.each(FORMS)("%s is a form", (file) => {
    const { name, description, body } = parse(file) as Form;
    expect([name, description].every((text) => typeof text === "string" && text !== "")).toBe(true);
    const fields = body.filter(({ type }) => type !== "markdown");
    expect(fields.length).toBeGreaterThan(1);
    for (const { type, attributes } of body) {
      expect(["markdown", "textarea", "input"]).toContain(type);
      expect(type === "markdown" ? attributes.value : attributes.label).toEqual(
        expect.stringMatching(/\w/),
      );
    }
    const ids = fields.map(({ id }) => id);
    expect(ids.every((id) => /^[\w-]+$/.test(id ?? ""))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("every folder whose packages are updated exists", () => {
    const { updates } = parse(".github/dependabot.yml") as {
      updates: { directories?: string[] }[];
    };
    const folders = updates
      .flatMap(({ directories = [] }) => directories)
      .filter((folder) => !folder.endsWith("*"));
    expect(folders.length).toBeGreaterThan(2);
    for (const folder of folders)
      expect(read(path.join(folder, "package.json"))).toContain("ependencies");
  });
});
