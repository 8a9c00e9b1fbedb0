import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { SERVERS } from "../../scripts/interop/servers.mjs";
import { planOf } from "../../scripts/test-plan.mjs";

// The workflows run only on GitHub. Here, they are read by their lines.

const FOLDER = path.resolve(import.meta.dirname, "../../.github/workflows");
const WORKFLOWS = readdirSync(FOLDER);
const read = (file: string) => readFileSync(path.join(FOLDER, file), "utf8");

/** The text of each job, by its name. */
function jobsOf(file: string): Readonly<Record<string, string>> {
  const [, jobs = ""] = read(file).split(/^jobs:\n/m);
  const texts = jobs.split(/^ {2}(?=[\w-]+:\n)/m).slice(1);
  return Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf(":")), text]));
}

/** The text of each action, with its comment. */
const usesIn = (text: string) =>
  Array.from(text.matchAll(/^[ -]*uses: (.*)$/gm), ([, action = ""]) => action);

const commandsIn = (text: string) =>
  Array.from(text.matchAll(/^ +(?:- )?run: (.*)$/gm), ([, command = ""]) => command);

describe.each(WORKFLOWS)("the workflow %s", (file) => {
  it("pins each action by a commit, with its version, or is our own", () => {
    const actions = usesIn(read(file));
    expect(actions.length).toBeGreaterThan(3);
    expect(
      actions.filter(
        (action) =>
          !/^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action) &&
          action !== "./.github/workflows/test.yml",
      ),
    ).toEqual([]);
  });

  it("may only read, except for the job that publishes", () => {
    expect(read(file)).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    const others = Object.entries(jobsOf(file)).filter(([, text]) => text.includes("permissions:"));
    expect(others.map(([name]) => name)).toEqual(file === "release.yml" ? ["publish"] : []);
  });

  it("keeps no credentials in a checkout", () => {
    const checkouts = read(file).split("uses: actions/checkout@").slice(1);
    expect(checkouts.length).toBeGreaterThan(0);
    for (const text of checkouts)
      expect(text).toMatch(/^.*\n +with:\n +persist-credentials: false\n/);
  });
});

it("all workflows use the same commit of an action", () => {
  const actions = new Set(WORKFLOWS.flatMap((file) => usesIn(read(file))));
  const names = [...actions].map((action) => action.split("@")[0]);
  expect(new Set(names).size).toBe(names.length);
});

describe("a pull request", () => {
  it("runs without a secret, and never with the rights of the repository", () => {
    for (const file of WORKFLOWS) expect(read(file)).not.toContain("pull_request_target");
    const onPullRequests = WORKFLOWS.filter((file) => /^ {2}pull_request:/m.test(read(file)));
    expect(onPullRequests).toEqual(["test.yml"]);
    expect(read("test.yml")).not.toMatch(/secrets\b|github\.token/);
  });
});

describe("the weekly runs against real providers", () => {
  const jobs = jobsOf("interop.yml");

  it("begin by themselves or by hand, and know no secret", () => {
    expect(read("interop.yml")).toMatch(
      /^on:\n {2}schedule:\n {4}- cron: "\d+ \d+ \* \* \d"\n {2}workflow_dispatch:\n\n/m,
    );
    expect(read("interop.yml")).not.toMatch(/secrets\b|github\.token/);
  });

  it("are Keycloak and Hydra, and a failed run fails its job", () => {
    expect(Object.keys(jobs)).toEqual(["keycloak", "hydra"]);
    const known = SERVERS.map(({ key }) => key);
    expect(known).toEqual(expect.arrayContaining(Object.keys(jobs)));
    expect(read("interop.yml")).toMatch(/^defaults:\n {2}run:\n(?: +#.*\n)? {4}shell: bash\n\n/m);
    expect(read("interop.yml")).not.toContain("continue-on-error");
  });

  it.each(Object.entries(jobs))("keep what %s printed, good or bad", (name, text) => {
    expect(commandsIn(text).at(-1)).toBe(`npm run interop -- ${name} 2>&1 | tee ${name}.txt`);
    expect(text).toMatch(
      new RegExp(
        `actions/upload-artifact@.*\\n +if: \\$\\{\\{ !cancelled\\(\\) \\}\\}\\n +with:\\n +name: ${name}\\n +path: ${name}\\.txt\\n`,
      ),
    );
  });
});

describe("a release", () => {
  const { publish = "", prepare = "", ...others } = jobsOf("release.yml");
  it("begins with a tag only", () => {
    expect(read("release.yml")).toMatch(/^on:\n {2}push:\n {4}tags: \["v\*"\]\n\n/m);
  });

  it("needs the unit tests, the main tests, the matrix and the security table on Linux, and the unit tests elsewhere", () => {
    expect(others).toEqual({
      test: expect.stringContaining("uses: ./.github/workflows/test.yml") as string,
    });
    expect(publish).toContain("    needs: [test, prepare]\n");
    const tests = jobsOf("test.yml");
    expect(Object.keys(tests)).toEqual(["linux", "matrix", "macos-and-windows"]);
    expect(Object.values(tests).join("\n")).not.toMatch(/^ +(?:if|continue-on-error):/m);
    expect(tests["linux"]).toContain("runs-on: ubuntu-latest");
    expect(commandsIn(tests["linux"]!).at(-1)).toBe("npm test");
    expect(planOf("main", []).vitest).toEqual(
      expect.arrayContaining(["--project=unit", "--project=main"]),
    );
    expect(tests["matrix"]).toContain("runs-on: ubuntu-latest");
    expect(commandsIn(tests["matrix"]!).at(-1)).toBe("npm run test:matrix");
    expect(planOf("matrix", [])).toMatchObject({ table: true, recorder: true, packageCheck: true });
    expect(commandsIn(tests["macos-and-windows"]!).at(-1)).toBe("npm run test:unit");
  });

  it("publishes what `npm run release` has checked in a job that has no secret", () => {
    const commands = commandsIn(prepare);
    expect(commands.at(-1)).toBe("npm run release");
    expect(prepare).toMatch(/actions\/upload-artifact@.*\n +with:\n +name: release\n/);
    expect(prepare).not.toMatch(/secrets\b|github\.token/);
    expect(publish).toMatch(/actions\/download-artifact@.*\n +with:\n +name: release\n/);
    expect(publish).toContain("npm publish ./release/*.tgz --provenance");
    expect(publish).toContain("release/sbom.cdx.json");
    expect(publish).toContain("--notes-file release/notes.md");
  });

  it("runs no code of the repository and of its dependencies where it may publish", () => {
    expect(publish).not.toMatch(/actions\/checkout|npm (?:ci|install|run|test)|npx|node /);
  });
});
