import listed from "../../.devcontainer/packages.json" with { type: "json" };
import { findProgram, installPackages } from "../../scripts/debian-program.mjs";

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
 * The path of a program that tests need: found on PATH (or in a folder that not every
 * PATH contains), or, when `CI` is `true`, installed from Debian's package. Undefined: what needs it
 * is to be skipped, and the reason is on stderr. Rejects instead when `CI` is `true`, where nothing
 * may be skipped unnoticed.
 *
 * @param debianPackage one package, or several separated by spaces
 */
export function ensureProgram(name: string, debianPackage: string): Promise<string | undefined> {
  return ensureFound({ name, packages: debianPackage }, () => findProgram(name));
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
 * Finds a program. When `CI` is `true` and root has apt-get, also installs it and finds it again: a
 * test changes no machine of its own accord. The caller decides what an absence means.
 *
 * @throws Error the list of the dev container lacks a package
 */
export async function findOrInstall(
  { name, packages }: Wanted,
  find: FindProgram,
  env: NodeJS.ProcessEnv = process.env,
): Promise<ProgramSearch> {
  const unlisted = packages.split(" ").filter((one) => !listed.includes(one));
  if (unlisted.length > 0)
    throw new Error(`Add to .devcontainer/packages.json: ${unlisted.join(", ")}`);
  const present = await find();
  if (present !== undefined) return { path: present };
  if (env["CI"] !== "true") return { path: undefined, reason: "none is installed" };
  if (process.getuid?.() !== 0)
    return { path: undefined, reason: "none is installed, and only root could install it" };
  if ((await findProgram("apt-get", env)) === undefined)
    return { path: undefined, reason: "none is installed, and there is no apt-get to install it" };
  process.stderr.write(`installing ${name} for the tests with apt-get, once ...\n`);
  const failure = await installPackages(packages, env);
  const installed = await find();
  if (installed !== undefined) return { path: installed };
  return {
    path: undefined,
    reason: `none is installed, and apt-get did not bring it (${failure ?? "no such program afterwards"})`,
  };
}
