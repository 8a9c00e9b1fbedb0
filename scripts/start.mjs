// Builds the package and the demo, then runs the demo in this very process. With `exec` before it in package.json no shell
// stands between npm and the demo, which would swallow the signals that npm passes on.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { node, root } from "./run.mjs";

const isBuilt = ["build.mjs", "build-demo.mjs"].every((script) => node([path.join(import.meta.dirname, script)]) === 0);
if (!isBuilt) process.exit(1);
await import(pathToFileURL(path.join(root, "demo/dist/main.js")).href);
