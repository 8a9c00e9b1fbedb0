// Compiles TypeScript to the JavaScript that runs. It checks no types and writes none, so it takes
// a few seconds.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";
import { rollup } from "rollup";
import ts from "typescript";
import { isShipped, packageEntries, sourceOf } from "./entries.mjs";
import { root } from "./run.mjs";
import { mapOfLines } from "./source-maps.mjs";

/**
 * Packages and Node's own modules. The project's own files start with a dot, a slash or, on
 * Windows, a drive's letter.
 */
const EXTERNAL = /^(?:@|[a-z](?!:[\\/]))/;

/** One that has its lines to itself. */
const DOCSTRING = /^ *\/\*\*(?:(?!\*\/).)*\*\/$/gms;

/** @type {import("rolldown").OutputOptions} */
export const MINIFIED = { format: "esm", minify: true, comments: false };

const FOR_BROWSERS = {
  cwd: root,
  external: EXTERNAL,
  platform: /** @type {const} */ ("browser"),
  onLog: withoutDirectives,
  resolve: { extensionAlias: { ".js": [".ts"] } },
  // "sideEffects" of package.json names files of dist/.
  treeshake: { moduleSideEffects: [{ test: /./, sideEffects: true }] },
  // The paths in it are for the type check and the tests.
  tsconfig: /** @type {const} */ (false),
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
    /^(?:[^/]+$|auth\/(?!event-streams)|(?:access|application|config|events|guard|http|node-http|ports|record|work)\/|stores\/(?:[^/]+$|memory\/)|sessions\/(?!sign-in-for-tests|session-stream|event-text)|pages\/(?!locales\/(?!en\.)|(?:chooser|common|error|landing|organization|other-user|popup|sessions)-pages?\.|style\.)|endpoints\/(?!(?:apex-callback|backchannel-logout|debug|events|frontchannel-logout|landing-page|logout-at-provider|organization|page-endpoints|popup|posted-email|posted-form|provider-chooser|session-list)\.))/,
  ],
  // The first use loads it. Keys of tokens and certificates of clients are loaded where they're set.
  ["provider", /^provider\/(?!certificates\/|dpop\/)/],
  [
    "apis-over-node",
    /^apis\/(?:fetch-api-stream|proxy-over-node|undici-transport|api-connections|arriving-response|idle-timer|outlive-write-errors|request-bodies|web-responses|websocket)\.ts$/,
  ],
  ["apis", /^apis\//],
  // An application with a source of providers loads it.
  ["tenants", /^tenants\/(?!check-provider|proxy-from-environment)/],
  ["test-provider", /^testing\/(?:certificates\/|provider\/|loopback-hostname\.|running-clock\.)/],
  ["testing", /^testing\/(?!index)/],
];

/**
 * OUTPUT repeats the "use client" of `idpauth/react`.
 *
 * @template Level
 * @template {{ code?: string | undefined }} Log
 * @param {Level} level
 * @param {Log} log
 * @param {(level: Level, log: Log) => void} report
 */
function withoutDirectives(level, log, report) {
  if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
}

/** @type {import("rollup").InputOptions} */
const INPUT = {
  external: EXTERNAL,
  // It takes statements out of functions, such as one that adds a private field to an object.
  treeshake: false,
  onLog: withoutDirectives,
};

/** @type {import("rollup").OutputOptions} */
const OUTPUT = {
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  generatedCode: "es2015",
  hoistTransitiveImports: false,
  banner: ({ name }) => (name === "react/react" ? '"use client";' : ""),
  manualChunks: (id) => {
    const module = placeOf(id).slice("src/".length);
    return CHUNKS.find(([, modules]) => modules.test(module))?.[0];
  },
  minifyInternalExports: false,
  sourcemap: "hidden",
  sourcemapExcludeSources: true,
};

/**
 * Bundles the package into readable files: one for each entry, and those that the server's entries
 * share.
 *
 * @param {string} folder
 */
