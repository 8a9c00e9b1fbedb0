import { execFile, spawn, type ChildProcess } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { lockOf, placesOf } from "../../scripts/locked-packages.mjs";
import { packPackage } from "../../scripts/pack-package.mjs";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { buildPackage } from "../support/build.js";
import { eventually } from "../support/eventually.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** The project's packages, and those that next-installed.ts installs. */
const MODULES = ["node_modules", "test/adapters/next-application/node_modules"].map((folder) =>
  path.join(ROOT, folder),
);
const run = promisify(execFile);

export interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly type?: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
}

/** The package as it would be published, built and unpacked in a temporary folder. */
export class PackedPackage {
  readonly folder: string;
  readonly #parent: string;

  private constructor(parent: string) {
    this.#parent = parent;
    this.folder = path.join(parent, "package");
  }

  static async pack(): Promise<PackedPackage> {
    await buildPackage();
    const parent = mkdtempSync(path.join(tmpdir(), "idpauth-packed-"));
    await run("tar", ["-xzf", packPackage(parent).filename], { cwd: parent });
    return new PackedPackage(parent);
  }

  remove(): void {
    rmSync(this.#parent, { recursive: true, force: true });
  }
}

/**
 * A copy of an example in a temporary folder, with what `npm install` would bring there and nothing
 * else: the packed package, and the packages that the example and idpauth depend on, out of the
 * project's own.
 */
export function installExample(example: string, packed: PackedPackage): string {
  const folder = mkdtempSync(path.join(tmpdir(), `idpauth-example-${path.basename(example)}-`));
  for (const entry of readdirSync(example)) {
    // What a start of one's own has left behind.
    if (!["node_modules", "dist", ".next", "package-lock.json"].includes(entry)) {
      cpSync(path.join(example, entry), path.join(folder, entry), { recursive: true });
    }
  }
  const modules = path.join(folder, "node_modules");
  mkdirSync(path.join(modules, ".bin"), { recursive: true });
  installPackage(packed, modules);
  const { dependencies, devDependencies, optionalDependencies } = manifestOf(example);
  const wanted = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  for (const name of wanted) bring(name, modules);
  for (const name of wanted) linkPrograms(name, modules);
  return folder;
}

/**
 * The same for an example whose test runner, or another of its packages, the project doesn't have.
 * @param others a folder whose package.json asks for these packages and for all that the example
 *   and idpauth depend on
 */
export function installExampleOf(others: string, example: string, packed: PackedPackage): string {
  const folder = mkdtempSync(path.join(tmpdir(), `idpauth-example-${path.basename(example)}-`));
  const modules = path.join(folder, "node_modules");
  cpSync(example, folder, { recursive: true });
  const lock = lockOf(others);
  const names = Object.keys(manifestOf(others).dependencies ?? {});
  // npm installs them at the top of the workspace or in the folder itself. Here they are together.
  for (const place of placesOf(lock, names, { peers: true })) {
    const target = place.slice(place.indexOf("node_modules/"));
    const isNested = target.lastIndexOf("node_modules/") > 0;
    const source = path.join(lock.folder, place);
    // A nested package comes with the one around it, and one for another platform isn't there.
    if (isNested || !existsSync(source)) continue;
    if (existsSync(path.join(folder, target)))
      throw new Error(`${others} needs ${target} in two versions.`);
    copy(source, path.join(folder, target));
  }
  mkdirSync(path.join(modules, ".bin"), { recursive: true });
  for (const name of names) linkPrograms(name, modules);
  cpSync(packed.folder, path.join(modules, "idpauth"), { recursive: true });
  return folder;
}

/** The folder of a package that the project is tested with. */
export function installed(name: string): string | undefined {
  return MODULES.map((modules) => path.join(modules, name)).find((folder) => existsSync(folder));
}

/** The packed package and what it depends on, without peers. */
export function installPackage(packed: PackedPackage, modules: string): void {
  cpSync(packed.folder, path.join(modules, "idpauth"), { recursive: true });
  for (const name of Object.keys(manifestOf(packed.folder).dependencies ?? {}))
    bring(name, modules);
}

/**
 * A package with all that it depends on, each at the top, but for what a package has for itself.
 */
function bring(name: string, modules: string): void {
  const source = installed(name);
  if (existsSync(path.join(modules, name)) || source === undefined) return;
  // No symbolic link, which would lead back into the project: some bundlers follow none that leave
  // the folder.
  copy(source, path.join(modules, name));
  bringDependencies(source, modules);
}

function bringDependencies(source: string, modules: string): void {
  const {
    dependencies,
    optionalDependencies,
    peerDependencies = {},
    peerDependenciesMeta,
  } = manifestOf(source);
  const peers = Object.keys(peerDependencies).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
    const own = path.join(source, "node_modules", name);
    if (existsSync(own)) bringDependencies(own, modules);
    else bring(name, modules);
  }
}

