// Programs of Debian's packages, for scripts and tests that run a real server.
import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Folders of programs that a PATH may lack. */
const MORE_FOLDERS = ["/usr/local/bin", "/usr/local/sbin", "/usr/sbin"];

/**
 * A program's path: found, or, with CI=true, installed by apt if root runs this.
 *
 * @param {string} name
 * @param {string} debianPackage
 * @returns {Promise<string>}
 * @throws Error it isn't there, and how to get it
 */
export async function needProgram(name, debianPackage) {
  const found = await findProgram(name);
  if (found !== undefined) return found;
  const isPossible =
    process.env["CI"] === "true" &&
    process.getuid?.() === 0 &&
    (await findProgram("apt-get")) !== undefined;
  if (isPossible) {
    console.log(`Installing ${debianPackage} with apt-get, once …`);
    await installPackages(debianPackage);
  }
  const installed = await findProgram(name);
  if (installed !== undefined) return installed;
  throw new Error(
    `${name} isn't installed${isPossible ? ", and apt-get didn't install it" : ""}. ` +
      `Debian and Ubuntu: sudo ${commandFor(debianPackage)}. Elsewhere: install it so that \`${name}\` can be run.`,
  );
}

/**
 * The first executable file of this name on PATH, or in a folder that not every PATH contains.
 *
 * @param {string} name
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string | undefined>}
 */
export async function findProgram(name, env = process.env) {
  for (const folder of [...(env["PATH"] ?? "").split(path.delimiter), ...MORE_FOLDERS]) {
    const file = path.join(folder, name);
    if (folder !== "" && (await isExecutable(file))) return file;
  }
  return undefined;
}

/**
 * @param {string} file
 * @returns {Promise<boolean>}
 */
export function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Installs packages, one process at a time.
 *
 * @param {string} packages separated by spaces
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string | undefined>} the last line of what went wrong, if it did
 */
export function installPackages(packages, env = process.env) {
  const command = commandFor(packages);
  const script = guarded(`${command} || { apt-get update && ${command}; }`);
  return new Promise((resolve) => {
    const child = spawn(
      "flock",
      [path.join(tmpdir(), "install-debian-packages.lock"), "sh", "-c", script],
      {
        env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      errors = (errors + String(chunk)).slice(-2000);
    });
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => {
      const reason = errors.trim().split("\n").at(-1);
      resolve(code === 0 ? undefined : reason || `exit code ${String(code)}`);
    });
  });
}

/** @param {string} packages */
function commandFor(packages) {
  return `apt-get install -y --no-install-recommends ${packages}`;
}

/**
 * A shell script that runs the command while services which a package brings aren't started:
 * `policy-rc.d` says no meanwhile, unless the machine has its own. It is removed afterwards, also
 * if the command was interrupted.
 *
 * @param {string} command
 * @param {string} [guard]
 */
export function guarded(command, guard = "/usr/sbin/policy-rc.d") {
  return `trap 'exit 1' HUP INT TERM
if [ ! -e ${guard} ]; then
  trap 'rm -f ${guard}' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > ${guard} && chmod +x ${guard}
fi
${command}`;
}
