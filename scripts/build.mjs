// Builds the package: an empty dist/, so that no file of an earlier build is published, then the compiler.
import { chmodSync, existsSync, rmSync } from "node:fs";
import path from "node:path";
import { root, tool } from "./run.mjs";

rmSync(path.join(root, "dist"), { recursive: true, force: true });
const code = tool("typescript/bin/tsc", ["-p", "tsconfig.build.json"]);
const command = path.join(root, "dist/cli/idpauth.js");
if (existsSync(command)) chmodSync(command, 0o755);
process.exitCode = code;
