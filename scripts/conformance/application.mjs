// Installs the packed package for the application, and starts the application for each module.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { freePort, startProgram } from "../interop/processes.mjs";
import { packPackage } from "../pack-package.mjs";
import { node, root } from "../run.mjs";

const PROGRAM = "application-program.mjs";
/** What the package and the program import beside it. */
const DEPENDENCIES = ["express", "jose", "oauth4webapi", "undici"];

/**
 * @param {string} folder gets the application and its node_modules
 */
export function installApplication(folder) {
  const modules = path.join(folder, "node_modules");
  const unpacked = path.join(modules, "idpauth");
  mkdirSync(unpacked, { recursive: true });
  if (node([path.join(root, "scripts/build.mjs")]) !== 0) throw new Error("The build failed.");
  const { tarball } = packPackage(folder);
  execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  for (const name of DEPENDENCIES)
    symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  copyFileSync(path.join(import.meta.dirname, PROGRAM), path.join(folder, PROGRAM));
}

/**
 * @param {object} options
 * @param {string} options.folder that has it installed
 * @param {Record<string, string>} options.env its settings
 * @param {string} options.authority file of the CA that it trusts
 * @returns {Promise<{ port: number, output: () => string, end: () => Promise<void> }>}
 */
export async function startApplication({ folder, env, authority }) {
  const port = await freePort();
  const program = await startProgram({
    command: process.execPath,
    args: [path.join(folder, PROGRAM)],
    env: { ...env, PORT: String(port), NODE_EXTRA_CA_CERTS: authority },
    ready: /^application: ready$/m,
  });
  return { port, output: program.output, end: program.end };
}
