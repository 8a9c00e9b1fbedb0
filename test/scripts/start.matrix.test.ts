import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

// `npm start` in a checkout of its own, in which sources can be changed. Ten processes on a busy
// machine need their time.
const PATIENCE = 240_000;

const ROOT = path.resolve(import.meta.dirname, "../..");

let checkout: string;
const running: Start[] = [];

beforeEach(() => {
  checkout = mkdtempSync(path.join(tmpdir(), "idpauth-checkout-"));
  for (const name of [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "scripts",
    "src",
    "demo",
  ])
    cpSync(path.join(ROOT, name), path.join(checkout, name), {
      recursive: true,
      filter: (file) => path.basename(file) !== "node_modules",
    });
  symlinkSync(path.join(ROOT, "node_modules"), path.join(checkout, "node_modules"), "junction");
  mkdirSync(path.join(checkout, "tmp"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((start) => start.end()));
  rmSync(checkout, { recursive: true, force: true });
});

/** `npm start` on free ports. */
class Start {
  readonly #child: ChildProcess;
  /** Resolves when npm and everything that it started have closed their output. */
  readonly #closed: Promise<void>;
  stdout = "";
  stderr = "";

  constructor() {
    const { PATH, HOME } = process.env;
    this.#child = spawn("npm", ["start"], {
      cwd: checkout,
      env: {
        PATH,
        HOME,
        TMPDIR: path.join(checkout, "tmp"),
        PORT: "0",
        npm_config_logs_max: "0",
        npm_config_update_notifier: "false",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#closed = new Promise((resolve) => this.#child.once("close", () => resolve()));
    running.push(this);
  }

  get builds(): string[] {
    return [...this.stderr.matchAll(/^Built: +\.builds\/(\w+) in [\d.]+ s$/gm)].map(
      ([, name = ""]) => name,
    );
  }

  /** Where the demo says that it listens. Rejects when it ends instead. */
  async origin(): Promise<string> {
    const said = new Promise<string>((resolve) => {
      const look = () => {
        const origin = /^Demo: +(http\S+?)\/$/m.exec(this.stdout)?.[1];
        if (origin !== undefined) resolve(origin);
      };
      this.#child.stdout?.on("data", look);
      look();
    });
    const gone = this.#closed.then((): never => {
      throw new Error(`the demo ended: ${this.stdout}${this.stderr}`);
    });
    return Promise.race([said, gone]);
  }

  /** The status of the demo's first page. */
  async status(): Promise<number> {
    return (await fetch(await this.origin())).status;
  }

  /** SIGTERM to npm, as a supervisor does it. */
  async end(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#closed;
  }
}

const built = () => readdirSync(path.join(checkout, ".builds")).sort();

describe("npm start", () => {
  it(
    "ten at once in a fresh checkout: one builds, all run",
    async () => {
      const starts = Array.from({ length: 10 }, () => new Start());
      const statuses = await Promise.all(starts.map((start) => start.status()));
      expect(statuses).toEqual(Array(10).fill(200));
      const builds = starts.flatMap((start) => start.builds);
      expect(builds).toHaveLength(1);
      expect(built()).toEqual(builds);
      for (const { stdout } of starts) expect(stdout).toMatch(/^Node\.js v\d+\.\d+\.\d+ \(.+\)$/m);
    },
    PATIENCE,
  );

  it(
    "ends with everything that it started when npm is sent SIGTERM",
    async () => {
      const start = new Start();
      const origin = await start.origin();
      await start.end();
      await expect(fetch(origin)).rejects.toThrow("fetch failed");
      expect(start.stderr).not.toMatch(/Error/);
    },
    PATIENCE,
  );
});
