// Runs an application with the packed package as its users do: as ES module and CommonJS on
// Node.js, on Bun and Deno, and bundled by esbuild and webpack; bundles every entry for browsers; and
// reads a stack trace.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { packageEntries } from "./entries.mjs";
import { needPackages } from "./framework-install.mjs";
import { packageProgram } from "./locked-packages.mjs";

/** What the application prints: the probe's response for a signed-out browser, twice. */
const PRINTED =
  /^express 200 \{"authenticated":false.*\}\nfetch 200 \{"authenticated":false.*\}\n$/;

/** Both adapters start, and respond to a probe. `import` becomes `require` for CommonJS. */
const APPLICATION = `
import express from "express";
import { idpAuth } from "idpauth/express";
import { idpAuth as fetchAuth } from "idpauth/fetch";

const options = {
  env: {},
  log: false,
  issuer: "https://login.example.com",
  clientId: "app",
  clientSecret: "secret",
  secretKey: "an example of a key of 32 bytes!",
  baseUrl: "http://localhost",
};
const print = async (name, response) =>
  console.log(name, response.status, await response.text());
const app = express();
const auth = idpAuth(options);
auth.mount(app);
auth.start();
const server = app.listen(0, "127.0.0.1", async () => {
  const { port } = server.address();
  await print("express", await fetch("http://127.0.0.1:" + port + "/idpauth/session"));
  const alone = fetchAuth(options);
  alone.start();
  await print("fetch", await alone.fetch(new Request("http://localhost/idpauth/session")));
  process.exit();
});
`;

const BROWSER_ENTRIES = packageEntries()
  .filter(({ isForBrowsers }) => isForBrowsers)
  .map(({ name }) => name);

/** A page's script, which prints each entry and what it exports: the warning only acts. */
const PAGE = BROWSER_ENTRIES.map(
  (name, index) => `
import * as entry${index} from "${name}";
console.log("${name}:", Object.keys(entry${index}).join(", "));`,
).join("");

const FAILURE = `
import { idpAuth } from "idpauth/fetch";
try {
  idpAuth().idpRequired("no function");
} catch (error) {
  console.log(error.stack);
}
`;

/**
 * @param {string} folder its node_modules has the package and Express
 * @param {string} tools the folder that esbuild and webpack are installed for
 * @returns {Promise<string[]>} one line for each way that fails
 */
export async function failingConsumers(folder, tools) {
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const write = (/** @type {string} */ name, /** @type {string} */ text) => {
    writeFileSync(path.join(folder, name), text);
    return name;
  };
  const module = write("app.mjs", APPLICATION);
  const required = APPLICATION.replace(
    /^import (.*?) from (".+");$/gm,
    (_, /** @type {string} */ names, from) =>
      `const ${names.replace(" as ", ": ")} = require(${from});`,
  );
  const [bun, deno] = await Promise.all([
    needPackages("test/recipes/bun"),
    needPackages("test/recipes/deno"),
  ]);
  await bundle(folder, tools);
  await bundlePage(folder, tools, write("page.mjs", PAGE));
  const node = process.execPath;
  /** @type {readonly (readonly [name: string, command: readonly string[]])[]} */
  const runs = [
    ["an ES module", [node, module]],
    ["CommonJS", [node, write("app.cjs", required)]],
    ["a module of Bun", [packageProgram(bun, "bun"), "run", module]],
    [
      "a module of Deno",
      [node, packageProgram(deno, "deno"), "run", "--allow-all", "--no-check", module],
    ],
    ["a bundle of esbuild, an ES module", [node, "esbuild/app.mjs"]],
    ["a bundle of esbuild, CommonJS", [node, "esbuild/app.cjs"]],
    ["a bundle of webpack", [node, "webpack/app.cjs"]],
  ];
  const failures = runs.flatMap(([name, command]) => {
    const { stdout, text } = run(folder, command);
    if (!PRINTED.test(stdout)) return [`failed: an application as ${name}: ${text}`];
    console.log(`An application runs as ${name}.`);
    return [];
  });
  const pages = ["esbuild/page.mjs", "webpack/page.mjs"].flatMap((file) => {
    const { stdout, text } = run(folder, [node, file]);
    const lacking = BROWSER_ENTRIES.filter((name) => !stdout.includes(`${name}:`));
    if (lacking.length > 0) return [`failed: ${lacking.join(", ")} in ${file}: ${text}`];
    console.log(`A page has ${BROWSER_ENTRIES.join(", ")}: ${file}.`);
    return [];
  });
  return [...failures, ...pages, ...unreadableStack(folder, write("failure.mjs", FAILURE))];
}

