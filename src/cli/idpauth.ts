#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { systemClock } from "../core/time.js";
import { idpauth } from "./check.js";
import type { LiveWorld } from "./live/world.js";

/** Milliseconds after which a finished check leaves, whatever a module of the project has left running. */
const LEAVE = 2_000;

const world: LiveWorld = {
  clock: systemClock,
  fetch: (input, init) => fetch(input, init),
  folder: process.cwd(),
  isTerminal: process.stderr.isTTY,
  async importModule(file, env) {
    Object.assign(process.env, env);
    return (await import(pathToFileURL(file).href)) as unknown;
  },
};

// The exit code is set, not forced, so that a pipe gets all of the output.
process.exitCode = await idpauth(
  process.env,
  process.argv.slice(2),
  (text, stream) => process[stream].write(text),
  (path) => readFileSync(path, "utf8"),
  world,
);
// Keeps nothing alive itself: it fires only where something else does.
setTimeout(() => process.exit(), LEAVE).unref();