/** By hard links where that is possible: some packages are large. */
function copy(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) copy(source, target);
    else {
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target);
      }
    }
  }
}

function linkPrograms(name: string, modules: string): void {
  const { bin = {} } = manifestOf(path.join(modules, name));
  const programs = typeof bin === "string" ? { [path.basename(name)]: bin } : bin;
  for (const [program, file] of Object.entries(programs)) {
    symlinkSync(path.join("..", name, file), path.join(modules, ".bin", program));
  }
}

/**
 * As `npm test` runs it, with nothing of this run in its environment. Gives what it printed; fails
 * when a test does.
 */
export async function npmTest(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const programs = path.join(folder, "node_modules/.bin");
  const surroundings = {
    PATH: `${programs}${path.delimiter}${process.env["PATH"] ?? ""}`,
    HOME: folder,
    ...env,
  };
  const command = manifestOf(folder).scripts?.["test"] ?? "false";
  const { stdout } = await run("sh", ["-c", command], { cwd: folder, env: surroundings }).catch(
    (error: unknown) => {
      const { stdout: printed, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${command} failed:\n${printed}\n${stderr}`);
    },
  );
  return stdout;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * An example that runs as `npm start` runs it, with nothing in its environment but what is given.
 */
export class ExampleProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  /**
   * @param script of the example's manifest
   * @param stdin `pipe`: for {@link ExampleProcess.type}
   */
  constructor(
    folder: string,
    env: Readonly<Record<string, string>>,
    script = "start",
    stdin: "ignore" | "pipe" = "ignore",
  ) {
    const command = manifestOf(folder).scripts?.[script] ?? "";
    const programs = path.join(folder, "node_modules/.bin");
    // The last command takes the shell's place, so that signals reach the server and its exit code
    // is seen.
    this.#child = spawn("sh", ["-c", command.replace(/^(.*&&)?\s*/, "$1 exec ")], {
      cwd: folder,
      env: {
        PATH: `${programs}${path.delimiter}${process.env["PATH"] ?? ""}`,
        PORT: "0",
        NEXT_TELEMETRY_DISABLED: "1",
        ...env,
      },
      // A process group of its own: whoever does not end on a signal can be ended with all its
      // children.
      detached: true,
      stdio: [stdin, "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Where it says that it listens. Rejects when it ends before it says so. */
  async origin(): Promise<string> {
    const said = new Promise<string>((resolve) => {
      const look = () => {
        const origin = /(http:\/\/localhost:\d+)\/?\s/.exec(this.stdout)?.[1];
        if (origin !== undefined) resolve(origin);
      };
      this.#child.stdout?.on("data", look);
      look();
    });
    const gone = this.ended.then(({ code, signal, stdout, stderr }): never => {
      throw new Error(`the example ended with ${String(code ?? signal)}: ${stdout}${stderr}`);
    });
    return Promise.race([said, gone]);
  }

  async browser(): Promise<CookieBrowser> {
    return new CookieBrowser({ origin: await this.origin() });
  }

  /** Types a line in its terminal, and waits until it has written this. */
  async type(line: string, written: string): Promise<void> {
    const from = this.stdout.length;
    this.#child.stdin?.write(`${line}\n`);
    await eventually(async () => {
      if (!this.stdout.slice(from).includes(written))
        throw new Error(`"${line}" hasn't led to "${written}": ${this.stdout}${this.stderr}`);
    });
  }

  /** As a platform ends it: the signal goes to the one process. */
  terminate(): Promise<Ended> {
    this.#child.kill("SIGTERM");
    return this.ended;
  }

  /** As Ctrl+C in a terminal: the signal goes to all of it. */
  interrupt(): Promise<Ended> {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGINT");
    return this.ended;
  }

  /** All of it, at once. */
  async end(): Promise<void> {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
    await this.ended;
  }
}
