// Canaille in a virtual environment of its own, which is kept between runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../../run.mjs";

const run = promisify(execFile);
const REQUIREMENTS = path.join(import.meta.dirname, "requirements.txt");
const ENVIRONMENT = path.join(root, "node_modules/.cache/interop/python");
/** Written last, so that an interrupted installation isn't used. */
const INSTALLED = path.join(ENVIRONMENT, "installed.txt");

export const VERSION =
  /^canaille==(\S+)/im.exec(readFileSync(REQUIREMENTS, "utf8"))?.[1] ?? "unknown";

/** @returns {Promise<string | undefined>} */
export async function missing() {
  const isUsable = "import ensurepip, sys, venv; print(sys.version_info >= (3, 10))";
  const { stdout } = await run("python3", ["-c", isUsable]).catch(() => ({ stdout: "" }));
  return stdout.trim() === "True"
    ? undefined
    : "Python 3.10 or newer with venv is missing: install Debian's packages python3 and python3-venv.";
}

/** @returns {Promise<string>} the Python that has Canaille */
export async function installedPython() {
  const python = path.join(ENVIRONMENT, "bin/python");
  const { stdout: version } = await run("python3", ["--version"]);
  const wanted = createHash("sha256").update(version).update(readFileSync(REQUIREMENTS));
  const mark = wanted.digest("hex");
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, "utf8") === mark) return python;
  console.log(`Download: Canaille ${VERSION}, with pip`);
  rmSync(ENVIRONMENT, { recursive: true, force: true });
  await run("python3", ["-m", "venv", ENVIRONMENT]);
  await run(python, ["-m", "pip", "install", "--quiet", "--no-deps", "-r", REQUIREMENTS]);
  writeFileSync(INSTALLED, mark);
  return python;
}
