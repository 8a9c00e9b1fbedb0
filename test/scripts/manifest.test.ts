import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => JSON.parse(readFileSync(path.join(ROOT, file), "utf8")) as Record<string, Record<string, unknown>>;

describe("the project's package.json", () => {
  it("has scripts that cmd.exe runs, too: programs of Node.js and npm, joined by &&", () => {
    const commands = Object.values(read("package.json")["scripts"]!).flatMap((script) => String(script).split(" && "));
    expect(commands.filter((command) => !/^(?:node|npm run|prettier|eslint|tsc) [\w ./:-]+$/.test(command))).toEqual([]);
  });

  it("does not install what only one framework's tests or one command need", () => {
    const installed = Object.keys(read("package-lock.json")["packages"]!);
    const own = ["test/adapters/next-application", "scripts/mutation", "scripts/check-package"].flatMap((folder) =>
      Object.keys(read(`${folder}/package.json`)["devDependencies"]!).map((name) => `node_modules/${name}`),
    );
    expect(own.length).toBeGreaterThan(5);
    expect(installed.filter((name) => own.includes(name))).toEqual([]);
  });
});
