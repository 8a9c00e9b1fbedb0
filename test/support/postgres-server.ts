import { execFile, spawn, type ChildProcess } from "node:child_process";
import { access, chown, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { findProgram, isExecutable } from "../../scripts/debian-program.mjs";
import { ensureFound } from "./debian-package.js";
import { freePort } from "./free-port.js";

export interface PostgresServer {
  readonly port: number;
  /** For `pg`: superuser `postgres`, no password, database `postgres`. */
  readonly url: string;
  /** Ends the server, whatever state it is in, and removes its folder. */
  stop(): Promise<void>;
  /**
   * SIGKILL for all its processes, as when the machine loses power (but what was written to the
   * kernel stays).
   */
  kill(): Promise<void>;
  /**
   * Starts it again on the same port and data; one that runs is stopped first, and its connections
   * are cut.
   */
  restart(): Promise<void>;
  /** Freezes all its processes: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The server's own time, epoch seconds; only with `faketime`. */
  now(): number;
  /** Moves the server's own time; only with `faketime`. */
  advance(seconds: number): Promise<void>;
}

export interface PostgresServerOptions {
  /** The server's clock stands still, years from now, until `advance` moves it. */
  readonly faketime?: boolean;
  /** Waits for the disk as a server in use does; slow. Default false. */
  readonly durable?: boolean;
  /** Further server settings, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Unlike the time of this process, so that whoever asks the wrong clock is found out. */
const FAKE_START = Date.UTC(2033, 0, 1) / 1000;
const START_MILLISECONDS = 120_000;
/** Read-only: it is a standby. */
const READY = /database system is ready to accept (read-only )?connections/;
const run = promisify(execFile);

/** Where PostgreSQL's programs are; see `ensureProgram` for what happens when they are missing. */
export function ensurePostgres(): Promise<string | undefined> {
  return ensureFound({ name: "PostgreSQL", packages: "postgresql" }, async () => {
    const versions = await readdir("/usr/lib/postgresql").catch((): string[] => []);
    for (const version of versions.sort((one, other) => Number(other) - Number(one))) {
      const folder = path.join("/usr/lib/postgresql", version, "bin");
      if (await isExecutable(path.join(folder, "initdb"))) return folder;
    }
    const initdb = await findProgram("initdb");
    return initdb === undefined ? undefined : path.dirname(initdb);
  });
}

/** libfaketime, which gives the server a clock of its own. */
export function ensureFaketime(): Promise<string | undefined> {
  return ensureFound({ name: "libfaketime", packages: "libfaketime" }, async () => {
    for (const machine of ["x86_64-linux-gnu", "aarch64-linux-gnu"]) {
      const library = `/usr/lib/${machine}/faketime/libfaketime.so.1`;
      const isThere = await access(library).then(
        () => true,
        () => false,
      );
      if (isThere) return library;
    }
    return undefined;
  });
}

/**
 * A PostgreSQL server in a temporary folder, on a free port of 127.0.0.1, as an unprivileged user.
 *
 * @throws Error when PostgreSQL is not installed, and cannot be; ask {@link ensurePostgres} first
 *   to skip instead
 */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const programs = await ensurePostgres();
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const user = await unprivilegedUser();
  const folder = await mkdtemp(path.join(tmpdir(), "idpauth-postgres-"));
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid ?? user.uid);
  const fake = options.faketime === true ? await FakeTime.in(folder) : undefined;
  const data = path.join(folder, "data");
  const initdb = [
    "-D",
    data,
    "--no-sync",
    "--auth=trust",
    "-U",
    "postgres",
    "-E",
    "UTF8",
    "--locale=C",
  ];
  await run(path.join(programs, "initdb"), initdb, { ...user, cwd: folder });

  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    dynamic_shared_memory_type: "mmap",
    fsync: options.durable === true ? "on" : "off",
    ...options.settings,
  };
  const args = [
    "-D",
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const start = async (port: number): Promise<ChildProcess> =>
    started(
      [
        ...(await endingWithUs("INT")),
        path.join(programs, "postgres"),
        ...args,
        "-p",
        String(port),
      ],
      {
        ...user,
        cwd: folder,
        env: environment(fake),
      },
    );

  let port = await freePort();
  let server = await start(port).catch(async () => {
    // Somebody else has taken the port meanwhile.
    port = await freePort();
    return start(port);
  });
  const endWithUs = (): unknown => server.kill("SIGKILL");
  process.once("exit", endWithUs);
  // A worker outlives the test runner that was killed, for as long as its test waits for something.
  const endWithRunner = (): void => {
    endWithUs();
    process.kill(process.pid, "SIGTERM");
  };
  process.once("disconnect", endWithRunner);

  const kill = async (): Promise<void> => {
    const processes = await processesOf(server);
    for (const pid of processes) send("SIGKILL", pid);
    await Promise.all([ended(server), ...processes.map(gone)]);
  };
  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    for (const pid of await processesOf(server)) send(signal, pid);
  };
  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    kill,
    async stop() {
      process.off("exit", endWithUs);
      process.off("disconnect", endWithRunner);
      await kill();
      await removeSharedMemory(data);
      await rm(folder, { recursive: true, force: true });
    },
    async restart() {
      // SIGINT is a fast shutdown: connections are cut, nothing is lost.
      send("SIGINT", server.pid);
      await ended(server);
      server = await start(port);
    },
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    now: () => timeOf(fake).now,
    advance: (seconds) => timeOf(fake).advance(seconds),
  };
}

