// Compiles TypeScript to the JavaScript that runs. It checks no types and writes none, so it takes
// about a second.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import ts from "typescript";
import { packageEntries, sourceOf } from "./entries.mjs";
import { root } from "./run.mjs";

/**
 * Packages and Node's own modules. The project's own files start with a dot, a slash or, on
 * Windows, a drive's letter.
 */
const EXTERNAL = /^(?:@|[a-z](?!:[\\/]))/;

const COMMON = {
  cwd: root,
  external: EXTERNAL,
  resolve: { extensionAlias: { ".js": [".ts", ".tsx"] } },
  // The paths in it are for the type check and the tests.
  tsconfig: /** @type {const} */ (false),
  checks: {
    // `idpauth/react` begins with "use client", which Rolldown keeps at the start of an entry.
    moduleLevelDirective: false,
    // What one part loads late, another one that loads late may import at once.
    ineffectiveDynamicImport: false,
  },
};

const OUTPUT = {
  format: /** @type {const} */ ("esm"),
  entryFileNames: "[name].js",
  // The types have the docstrings. A line with the name of each module stays.
  comments: { jsdoc: false },
  minifyInternalExports: false,
};

/**
 * Shortens the names of local variables, 6 % of the packed code. Functions, classes and lines stay,
 * and so do the stack traces that name them.
 */
const SHORTER_LOCALS = {
  compress: false,
  mangle: { keepNames: { function: true, class: true } },
  codegen: { removeWhitespace: false },
};

/**
 * The files that the server's entries share: for each, which modules of src/ it has. What every
 * application loads is one file, because each file costs about a millisecond. Its lines name their
 * modules, and a stack trace names the function.
 *
 * @type {readonly (readonly [name: string, modules: RegExp])[]}
 */
const CHUNKS = [
  // What all stores share, and the default store. An application loads the other stores by their
  // own entries, each other language with its first page, what signs a user in without a provider
  // with the first test that needs it, the pages after the start, and what a setting turns on if it
  // is on.
  [
    "core",
    /^(?:[^/]+$|(?:access|application|auth|config|events|guard|http|ports|record|work)\/|stores\/(?:[^/]+$|memory\/)|sessions\/(?!sign-in-for-tests)|pages\/(?!locales\/(?!en\.)|(?:chooser|common|error|index|other-user|popup|sessions)-pages?\.|style\.)|endpoints\/(?!(?:backchannel-logout|debug|event-stream|frontchannel-logout|landing-page|logout-at-provider|page-endpoints|popup|posted-form|provider-chooser|session-list)\.))/,
  ],
  // The first use loads it.
  ["provider", /^provider\//],
  [
    "apis-over-node",
    /^apis\/(?:proxy-over-node|node-transport|connections|api-timeout|websocket)\.ts$/,
  ],
  ["apis", /^apis\//],
  ["test-provider", /^testing\/provider\//],
  ["testing", /^testing\/(?!index)/],
  ["conformance", /^conformance\//],
];

/**
 * Bundles the package into files with readable lines: one for each entry, and those that entries
 * share.
 *
 * @param {string} folder
 */
export async function bundlePackage(folder) {
  const entries = packageEntries().filter(({ isForBrowsers }) => !isForBrowsers);
  const bundle = await rolldown({ ...COMMON, input: inputOf(entries), platform: "node" });
  const groups = CHUNKS.map(([name, modules], index) => ({
    name,
    priority: CHUNKS.length - index,
    test: (/** @type {string} */ id) =>
      modules.test(path.relative(path.join(root, "src"), id).replaceAll(path.sep, "/")),
  }));
  await bundle.write({
    ...OUTPUT,
    minify: SHORTER_LOCALS,
    dir: folder,
    chunkFileNames: "chunks/[name].js",
    codeSplitting: { groups },
  });
  await bundle.close();
  for (const entry of packageEntries().filter(({ isForBrowsers }) => isForBrowsers)) {
    await withBrowserBundle(entry, (one) => one.write({ ...OUTPUT, dir: folder }));
  }
  for (const { module } of entries.filter((entry) => entry.isProgram))
    chmodSync(path.join(folder, `${module}.js`), 0o755);
}

/**
 * What no application loads: the suites for authors of stores and adapters, the commands, and the
 * test provider. A stack trace of these tells their users nothing, because a failure names the
 * requirement or the finding.
 */
const MINIFIED = ["conformance", "check-live", "provider-command", "test-provider"];

/**
 * Minifies the files that no application loads, a third of the package's code.
 *
 * @param {string} folder where `bundlePackage` wrote the package
 */
export async function minifyTools(folder) {
  for (const name of MINIFIED) {
    const file = path.join(folder, `chunks/${name}.js`);
    const bundle = await rolldown({
      input: file,
      external: () => true,
      treeshake: false,
      platform: "node",
    });
    await bundle.write({ file, format: "esm", minify: true, comments: false });
    await bundle.close();
  }
}

/**
 * Bundles the code of an entry for browsers, alone: it shares no file with the server.
 *
 * @template Result
 * @param {import("./entries.mjs").Entry} entry
 * @param {(bundle: import("rolldown").RolldownBuild) => Promise<Result>} use
 */
export async function withBrowserBundle(entry, use) {
  const bundle = await rolldown({ ...COMMON, input: inputOf([entry]), platform: "browser" });
  try {
    return await use(bundle);
  } finally {
    await bundle.close();
  }
}

/** @param {readonly import("./entries.mjs").Entry[]} entries */
function inputOf(entries) {
  return Object.fromEntries(entries.map((entry) => [entry.module, sourceOf(entry)]));
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
    const { outputText } = ts.transpileModule(readFileSync(path.join(source, file), "utf8"), {
      compilerOptions,
      fileName: file,
    });
    writeFileSync(path.join(folder, file.replace(/\.ts$/, ".js")), outputText);
  }
}
