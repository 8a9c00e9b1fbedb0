// Builds the demo against the built package, through its public entries only.
import { rmSync } from "node:fs";
import path from "node:path";
import { root, tool } from "./run.mjs";

rmSync(path.join(root, "demo/dist"), { recursive: true, force: true });
process.exitCode = tool("typescript/bin/tsc", ["-p", "tsconfig.demo.json"]);
