// Checks what each entry of the built package loads, so that no application loads the command line,
// the test kit or a server it lacks.
import ts from "typescript";
import { placeOf } from "./check-imports.mjs";

/** @typedef {import("./entries.mjs").Entry} Entry */

/** Folders of src/ that an application's entry must not load. */
const TOOLS = ["cli", "testing"];

const SERVERS = /^(?:node:)?(?:http|https|http2|net|tls)$/;

/**
 * @param {ReadonlyMap<string, string>} files path below dist/ -> text of the JavaScript file
 * @param {readonly Entry[]} entries
 * @returns {string[]} one line for each violation
 */
export function misplacedModules(files, entries) {
  return entries.flatMap((entry) => {
    const { loaded, imported } = reach(`${entry.module}.js`, files);
    const modules = [...loaded].flatMap((file) => modulesOf(files.get(file) ?? ""));
    const forbidden = forbiddenFolders(entry);
    const misplaced = modules.filter((module) => forbidden.includes(module.split("/")[1] ?? ""));
    const servers = isFetchStyle(entry) ? [...imported].filter((name) => SERVERS.test(name)) : [];
    return [...misplaced, ...servers].map((name) => `${entry.name} loads ${name}`);
  });
}

/**
 * @param {string} text a file of dist/
 * @returns {string[]} the modules of src/ that are in the file
 */
export function modulesOf(text) {
  return text.split("\n").flatMap((one) => /^\/\/ (src\/\S+\.ts)$/.exec(one)?.[1] ?? []);
}

/**
 * @param {string} start
 * @param {ReadonlyMap<string, string>} files
 */
function reach(start, files) {
  /** @type {Set<string>} */
  const loaded = new Set([start]);
  /** @type {Set<string>} packages, and modules of Node.js */
  const imported = new Set();
  for (const file of loaded) {
    const text = files.get(file);
    if (text === undefined) throw new Error(`dist/${file} is missing.`);
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      // The proxy's part for servers of node:http, which only their requests load, and the network
      // rules of a source of providers, which only an application with one loads.
      if (/\/(?:apis-over-node|tenants)\.js$/.test(fileName)) continue;
      if (fileName.startsWith("."))
        loaded.add(new URL(fileName, `file:///${file}`).pathname.slice(1));
      else imported.add(fileName);
    }
  }
  return { loaded, imported };
}

/** @param {Entry} entry */
function forbiddenFolders({ isProgram, module }) {
  if (isProgram) return [];
  return module.startsWith("testing/") ? ["cli"] : TOOLS;
}

/**
 * An adapter whose sources must not use Node.js runs in servers of the Fetch kind, and imports
 * `idpauth/adapter`.
 *
 * @param {Entry} entry
 */
function isFetchStyle({ module }) {
  if (module === "adapter") return true;
  return module.startsWith("adapters/") && placeOf(`src/${module}.ts`)?.rule.builtins === false;
}
