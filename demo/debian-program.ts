import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
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

/** Services that a package brings are not started: `policy-rc.d` says no meanwhile, unless the machine has its own. */
function install(command: string): void {
  const guard = "/usr/sbin/policy-rc.d";
  const script = `[ -e ${guard} ] || { printf '#!/bin/sh\\nexit 101\\n' > ${guard}; chmod +x ${guard}; trap 'rm -f ${guard}' EXIT; }\n${command}`;
  spawnSync("sh", ["-c", script], { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
