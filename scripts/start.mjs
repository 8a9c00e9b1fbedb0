// Runs the demo in this process. Builds first if a source has changed since the last build.
import { runDemo } from "./built.mjs";

await runDemo("main.js");
