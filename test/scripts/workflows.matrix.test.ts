import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageProgram } from "../../scripts/locked-packages.mjs";

// The workflows run only on GitHub. Here, their form is checked, and what protects a release.

const ROOT = path.resolve(import.meta.dirname, "../..");
const TOOLS = path.join(ROOT, "scripts/checks");
const run = promisify(execFile);
const installed = await installFramework(TOOLS);

const filesOf = (folder: string) =>
  readdirSync(path.join(ROOT, folder)).map((file) => `${folder}/${file}`);
const WORKFLOWS = filesOf(".github/workflows");
const FORMS = filesOf(".github/ISSUE_TEMPLATE").filter((file) => !file.endsWith("/config.yml"));
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

const validate = (file: string) =>
  run(process.execPath, [packageProgram(TOOLS, "@action-validator/cli"), file], {
    cwd: ROOT,
  });

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<string, { uses?: string; permissions?: unknown; steps?: readonly Step[] }>
  >;
}

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

  it.each(WORKFLOWS)(
    "%s pins each action by a commit, keeps no credentials, and may only read unless it publishes",
    (file) => {
      const { on, permissions, jobs } = parse(file) as Workflow;
      expect(permissions).toEqual({ contents: "read" });
      expect(Object.keys(on)).not.toContain("pull_request_target");
      const publishing = Object.keys(jobs).filter((name) => jobs[name]?.permissions !== undefined);
      expect(publishing).toEqual(file.endsWith("/release.yml") ? ["publish"] : []);
      const all = Object.values(jobs).flatMap(({ uses, steps = [] }) => [
        { uses, with: undefined },
        ...steps,
      ]);
      const actions = all.filter(({ uses }) => uses !== undefined && !uses.startsWith("./"));
      expect(actions.length).toBeGreaterThan(3);
      for (const { uses, with: options } of actions) {
        expect(uses).toMatch(/^actions\/[\w-]+@[\da-f]{40}$/);
        if (uses?.startsWith("actions/checkout@"))
          expect(options).toMatchObject({ "persist-credentials": false });
      }
    },
  );

  it("runs no code of the repository and of its dependencies where it may publish", () => {
    const { jobs } = parse(".github/workflows/release.yml") as Workflow;
    const steps = jobs["publish"]?.steps ?? [];
    expect(steps.map(({ uses }) => uses).join()).not.toContain("checkout");
    expect(steps.map(({ run }) => run).join("\n")).not.toMatch(
      /npm (?:ci|install|run|test)|npx|node /,
    );
  });

  it("the tests run on three systems, with every supported version of Node.js", () => {
    const { jobs } = parse(".github/workflows/test.yml") as {
      jobs: Record<string, { strategy?: { matrix: Record<string, unknown> } }>;
    };
    const matrices = Object.values(jobs).flatMap(({ strategy }) => strategy?.matrix ?? []);
    const { engines } = JSON.parse(read("package.json")) as { engines: { node: string } };
    const node = [`${engines.node.replace(">=", "")}.0`, "22", "24", "26"];
    expect(matrices).toEqual([{ node }, { os: ["macos-latest", "windows-latest"], node }]);
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
      updates: { directories?: string[]; allow?: { "dependency-name": string }[] }[];
    };
    const folders = updates
      .flatMap(({ directories = [] }) => directories)
      .filter((folder) => !folder.endsWith("*"));
    expect(folders.length).toBeGreaterThan(2);
    for (const folder of folders)
      expect(read(path.join(folder, "package.json"))).toMatch(/ependencies|workspaces/);
    const allowed = updates.flatMap(({ allow = [] }) => allow.map((one) => one["dependency-name"]));
    const wanted = ["browser-drivers", "deploy"].flatMap((member) => {
      const { dependencies, devDependencies } = JSON.parse(
        read(`test/recipes/${member}/package.json`),
      ) as { dependencies?: object; devDependencies?: object };
      return Object.keys({ ...dependencies, ...devDependencies });
    });
    expect(allowed.toSorted()).toEqual(wanted.toSorted());
  });
});
