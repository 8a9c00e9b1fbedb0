#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { idpauth } from "./check.js";

// The exit code is set, not forced, so that a pipe gets all of the output.
process.exitCode = idpauth(
  process.env,
  process.argv.slice(2),
  (text, stream) => process[stream].write(text),
  (path) => readFileSync(path, "utf8"),
);
