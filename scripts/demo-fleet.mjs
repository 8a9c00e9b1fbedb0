// Builds the package and the demo, then runs the fleet in this very process, as start.mjs does with the demo. With --built it
// takes what is built already, so that tests can run it while others read dist/.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { node, root } from "./run.mjs";

const scripts = process.argv.includes("--built") ? [] : ["build.mjs", "build-demo.mjs"];
const isBuilt = scripts.every((script) => node([path.join(import.meta.dirname, script)]) === 0);
if (!isBuilt) process.exit(1);
await import(pathToFileURL(path.join(root, "demo/dist/fleet.js")).href);
