import { spawn, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
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
    "a second start builds nothing; a changed source is built next to the build that a demo runs from",
    async () => {
      const first = new Start();
      expect(await first.status()).toBe(200);
      const second = new Start();
      expect([await second.status(), second.builds]).toEqual([200, []]);

      appendFileSync(
        path.join(checkout, "demo/main.ts"),
        "\nconsole.log('This is the changed source.');\n",
      );
      const third = new Start();
      expect(await third.status()).toBe(200);
      expect(third.stdout).toContain("This is the changed source.");
      expect(built()).toEqual([...first.builds, ...third.builds].sort());
      expect(await first.status()).toBe(200);
    },
    PATIENCE,
  );

  it(
    "takes over from a build that was killed, and removes builds that no process has used for a day",
    async () => {
      const first = new Start();
      await first.origin();
      await first.end();
      const [name = ""] = first.builds;
      const builds = path.join(checkout, ".builds");
      rmSync(path.join(builds, name), { recursive: true });
      writeFileSync(
        path.join(builds, `${name}.lock`),
        `${String(await pidOfEndedProcess())} someone`,
      );
      for (const [folder, hours] of Object.entries({ young: 23, old: 25, "old.1.part": 25 })) {
        mkdirSync(path.join(builds, folder, "demo"), { recursive: true });
        const used = new Date(Date.now() - hours * 3_600_000);
        utimesSync(path.join(builds, folder), used, used);
      }
      const second = new Start();
      expect([await second.status(), second.builds]).toEqual([200, [name]]);
      expect(built()).toEqual([name, "young"].sort());
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

async function pidOfEndedProcess(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await new Promise((resolve) => child.once("close", resolve));
  return child.pid!;
}
