// Apache and the module from Debian's packages, unpacked into a folder instead of installed: the
// machine's own Debian may have a version that is years old, and nothing of the machine changes.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root as project } from "../../../scripts/run.mjs";

/** Debian's testing, where the newest version is. */
const SUITE = "forky";
const MODULE = "libapache2-mod-auth-openidc";
const APACHE = "apache2-bin";

const folder = path.join(project, "node_modules/.cache/compare/mod-auth-openidc");
const root = path.join(folder, "root");
const apt = path.join(folder, "apt");
const archives = path.join(apt, "cache/archives");

/**
 * @param {(text: string) => void} say
 * @returns {Promise<string | undefined>} why there is no program
 */
export async function unpackPackages(say) {
  if (existsSync(root)) return undefined;
  const archive = debianArchive();
  if (archive === undefined) return "it needs apt with an archive of Debian";
  writeAptConfiguration(archive);
  say(`downloading ${MODULE} of Debian's ${SUITE}, about 40 MB, once ...`);
  const failure =
    (await run("apt-get", ["update"])) ?? (await run("apt-get", ["--download-only", ...INSTALL]));
  if (failure !== undefined) return `apt-get failed: ${failure}`;
  const unpacked = `${root}.new`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked);
  for (const file of packageFiles()) {
    const error = await run("dpkg-deb", ["--extract", path.join(archives, file), unpacked]);
    if (error !== undefined) return `dpkg-deb failed: ${error}`;
  }
  renameSync(unpacked, root);
  say("unpacked");
  return undefined;
}

const INSTALL = ["install", "--yes", "--no-install-recommends", APACHE, MODULE];

/** @returns {string | undefined} the address of the archive that this machine's apt uses */
function debianArchive() {
  const format = "$(REPO_URI)|$(ORIGIN)|$(LABEL)|$(COMPONENT)";
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", format], {
    encoding: "utf8",
  });
  return stdout
    ?.split("\n")
    .map((line) => line.split("|"))
    .find(([, ...rest]) => rest.join(" ") === "Debian Debian main")?.[0];
}

/** apt's own state, with no package installed, so that it downloads every one that is needed. */
function writeAptConfiguration(archive) {
  for (const name of ["lists/partial", "cache/archives/partial"])
    mkdirSync(path.join(apt, name), { recursive: true });
  writeFileSync(path.join(apt, "status"), "");
  writeFileSync(
    path.join(apt, "debian.sources"),
    `Types: deb\nURIs: ${archive}\nSuites: ${SUITE}\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n`,
  );
  const settings = {
    "Dir::State": apt,
    "Dir::State::lists": path.join(apt, "lists"),
    "Dir::State::status": path.join(apt, "status"),
    "Dir::Cache": path.join(apt, "cache"),
    "Dir::Etc::sourcelist": path.join(apt, "debian.sources"),
    "Dir::Etc::sourceparts": "/dev/null",
    "APT::Sandbox::User": "root",
  };
  writeFileSync(
    path.join(apt, "apt.conf"),
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(""),
  );
}

function packageFiles() {
  return readdirSync(archives).filter((name) => name.endsWith(".deb"));
}

/**
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<string | undefined>} what it said when it failed
 */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, APT_CONFIG: path.join(apt, "apt.conf"), LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (errors = (errors + text).slice(-2000)));
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) =>
      resolve(code === 0 ? undefined : errors.trim() || `code ${code}`),
    );
  });
}

/** @returns {string} such as 2.4.20.3 */
export function moduleVersion() {
  const version = field(
    packageFiles().find((name) => name.startsWith(`${MODULE}_`)),
    "Version",
  );
  return version.replace(/-[^-]*$/, "");
}

/** @returns {{ bytes: number, packages: number }} what the module brings in addition to Apache's */
export function moduleSize() {
  const own = packagesFor([APACHE]);
  const names = packagesFor([APACHE, MODULE]).filter((name) => !own.includes(name));
  const files = names.map((name) => packageFiles().find((file) => file.startsWith(`${name}_`)));
  const kilobytes = files.map((file) => Number(field(file, "Installed-Size")));
  return {
    bytes: kilobytes.reduce((sum, each) => sum + each, 0) * 1024,
    packages: names.length,
    unit: "Debian packages",
  };
}

/** @param {string[]} packages @returns {string[]} they and what they depend on */
function packagesFor(packages) {
  const { stdout } = spawnSync(
    "apt-get",
    ["--simulate", "install", "--no-install-recommends", ...packages],
    { encoding: "utf8", env: { ...process.env, APT_CONFIG: path.join(apt, "apt.conf") } },
  );
  return [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name ?? "");
}

/** @param {string | undefined} file @param {string} name */
function field(file, name) {
  if (file === undefined) throw new Error(`${archives} lacks a package.`);
  return spawnSync("dpkg-deb", ["--field", path.join(archives, file), name], {
    encoding: "utf8",
  }).stdout.trim();
}

/**
 * The unpacked Apache, run by the C library that came with it.
 *
 * @param {string[]} args
 */
export function apache(args) {
  const [triplet] = readdirSync(path.join(root, "usr/lib")).filter((name) =>
    name.endsWith("-linux-gnu"),
  );
  const libraries = path.join(root, "usr/lib", triplet ?? "");
  const loader = readdirSync(libraries).find((name) => /^ld-linux.*\.so/.test(name));
  return {
    command: path.join(libraries, loader ?? ""),
    args: ["--library-path", libraries, path.join(root, "usr/sbin/apache2"), ...args],
    serverRoot: path.join(root, "usr/lib/apache2"),
  };
}
