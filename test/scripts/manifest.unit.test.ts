import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { packageEntries, sourcePaths } from "../../scripts/entries.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) =>
  JSON.parse(readFileSync(path.join(ROOT, file), "utf8")) as Record<
    string,
    Record<string, unknown>
  >;

/** The names that a list of exports names, types included. */
function exportsOf(file: string): string[] {
  const text = readFileSync(path.join(ROOT, file), "utf8");
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    const list = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    if (list === undefined || !ts.isNamedExports(list)) throw new Error(`${file}: not a list`);
    return list.elements.map(({ name }) => name.text);
  });
}

describe("the lists of exports", () => {
  const forApplications = exportsOf("src/index.ts");

  it("has each name in one list", () => {
    const all = [...forApplications, ...exportsOf("src/adapter.ts")];
    expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([]);
  });
});

describe("the project's package.json", () => {
  it("has scripts that cmd.exe runs, too: programs of Node.js and npm, joined by &&", () => {
    const commands = Object.values(read("package.json")["scripts"]!).flatMap((script) =>
      String(script).split(" && "),
    );
    expect(
      commands.filter(
        (command) => !/^(?:node|npm run|prettier|eslint|tsc) [\w ./:-]+$/.test(command),
      ),
    ).toEqual([]);
  });

  it("names entries that are built from a file of src/, with the types next to the JavaScript", () => {
    for (const { module } of packageEntries())
      expect(existsSync(path.join(ROOT, `src/${module}.ts`)), module).toBe(true);
    for (const target of Object.values(read("package.json")["exports"]!)) {
      if (typeof target === "string") continue;
      const { types, default: file } = target as { types: string; default: string };
      expect(types).toBe(file.replace(/\.js$/, ".d.ts"));
    }
  });

  it("and tsconfig.json name the same entries", () => {
    const { config } = ts.readConfigFile(path.join(ROOT, "tsconfig.json"), (file) =>
      readFileSync(file, "utf8"),
    ) as {
      config: { compilerOptions: { paths: unknown } };
    };
    expect(config.compilerOptions.paths).toEqual(sourcePaths());
  });

  it("has the version of idpauth-conformance, which needs exactly this one", () => {
    const { version } = read("package.json");
    const suites = read("packages/idpauth-conformance/package.json");
    expect(suites["version"]).toBe(version);
    expect(suites["peerDependencies"]).toEqual({ idpauth: version });
  });

  it("does not install what only one framework's tests or one command need", () => {
    const installed = Object.keys(read("package-lock.json")["packages"]!);
    const own = ["test/adapters/next-application", "scripts/mutation", "scripts/checks"].flatMap(
      (folder) =>
        Object.keys(read(`${folder}/package.json`)["devDependencies"]!).map(
          (name) => `node_modules/${name}`,
        ),
    );
    expect(own.length).toBeGreaterThan(5);
    // `idpauth/react` uses React as well.
    const shared = ["react", "react-dom", "@types/react", "@types/react-dom"].map(
      (name) => `node_modules/${name}`,
    );
    expect(installed.filter((name) => own.includes(name) && !shared.includes(name))).toEqual([]);
  });
});
