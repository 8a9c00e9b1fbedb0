import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { withCommands } from "../../scripts/install-commands.mjs";

// docs/start/single-page-application.md shows the files of examples/spa-react, which
// test/examples/spa-react.matrix.test.ts builds, type-checks and runs. docs/about/rfc-10017.md
// names the test for each requirement.

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLE = path.join(ROOT, "examples/spa-react");
const PAGE = readFileSync(path.join(ROOT, "docs/start/single-page-application.md"), "utf8");
const REQUIREMENTS = readFileSync(path.join(ROOT, "docs/about/rfc-10017.md"), "utf8");

/** `npm run check` compares them with the page. */
const shown = [...PAGE.matchAll(/^<!-- snippet: examples\/spa-react\/([\w./]+) -->$/gm)].map(
  ([, file]) => file,
);

/** The rows of the table of requirements. */
const rows = [...REQUIREMENTS.matchAll(/^\| (6\.1\.\d[\d.]*: .*?) \| (.*) \| (.*?) \|$/gm)].map(
  ([, requirement = "", where = "", test = ""]) => ({
    requirement,
    where,
    tests: [...test.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  }),
);

const testFiles = readdirSync(path.join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
  .map((file) => readFileSync(path.join(ROOT, "test", file), "utf8"));

describe("docs/start/single-page-application.md", () => {
  it("shows every source of the example", () => {
    const sources = readdirSync(EXAMPLE, { recursive: true, encoding: "utf8" })
      .map((file) => file.replaceAll(path.sep, "/"))
      .filter(
        (file) =>
          /\.(?:mjs|tsx?|html)$|^tsconfig\.json$/.test(file) &&
          !/(?:^|\/)(?:node_modules|dist)\//.test(file),
      );
    expect(shown.sort()).toEqual(sources.sort());
  });

  it("names the packages of the example", () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(path.join(EXAMPLE, "package.json"), "utf8"),
    ) as {
      dependencies: object;
      devDependencies: object;
    };
    const [, installed = "", developed = ""] =
      /^npm install (.*)\nnpm install --save-dev (.*)$/m.exec(withCommands(PAGE, undefined)) ?? [];
    expect(installed.split(" ").sort()).toEqual(Object.keys(dependencies).sort());
    expect(developed.split(" ").sort()).toEqual(Object.keys(devDependencies).sort());
  });
});

describe("docs/about/rfc-10017.md", () => {
  it("has a table of the requirements", () => {
    expect(rows.length).toBe(REQUIREMENTS.match(/^\| 6\./gm)?.length);
    expect(rows.length).toBeGreaterThan(15);
  });

  it.each(rows)("$requirement: its tests exist", ({ where, tests }) => {
    expect(where).not.toBe("");
    expect(tests.length).toBeGreaterThan(0);
    for (const test of tests) {
      const exists = test.startsWith("test/")
        ? existsSync(path.join(ROOT, test))
        : testFiles.some((text) => text.includes(test));
      expect(exists, test).toBe(true);
    }
  });
});
