// Runs the demo, or with the argument `fleet` the fleet, in this process. Builds first if a source
// changed since the last build.
import { runDemo } from "./demo-build.mjs";
import { printNode } from "./run.mjs";

printNode();
await runDemo(process.argv[2] === "fleet" ? "fleet.js" : "main.js");
