import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DemoConfigurationError } from "./configuration.js";

/** Where Debian keeps what only administrators have on their PATH. */
const MORE_FOLDERS = ["/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin"];

/**
 * A program's path: found, else installed by apt when root runs this.
 *
 * @param debianPackage what brings the program
 * @throws DemoConfigurationError it is not there, and how to get it
 */
export function needProgram(name: string, debianPackage: string): string {
  const found = findProgram(name);
  if (found !== undefined) return found;
  const command = `apt-get install -y --no-install-recommends ${debianPackage}`;
  const isPossible = process.getuid?.() === 0 && findProgram("apt-get") !== undefined;
  if (isPossible) {
    console.log(`Installing ${debianPackage} with apt-get, once …`);
    install(`${command} || { apt-get update && ${command}; }`);
  }
  const installed = findProgram(name);
  if (installed !== undefined) return installed;
  throw new DemoConfigurationError(
    `The fleet needs ${name}, which is not here${isPossible ? ", and apt-get did not bring it" : ""}. ` +
      `Debian and Ubuntu: sudo ${command}. Elsewhere: install it so that \`${name}\` can be run.`,
  );
}

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(path.delimiter), ...MORE_FOLDERS];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => path.join(folder, name))
    .find(isExecutable);
}

/**
 * Under a lock, which the project's tests take as well: each installation brings and removes
 * `policy-rc.d`.
 *
 * @param command for the shell
 */
function install(command: string): void {
  const lock = path.join(tmpdir(), "install-debian-packages.lock");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("flock", [lock, "sh", "-c", guarded(command)], {
    stdio: ["ignore", "ignore", "inherit"],
    env,
  });
}

/**
 * A shell script that runs the command while services which a package brings are not started:
 * `policy-rc.d` says no meanwhile, unless the machine has its own. It is gone afterwards, also when
 * the command was interrupted.
 */
export function guarded(command: string, guard = "/usr/sbin/policy-rc.d"): string {
  return `trap 'exit 1' HUP INT TERM
if [ ! -e ${guard} ]; then
  trap 'rm -f ${guard}' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > ${guard} && chmod +x ${guard}
fi
${command}`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
