// Compiles TypeScript to the JavaScript that runs. It checks no types and writes none, so it takes about a second.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import ts from "typescript";
import { packageEntries } from "./entries.mjs";
import { root } from "./run.mjs";

/** Packages and Node's own modules. The project's own files start with a dot, a slash or, on Windows, a drive's letter. */
const EXTERNAL = /^(?:@|[a-z](?!:[\\/]))/;

/**
 * The files that the entries share: for each, which modules of src/ it has. The layers go up, so that a file imports only files before
 * it. One file for each folder loads in half the time of one file for each module, and a stack trace still names the folder and the function.
 *
 * @type {readonly (readonly [name: string, modules: RegExp])[]}
 */
const CHUNKS = [
  ["base", /^(?:clock|error|ports\/)/],
  ["record", /^record\//],
  ["http", /^http\//],
  ["config", /^config\//],
  ["events", /^events\//],
  ["pages", /^pages\//],
  // What all stores share, and the default store. An application loads the other stores by their own entries.
  ["stores", /^stores\/(?:[^/]+$|memory\/)/],
  ["access", /^access\//],
  ["sessions", /^sessions\//],
  ["endpoints", /^endpoints\//],
  // The first use loads it.
  ["provider", /^provider\/(?!lazy-)/],
  ["compose", /^(?:[^/]+$|provider\/lazy-)/],
  ["test-provider", /^testing\/provider\//],
  ["testing", /^testing\/(?!index)/],
  ["conformance", /^conformance\//],
];

/**
 * Bundles the package into readable files: one for each entry, and those that entries share.
 *
 * @param {string} folder
 */
export async function bundlePackage(folder) {
  const entries = packageEntries();
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map(({ module }) => [module, `src/${module}.ts`])),
    external: EXTERNAL,
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts"] } },
    // The paths in it are for the type check and the tests.
    tsconfig: false,
  });
  const groups = CHUNKS.map(([name, modules], index) => ({
    name,
    priority: CHUNKS.length - index,
    test: (/** @type {string} */ id) => modules.test(path.relative(path.join(root, "src"), id).replaceAll(path.sep, "/")),
  }));
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    // The types have the docstrings. A line with the name of each module stays.
    comments: { jsdoc: false },
    minifyInternalExports: false,
    codeSplitting: { groups },
  });
  await bundle.close();
  for (const { module } of entries.filter((entry) => entry.isProgram)) chmodSync(path.join(folder, `${module}.js`), 0o755);
}

/**
 * Compiles the demo module by module. It imports the package by its name, as an application does.
 *
 * @param {string} folder gets one file for each file of demo/
 */
export function compileDemo(folder) {
  const source = path.join(root, "demo");
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    inlineSourceMap: true,
  };
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(source).filter((name) => name.endsWith(".ts"))) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(source, file), "utf8"), { compilerOptions, fileName: file });
    writeFileSync(path.join(folder, file.replace(/\.ts$/, ".js")), outputText);
  }
}
