import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, RESP_TYPES } from "redis";
import { ensureFound, ensureProgram } from "./debian-package.js";
import { freePort } from "./free-port.js";

export interface RedisServerOptions {
  /** Further arguments, such as `["--maxmemory", "4mb"]`. */
  readonly args?: readonly string[];
  /** The server's clock can be moved with `advance`. */
  readonly faketime?: boolean;
  /** What was acknowledged survives a kill. */
  readonly durable?: boolean;
  /** A Sentinel instead of a server, with these lines as its configuration. */
  readonly sentinel?: readonly string[];
}

/** A redis-server of its own, in a temporary folder and on a free port. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Epoch seconds by the server's clock. */
  now(): number;
  /** Moves the server's clock forward; needs `faketime`. */
  advance(seconds: number): void;
  /** SIGKILL; what it had not written down is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder; kills it first when it runs. */
  restart(): Promise<void>;
  /** SIGSTOP: it accepts connections and bytes, as the kernel does that, and answers nothing. */
  pause(): void;
  resume(): void;
  /** Ends it for good and removes its folder. */
  stop(): Promise<void>;
}

const PACKAGES = "redis-server";
const READY = /Ready to accept connections|Sentinel ID is/;
const START_MILLISECONDS = 120_000;
const TRIES = 5;

let program: Promise<string | undefined> | undefined;
let library: Promise<string | undefined> | undefined;

/**
 * redis-server's path; undefined: tests that need it are to be skipped, the reason is on stderr.
 * Rejects under `CI=true`.
 */
export function redisForTests(): Promise<string | undefined> {
  program ??= ensureProgram("redis-server", PACKAGES);
  return program;
}

/** The path of libfaketime, as {@link redisForTests}. */
export function faketimeForTests(): Promise<string | undefined> {
  library ??= ensureFound({ name: "libfaketime", packages: "libfaketime" }, () =>
    Promise.resolve(installedFaketime()),
  );
  return library;
}

function installedFaketime(): string | undefined {
  const found = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].flatMap((root) => {
    try {
      const files = readdirSync(root).filter(
        (name) => name.endsWith("-linux-gnu") || name === "faketime",
      );
      return files.flatMap((name) => {
        const folder = name === "faketime" ? join(root, name) : join(root, name, "faketime");
        return readdirSync(folder).includes("libfaketime.so.1")
          ? [join(folder, "libfaketime.so.1")]
          : [];
      });
    } catch {
      return [];
    }
  });
  return found[0];
}

/** @throws Error when there is no redis-server, or it does not start; with its last lines */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const executable = await redisForTests();
  if (executable === undefined) throw new Error("there is no redis-server");
  const preload = options.faketime === true ? await faketimeForTests() : undefined;
  if (options.faketime === true && preload === undefined)
    throw new Error("there is no libfaketime");
  const folder = mkdtempSync(join(tmpdir(), "redis-server-"));
  for (let attempt = 1; ; attempt += 1) {
    const server = new Server(executable, await freePort(), folder, options, preload);
    try {
      await server.start();
      return server;
    } catch (error) {
      // Somebody else may have taken the port meanwhile.
      if (attempt < TRIES && String(error).includes("Address already in use")) continue;
      await server.stop();
      throw error;
    }
  }
}

class Server implements RedisServer {
  readonly port: number;
  readonly url: string;
  readonly #executable: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #clockFile: string | undefined;
  #child: ChildProcess | undefined;
  #ahead = 0;

  constructor(
    executable: string,
    port: number,
    folder: string,
    options: RedisServerOptions,
    preload: string | undefined,
  ) {
    this.#executable = executable;
    this.port = port;
    this.url = `redis://127.0.0.1:${String(port)}`;
    this.#folder = folder;
    this.#args = [
      ...(options.sentinel === undefined
        ? []
        : [sentinelFile(folder, options.sentinel), "--sentinel"]),
      ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder],
      ...(options.sentinel === undefined ? ["--save", ""] : []),
      ...(options.durable === true ? ["--appendonly", "yes", "--appendfsync", "always"] : []),
      ...(options.args ?? []),
    ];
    this.#clockFile = preload === undefined ? undefined : join(folder, "clock");
    this.#env = {
      ...process.env,
      // The C library's malloc goes before jemalloc's, which asks for the time before libfaketime
      // is ready to answer.
      ...(preload !== undefined && {
        LD_PRELOAD: `${preload} libc.so.6`,
        FAKETIME_TIMESTAMP_FILE: this.#clockFile,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      }),
    };
    this.#writeClock();
  }

  now(): number {
    return Math.floor(Date.now() / 1000) + this.#ahead;
  }

  advance(seconds: number): void {
    if (this.#clockFile === undefined)
      throw new Error("advance() needs startRedis({ faketime: true })");
    this.#ahead += seconds;
    this.#writeClock();
  }

  /** Renamed into its place, since the server may look at any moment. */
  #writeClock(): void {
    if (this.#clockFile === undefined) return;
    writeFileSync(`${this.#clockFile}.new`, `+${String(this.#ahead)}\n`);
    renameSync(`${this.#clockFile}.new`, this.#clockFile);
  }

  async start(): Promise<void> {
    const child = spawn(this.#executable, this.#args, {
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    RUNNING.add(child);
    let output = "";
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => {
        reject(new Error(`redis-server ${why}:\n${output.slice(-1000)}`));
      };
      const timer = setTimeout(() => {
        fail("did not get ready in time");
      }, START_MILLISECONDS);
      const read = (chunk: Buffer): void => {
        output = (output + chunk.toString()).slice(-4000);
        if (!READY.test(output)) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.on("error", (error) => {
        clearTimeout(timer);
        fail(error.message);
      });
      child.on("exit", () => {
        clearTimeout(timer);
        RUNNING.delete(child);
        fail("ended");
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Sentinel writes down there what it learns. */
function sentinelFile(folder: string, lines: readonly string[]): string {
  const file = join(folder, "sentinel.conf");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

/** A test run that is broken off must leave no server behind. */
const RUNNING = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of RUNNING) child.kill("SIGKILL");
});

/**
 * All keys and values as they lie there, one after the other: to search for what must not be in it.
 */
export async function dumpRedis(url: string): Promise<Buffer> {
  const client = createClient({ url, disableOfflineQueue: true });
  client.on("error", () => undefined);
  await client.connect();
  const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  try {
    const parts: Buffer[] = [];
    for await (const keys of raw.scanIterator()) {
      for (const key of keys)
        parts.push(key, ...(await valuesOf(raw, key, await client.type(key))));
    }
    return Buffer.concat(parts);
  } finally {
    client.destroy();
  }
}

async function valuesOf(
  raw: { sendCommand(args: (string | Buffer)[], options: object): Promise<unknown> },
  key: Buffer,
  type: string,
): Promise<Buffer[]> {
  const commands: Record<string, (string | Buffer)[]> = {
    string: ["GET", key],
    zset: ["ZRANGE", key, "0", "-1"],
    set: ["SMEMBERS", key],
    hash: ["HGETALL", key],
    list: ["LRANGE", key, "0", "-1"],
  };
  const command = commands[type];
  if (command === undefined) throw new Error(`dumpRedis cannot read a ${type}`);
  const reply = await raw.sendCommand(command, {
    typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Array },
  });
  return [reply].flat(2).filter(Buffer.isBuffer);
}