export async function bundlePackage(folder) {
  const entries = packageEntries();
  const plugins = [typescript()];
  const write = async (/** @type {typeof entries} */ some) => {
    const bundle = await rollup({ ...INPUT, input: inputOf(some), plugins });
    const { output } = await bundle.generate({ ...OUTPUT, dir: folder });
    for (const file of output) if (file.type === "chunk") writeChunk(file, folder);
    await bundle.close();
  };
  await write(entries.filter(({ isForBrowsers }) => !isForBrowsers));
  // The entries for browsers share no file with the server. Each finds the same client of the page.
  await write(entries.filter(({ isForBrowsers, isWhole }) => isForBrowsers && !isWhole));
  for (const entry of entries.filter(({ isWhole }) => isWhole))
    await withBrowserBundle([entry], (bundle) =>
      bundle.write({ ...MINIFIED, file: path.join(folder, `${entry.module}.js`) }),
    );
  for (const { module } of entries.filter(({ isProgram }) => isProgram))
    chmodSync(path.join(folder, `${module}.js`), 0o755);
}

/**
 * Writes a file, and its source map if all its sources are in the package. Another file is its own
 * source.
 *
 * @param {import("rollup").OutputChunk} chunk
 * @param {string} folder
 */
function writeChunk({ name, fileName, code: text, map, moduleIds }, folder) {
  const file = path.join(folder, fileName);
  mkdirSync(path.dirname(file), { recursive: true });
  // V8 reads ASCII characters faster, and every application loads this file.
  const code = name === "core" ? text.replace(/[^\0-\x7f]/g, escaped) : text;
  const isMapped = moduleIds.length > 0 && moduleIds.every((id) => isShipped(placeOf(id)));
  if (!isMapped || map === null) {
    writeFileSync(file, code);
    return;
  }
  writeFileSync(file, `${code}//# sourceMappingURL=${path.basename(file)}.map\n`);
  writeFileSync(`${file}.map`, mapOfLines(map));
}

/** @param {string} character of a string or a comment */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * @param {string} id Rollup's name of a module
 * @returns {string} its path from the project's root, with slashes
 */
function placeOf(id) {
  return path.relative(root, id).replaceAll(path.sep, "/");
}

/**
 * Erases the types, and keeps the names and the comments, except the docstrings: the types and
 * `src/` have them, and a third copy would make the package 6 % larger.
 *
 * @returns {import("rollup").Plugin}
 */
function typescript() {
  /** @type {Map<string, string>} */
  const written = new Map();
  const folder = path.join(root, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, file));
  /** @type {ts.CompilerOptions} */
  const options = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    noCheck: true,
    noLib: true,
    noResolve: true,
    types: [],
    sourceMap: true,
    rootDir: folder,
    outDir: folder,
  };
  const host = ts.createCompilerHost(options);
  // The other lines keep their numbers.
  host.readFile = (file) =>
    readFileSync(file, "utf8").replace(DOCSTRING, (text) => text.replace(/[^\n]+/g, ""));
  ts.createProgram(files, options, host).emit(
    undefined,
    (file, text) => void written.set(path.normalize(file), text),
  );
  return {
    name: "typescript",
    resolveId: (id, from) =>
      id.startsWith(".") && from !== undefined
        ? path.resolve(path.dirname(from), id.replace(/\.js$/, ".ts"))
        : undefined,
    load(id) {
      const file = id.replace(/\.ts$/, ".js");
      const map = JSON.parse(written.get(`${file}.map`) ?? "");
      return {
        code: (written.get(file) ?? "").replace(/^(?:#!.*\n)?/, `$&// ${placeOf(id)}\n`),
        map: { ...map, mappings: `;${map.mappings}` },
      };
    },
  };
}

/**
 * Bundles the code of entries for browsers: they share no file with the server.
 *
 * @template Result
 * @param {readonly import("./entries.mjs").Entry[]} entries
 * @param {(bundle: import("rolldown").RolldownBuild) => Promise<Result>} use
 */
export async function withBrowserBundle(entries, use) {
  const bundle = await rolldown({ ...FOR_BROWSERS, input: inputOf(entries) });
  try {
    return await use(bundle);
  } finally {
    await bundle.close();
  }
}

/** @param {readonly import("./entries.mjs").Entry[]} entries */
function inputOf(entries) {
  return Object.fromEntries(
    entries.map((entry) => [entry.module, path.join(root, sourceOf(entry))]),
  );
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
  cpSync(path.join(source, "public"), path.join(folder, "public"), { recursive: true });
  for (const file of readdirSync(source).filter((name) => name.endsWith(".ts"))) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(source, file), "utf8"), {
      compilerOptions,
      fileName: file,
    });
    writeFileSync(path.join(folder, file.replace(/\.ts$/, ".js")), outputText);
  }
}