/**
 * All that the database holds, as SQL. Bytes are written as text wherever they are text, so that a
 * secret which lies there as it is can be found.
 */
export async function dumpPostgres(url: string): Promise<string> {
  const programs = await ensurePostgres();
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const env = { ...process.env, PGOPTIONS: "-c bytea_output=escape" };
  const { stdout } = await run(path.join(programs, "pg_dump"), ["--dbname", url], {
    env,
    maxBuffer: 1024 ** 3,
  });
  return stdout;
}

/** A clock that stands still, in a file that libfaketime reads each time it is asked. */
class FakeTime {
  readonly env: Record<string, string>;
  readonly #file: string;
  #now = FAKE_START;

  private constructor(library: string, file: string) {
    this.#file = file;
    this.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  static async in(folder: string): Promise<FakeTime> {
    const library = await ensureFaketime();
    if (library === undefined) throw new Error("libfaketime is not installed");
    const time = new FakeTime(library, path.join(folder, "time"));
    await time.advance(0);
    return time;
  }

  get now(): number {
    return this.#now;
  }

  async advance(seconds: number): Promise<void> {
    this.#now += seconds;
    const date = new Date(this.#now * 1000).toISOString().slice(0, 19).replace("T", " ");
    // Renamed into place: the server never reads half a date.
    await writeFile(`${this.#file}.next`, date, { mode: 0o644 });
    await rename(`${this.#file}.next`, this.#file);
  }
}

function timeOf(fake: FakeTime | undefined): FakeTime {
  if (fake === undefined) throw new TypeError("start the server with faketime: true");
  return fake;
}

function environment(fake: FakeTime | undefined): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC", ...fake?.env };
}

/** PostgreSQL and PgBouncer refuse to run as root. */
export async function unprivilegedUser(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const line = (await readFile("/etc/passwd", "utf8"))
      .split("\n")
      .find((entry) => entry.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(":") ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return {};
}

/**
 * What to put before a command so that it gets a signal when this process ends, however that
 * happens: a test runner kills its workers. Nothing where the program for it is missing.
 */
export async function endingWithUs(signal: "INT" | "KILL"): Promise<string[]> {
  const setpriv = await findProgram("setpriv");
  return setpriv === undefined ? [] : [setpriv, "--pdeathsig", signal, "--"];
}

function started(
  [program = "", ...args]: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((resolve, reject) => {
    let log = "";
    const fail = (why: string): void => {
      child.kill("SIGKILL");
      reject(new Error(`${why}:\n${log.slice(-2000)}`));
    };
    const timer = setTimeout(() => fail("PostgreSQL did not start in time"), START_MILLISECONDS);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      if (child.exitCode !== null) return;
      log = (log + chunk).slice(-10_000);
      if (!READY.test(log)) return;
      clearTimeout(timer);
      resolve(child);
    });
    child.on("error", (error) => fail(error.message));
    child.on("exit", () => {
      clearTimeout(timer);
      fail("PostgreSQL did not start");
    });
  });
}

/**
 * The postmaster first, so that it starts no others meanwhile. Each of its children leads a process
 * group of its own.
 */
async function processesOf(server: ChildProcess): Promise<number[]> {
  const { pid } = server;
  if (pid === undefined || hasEnded(server)) return [];
  send("SIGSTOP", pid);
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return [pid, ...children.split(" ").filter(Boolean).map(Number)];
}

function send(signal: NodeJS.Signals, pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

async function ended(server: ChildProcess): Promise<void> {
  if (!hasEnded(server)) await new Promise((resolve) => server.once("exit", resolve));
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    // A process that nobody has reaped yet holds nothing any more.
    if (stat === undefined || /\) [ZX] /.test(stat)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What a killed server leaves in the kernel: a segment whose id is in its lock file. */
async function removeSharedMemory(data: string): Promise<void> {
  const lines = (await readFile(path.join(data, "postmaster.pid"), "utf8").catch(() => "")).split(
    "\n",
  );
  const id = lines[6]?.trim().split(/\s+/)[1];
  if (id !== undefined) await run("ipcrm", ["-m", id]).catch(() => undefined);
}
