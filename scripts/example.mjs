// Starts an example outside the project, with the packed package and its development provider:
// `npm run example -- fastify`. Builds first. PORT is the port; default 3000.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startDevelopmentProvider } from "./start-installed-provider.mjs";
import { endWithNpm } from "./end-with-npm.mjs";
import { packPackage } from "./pack-package.mjs";
import { headline, node, npm, npmCommand, root } from "./run.mjs";

endWithNpm();
const examples = path.join(root, "examples");
const name = process.argv[2] ?? "";
/** Examples that need more than one provider. Their READMEs tell how to start them. */
const OTHERS = ["express-complete", "tenants"];
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

headline(`Install: what examples/${name}/package.json asks for, and this idpauth`);
npm(["install", "--no-audit", "--no-fund", packPackage(folder).tarball], {
  cwd: folder,
  stdio: "inherit",
});

const port = process.env["PORT"] ?? "3000";
const origin = `http://localhost:${port}`;
const provider = await startDevelopmentProvider(folder, [`--base-url=${origin}`]);

headline(`Start: ${name}`);
const { command, first } = npmCommand();
const child = spawn(command, [...first, "start"], {
  cwd: folder,
  stdio: "inherit",
  env: {
    ...process.env,
    PORT: port,
    ...provider.env,
  },
});
// The terminal tells the example by itself; whoever tells only this process, means the example.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, () => child.kill(signal));
child.on("close", (code) => {
  void provider.stop().then(() => process.exit(code ?? 0));
});
