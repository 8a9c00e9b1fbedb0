// Starts an example outside the project, with the packed package and its development provider:
// `npm run example -- fastify`. Builds first. PORT is the port; default 3000.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { endWithNpm } from "./end-with-npm.mjs";
import { packPackage } from "./pack-package.mjs";
import { headline, node, npm, npmCommand, root } from "./run.mjs";

endWithNpm();
const examples = path.join(root, "examples");
const name = process.argv[2] ?? "";
/** Examples that need more than one provider. Their READMEs tell how to start them. */
const OTHERS = ["express-complete"];
const names = readdirSync(examples)
  .filter((folder) => existsSync(path.join(examples, folder, "package.json")))
  .filter((folder) => !OTHERS.includes(folder));
if (!names.includes(name)) {
  console.error(`Name an example: npm run example -- ${names.join(" | ")}`);
  process.exit(1);
}

headline("Build: dist/");
if (node(["scripts/build.mjs"]) !== 0) process.exit(1);

const folder = mkdtempSync(path.join(tmpdir(), `idpauth-example-${name}-`));
process.on("exit", () => {
  rmSync(folder, { recursive: true, force: true });
});
cpSync(path.join(examples, name), folder, { recursive: true });
// Where npm can't download its binary, a build would take minutes.
if (readFileSync(path.join(folder, "package.json"), "utf8").includes("better-sqlite3"))
  for (const built of ["better-sqlite3", "bindings", "file-uri-to-path"])
    cpSync(path.join(root, "node_modules", built), path.join(folder, "node_modules", built), {
      recursive: true,
    });

headline(`Install: what examples/${name}/package.json asks for, and this idpauth`);
npm(["install", "--no-audit", "--no-fund", packPackage(folder).tarball], {
  cwd: folder,
  stdio: "inherit",
});

const port = process.env["PORT"] ?? "3000";
const origin = `http://localhost:${port}`;
const program = path.join(folder, "node_modules/idpauth/dist/cli/idpauth.js");
const provider = spawn(
  process.execPath,
  [program, "provider", "--port=0", `--base-url=${origin}`],
  {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  },
);
process.on("exit", () => provider.kill());
const settings = await settingsOf(provider);

headline(`Start: ${name}`);
const { command, first } = npmCommand();
const child = spawn(command, [...first, "start"], {
  cwd: folder,
  stdio: "inherit",
  env: {
    ...process.env,
    PORT: port,
    ...settings,
  },
});
// The terminal tells the example by itself; whoever tells only this process, means the example.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, () => child.kill(signal));
child.on("close", (code) => process.exit(code ?? 0));

/**
 * Waits until the provider runs.
 *
 * @param {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, null>} running
 * @returns {Promise<Record<string, string>>} the application's settings, which it prints
 */
async function settingsOf(running) {
  let printed = "";
  for await (const text of running.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(text);
    if (printed.includes("Ctrl+C ends the provider.")) break;
  }
  running.stdout.resume();
  return Object.fromEntries(
    [...printed.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, variable, value]) => [variable, value]),
  );
}
