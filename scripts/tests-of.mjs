// The test files of one adapter or one store, found by their names: `koa.test.ts`,
// `conformance.koa.matrix.test.ts`, `redis-cluster.matrix.test.ts`.
import { readdirSync } from "node:fs";
import path from "node:path";
import { root } from "./run.mjs";

/**
 * The first folder belongs to the adapters or stores alone, so what is in it and names none of them
 * tests all of them. Without test/processes, which takes as long again.
 */
const FOLDERS = {
  adapter: ["test/adapters", "test/browser"],
  store: ["test/stores"],
};

/**
 * @param {"adapter" | "store"} kind
 * @param {string} name
 * @returns {readonly string[]} paths below the project's root
 * @throws Error no adapter or store has that name
 */
export function testsOf(kind, name) {
  const names = namesOf(kind);
  if (!names.includes(name))
    throw new Error(`No ${kind} has the name "${name}". Choose one of: ${names.join(", ")}`);
  const [own = "", ...others] = FOLDERS[kind];
  const forAll = testFiles(own).filter((file) => !names.some((each) => isFor(file, each)));
  return [...forAll, ...[own, ...others].flatMap(testFiles).filter((file) => isFor(file, name))];
}

/**
 * @param {"adapter" | "store"} kind
 * @returns {readonly string[]}
 */
export function namesOf(kind) {
  if (kind === "store")
    return readdirSync(path.join(root, "src/stores")).filter((entry) => path.extname(entry) === "");
  return testFiles("test/adapters").flatMap(
    (file) => /\/conformance\.(\w+)\./.exec(file)?.[1] ?? [],
  );
}

/** @param {string} folder */
function testFiles(folder) {
  return readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `${folder}/${file}`);
}

/**
 * @param {string} file
 * @param {string} name
 */
function isFor(file, name) {
  return `.${path.posix.basename(file).replaceAll("-", ".")}`.includes(
    `.${name.replaceAll("-", ".")}.`,
  );
}