/**
 * Bundles the application, with Express only for CommonJS, which Express is.
 *
 * @param {string} folder
 * @param {string} tools
 */
async function bundle(folder, tools) {
  const load = createRequire(path.join(tools, "x.cjs"));
  const options = { bundle: true, platform: "node", absWorkingDir: folder, logLevel: "error" };
  const esbuild = load("esbuild");
  const file = "app.mjs";
  await esbuild.build({
    ...options,
    entryPoints: [file],
    format: "esm",
    outfile: "esbuild/app.mjs",
    external: ["express"],
  });
  await esbuild.build({
    ...options,
    entryPoints: [file],
    format: "cjs",
    outfile: "esbuild/app.cjs",
    // The SQLite store, which this application doesn't load, reads it.
    logOverride: { "empty-import-meta": "silent" },
  });
  const compiler = load("webpack")({
    context: folder,
    entry: `./${file}`,
    target: "node",
    mode: "production",
    output: { path: path.join(folder, "webpack"), filename: "app.cjs", chunkFilename: "[id].cjs" },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  if (stats.hasErrors()) throw new Error(stats.toString({ colors: false }));
}

/**
 * Bundles the entries for browsers, which fails if one imports a module of Node.js.
 *
 * @param {string} folder
 * @param {string} tools
 * @param {string} file
 */
async function bundlePage(folder, tools, file) {
  const load = createRequire(path.join(tools, "x.cjs"));
  await load("esbuild").build({
    bundle: true,
    platform: "browser",
    format: "esm",
    absWorkingDir: folder,
    logLevel: "error",
    entryPoints: [file],
    outfile: "esbuild/page.mjs",
  });
  const compiler = load("webpack")({
    context: folder,
    entry: `./${file}`,
    target: "web",
    mode: "production",
    output: { path: path.join(folder, "webpack"), filename: "page.mjs", publicPath: "" },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  if (stats.hasErrors()) throw new Error(stats.toString({ colors: false }));
}

/**
 * A stack trace must name a file and a line of `src/` with Node's source maps, and without them the
 * function in dist/. That line throws.
 *
 * @param {string} folder
 * @param {string} file
 */
function unreadableStack(folder, file) {
  const shipped = path.join(folder, "node_modules/idpauth");
  return ["--enable-source-maps", "--no-warnings"].flatMap((flag) => {
    const { stdout, text } = run(folder, [process.execPath, flag, file]);
    const [, place = "", line] =
      /at assertUsage \(.*?\/idpauth\/((?:src|dist)\/[\w/-]+\.[jt]s):(\d+):\d+\)/.exec(stdout) ??
      [];
    const isSource = place === "src/guard/guard-usage.ts";
    const code = place && readFileSync(path.join(shipped, place), "utf8").split("\n");
    const isThrow = code !== "" && (code[Number(line) - 1] ?? "").includes("throw new TypeError(");
    return isThrow && isSource === (flag === "--enable-source-maps")
      ? []
      : [`failed: a stack trace with ${flag}: ${text}`];
  });
}

/**
 * @param {string} folder
 * @param {readonly string[]} command
 */
function run(folder, [program = "", ...args]) {
  const { stdout, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  return { stdout, text: `${stdout}${stderr}${error ?? ""}` };
}
