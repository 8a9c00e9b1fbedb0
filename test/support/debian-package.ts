import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { tmpdir } from "node:os";

/** Where a program is, or why there is none. */
export type ProgramSearch =
  { readonly path: string } | { readonly path: undefined; readonly reason: string };

/** How to find a program on this machine; it is asked again after an installation. */
export type FindProgram = () => Promise<string | undefined>;

/** What the runs say about a program that is not there. */
interface Wanted {
  readonly name: string;
  /** Debian's packages, separated by spaces. */
  readonly packages: string;
}

/**
 * The path of a program that tests need: found on PATH (or in /usr/sbin and /usr/local/bin, which
 * not every PATH holds), else installed from Debian's package where that is possible. Undefined:
 * what needs it is to be skipped, and the reason is on stderr. Rejects instead when `CI` is `true`,
 * where nothing may be skipped unnoticed.
 *
 * @param debianPackage one package, or several separated by spaces
 */
export function ensureProgram(name: string, debianPackage: string): Promise<string | undefined> {
  return ensureFound({ name, packages: debianPackage }, () => onPath(name));
}

/**
 * As {@link ensureProgram}, for what does not lie on PATH: a library, or a program in a folder of
 * its own.
 */
export async function ensureFound(wanted: Wanted, find: FindProgram): Promise<string | undefined> {
  const search = await findOrInstall(wanted, find);
  if (search.path !== undefined) return search.path;
  const message = `no ${wanted.name}: ${search.reason}. Install it (Debian: apt-get install ${wanted.packages})`;
  if (process.env["CI"] === "true") throw new Error(message);
  process.stderr.write(`tests are skipped, ${message}\n`);
  return undefined;
}

/**
 * Finds, else installs when root has apt-get, and finds again. Never rejects; the caller decides
 * what an absence means.
 */
export async function findOrInstall(
  { name, packages }: Wanted,
  find: FindProgram,
  env: NodeJS.ProcessEnv = process.env,
): Promise<ProgramSearch> {
  const present = await find();
  if (present !== undefined) return { path: present };
  if (process.getuid?.() !== 0)
    return { path: undefined, reason: "none is installed, and only root could install it" };
  if ((await onPath("apt-get", env)) === undefined)
    return { path: undefined, reason: "none is installed, and there is no apt-get to install it" };
  process.stderr.write(`installing ${name} for the tests with apt-get, once ...\n`);
  const failure = await install(packages, env);
  const installed = await find();
  if (installed !== undefined) return { path: installed };
  return {
    path: undefined,
    reason: `none is installed, and apt-get did not bring it (${failure ?? "no such program afterwards"})`,
  };
}

/** The first executable file of this name on PATH. */
export async function onPath(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  for (const folder of [...(env["PATH"] ?? "").split(delimiter), "/usr/local/bin", "/usr/sbin"]) {
    if (folder !== "" && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Installs under a lock, since test files run in several processes; gives the last line of what
 * went wrong, if it did. The services that packages bring are not started: `policy-rc.d` says no
 * while this runs, unless the machine has its own.
 */
function install(packages: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const script = [
    "if [ ! -e /usr/sbin/policy-rc.d ]; then",
    "  printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d && trap 'rm -f /usr/sbin/policy-rc.d' EXIT && trap 'exit 1' HUP INT TERM",
    "fi",
    `apt-get install -y --no-install-recommends ${packages} || { apt-get update && apt-get install -y --no-install-recommends ${packages}; }`,
  ].join("\n");
  return new Promise((resolve) => {
    const child = spawn(
      "flock",
      [join(tmpdir(), "install-debian-packages.lock"), "sh", "-c", script],
      {
        env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      errors = (errors + chunk).slice(-2000);
    });
    child.on("error", (error) => {
      resolve(error.message);
    });
    child.on("close", (code) => {
      resolve(
        code === 0 ? undefined : errors.trim().split("\n").at(-1) || `exit code ${String(code)}`,
      );
    });
  });
}
