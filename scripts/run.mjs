// Starts a tool of this project and waits for it. One place, so that every script finds its tools and reports failure alike.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "..");

/**
 * Runs one of the tools that `npm ci` installed.
 *
 * @param {string} file path of its JavaScript inside node_modules
 * @param {readonly string[]} args
 * @returns {number} the exit code
 */
export function tool(file, args) {
  return node([path.join(root, "node_modules", file), ...args]);
}

/**
 * @param {readonly string[]} args
 * @returns {number} the exit code
 */
export function node(args) {
  const { status, error } = spawnSync(process.execPath, [...args], { cwd: root, stdio: "inherit" });
  if (error) throw error;
  // A process that a signal ended has no code.
  return status ?? 1;
}

/**
 * @param {string} file
 * @returns {unknown}
 */
export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** @param {string} text */
export function headline(text) {
  console.log(`\n── ${text} ${"─".repeat(Math.max(0, 76 - text.length))}`);
}
