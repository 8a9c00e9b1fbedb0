// A provider from PyPI in a virtual environment of its own, which is kept between runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../run.mjs";

const run = promisify(execFile);

/** @returns {Promise<string | undefined>} what is missing on this machine, and how to get it */
export async function missingPython() {
  const isUsable = "import ensurepip, sys, venv; print(sys.version_info >= (3, 10))";
  const { stdout } = await run("python3", ["-c", isUsable]).catch(() => ({ stdout: "" }));
  return stdout.trim() === "True"
    ? undefined
    : "Python 3.10 or newer with venv is missing: install Debian's packages python3 and python3-venv.";
}

/**
 * @param {object} provider
 * @param {string} provider.name of the package, as in the requirements
 * @param {string} provider.title
 * @param {string} provider.folder where its requirements.txt is
 * @returns {{ version: string, python: () => Promise<string> }} `python`: the Python that has it,
 *   which is installed if it isn't there
 */
export function pythonEnvironment({ name, title, folder }) {
  const requirements = path.join(folder, "requirements.txt");
  const environment = path.join(root, "node_modules/.cache/interop", path.basename(folder));
  const pinned = readFileSync(requirements, "utf8");
  const version = new RegExp(`^${name}==(\\S+)`, "im").exec(pinned)?.[1] ?? "unknown";
  // Written last, so that an interrupted installation isn't used.
  const installed = path.join(environment, "installed.txt");
  return {
    version,
    async python() {
      const python = path.join(environment, "bin/python");
      const { stdout: own } = await run("python3", ["--version"]);
      const mark = createHash("sha256").update(own).update(pinned).digest("hex");
      if (existsSync(installed) && readFileSync(installed, "utf8") === mark) return python;
      console.log(`Download: ${title} ${version}, with pip`);
      rmSync(environment, { recursive: true, force: true });
      await run("python3", ["-m", "venv", environment]);
      await run(python, ["-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements]);
      writeFileSync(installed, mark);
      return python;
    },
  };
}
