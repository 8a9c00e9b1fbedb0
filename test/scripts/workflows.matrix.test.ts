import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageProgram } from "../../scripts/locked-packages.mjs";

// The workflows run only on GitHub. Here, their form is checked, and what protects a release.

const ROOT = path.resolve(import.meta.dirname, "../..");
const TOOLS = path.join(ROOT, "scripts/checks");
const run = promisify(execFile);
const installed = await installFramework(TOOLS);

const FOLDER = ".github/workflows";
const WORKFLOWS = readdirSync(path.join(ROOT, FOLDER)).map((file) => `${FOLDER}/${file}`);
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

describe.skipIf(!installed)("the files for GitHub", () => {
  const yaml = createRequire(path.join(TOOLS, "package.json")) as (name: "yaml") => {
    parse(text: string): unknown;
  };
  const parse = (file: string) => yaml("yaml").parse(read(file));

  it.each(WORKFLOWS)("%s is a valid workflow", async (file) => {
    await expect(validate(file)).resolves.toMatchObject({ stderr: "" });
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
});
