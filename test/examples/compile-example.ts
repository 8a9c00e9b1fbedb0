import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

const MODULES = path.resolve(import.meta.dirname, "../../node_modules");

/**
 * Checks the types of an example with a page: the page by its tsconfig.json, and these files of the
 * server strictly. Returns what the compiler reports.
 */
export async function compile(folder: string, files: readonly string[]): Promise<string> {
  const compilerOptions = {
    module: "nodenext",
    strict: true,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [path.join(MODULES, "@types")],
  };
  const server = path.join(folder, "tsconfig.server.json");
  writeFileSync(server, JSON.stringify({ compilerOptions, files }));
  return (await report(path.join(folder, "tsconfig.json"))) + (await report(server));
}

async function report(project: string): Promise<string> {
  const compiler = path.join(MODULES, "typescript/bin/tsc");
  return promisify(execFile)(process.execPath, [compiler, "-p", project]).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}
