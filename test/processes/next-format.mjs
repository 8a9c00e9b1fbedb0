// Loaded before a process (`--import`) it makes of it the next version of the package: the same
// code, another record format.
import { register } from "node:module";

register("./next-format-hooks.mjs", import.meta.url);
