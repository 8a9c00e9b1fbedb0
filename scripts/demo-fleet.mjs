// Runs the fleet in this process, as start.mjs runs the demo.
import { runDemo } from "./built.mjs";

await runDemo("fleet.js");
