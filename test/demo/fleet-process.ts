import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "../support/eventually.js";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** `npm run demo:fleet`, as a terminal runs it. */
export class FleetProcess {
  readonly #child: ChildProcess;
  readonly #folder = mkdtempSync(path.join(tmpdir(), "fleet-process-"));
  readonly #closed: Promise<number | null>;
  readonly #killed: string[] = [];
  /** Both streams, as the terminal shows them. */
  said = "";

  constructor(env: Readonly<Record<string, string>> = {}) {
    const { PATH = "", HOME = "" } = process.env;
    this.#child = spawn("npm", ["run", "--silent", "demo:fleet"], {
      cwd: ROOT,
      env: {
        PATH,
        HOME,
        TMPDIR: this.#folder,
        PORT: "0",
        npm_config_logs_max: "0",
        npm_config_update_notifier: "false",
        ...env,
      },
      // A process group of its own, which is what Ctrl+C in a terminal reaches.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => (this.said += text));
    this.#closed = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", resolve);
    });
  }

  /** The balancer's address. Rejects when the fleet ends before it says so. */
  async origin(): Promise<string> {
    const said = new Promise<string>((resolve) => {
      const look = () => {
        const origin = /^Fleet: +(http\S+?)\/$/m.exec(this.said)?.[1];
        if (origin !== undefined) resolve(origin);
      };
      this.#child.stdout?.on("data", look);
      look();
    });
    const gone = this.#closed.then((code): never => {
      throw new Error(`the fleet ended with ${String(code)}: ${this.said}`);
    });
    return Promise.race([said, gone]);
  }

  /** The pid of one process of the fleet, as it was said last. */
  pid(name: string): number {
    const last = [
      ...this.said.matchAll(new RegExp(`^${name}(?::| is back) +\\(?pid (\\d+)`, "gm")),
    ].at(-1)?.[1];
    if (last === undefined) throw new Error(`${name} was not said to run: ${this.said}`);
    return Number(last);
  }

  /** kill -9, and it is gone. */
  kill(name: string): void {
    const pid = this.pid(name);
    this.#killed.push(`${name} (pid ${String(pid)})`);
    process.kill(pid, "SIGKILL");
  }

  /** What was killed and not yet said to have ended: until then the fleet counts it as running. */
  get unnoticed(): string[] {
    return this.#killed.filter((killed) => !this.said.includes(`${killed} ended`));
  }

  /**
   * The terminal is closed, so that nobody reads the last lines. npm ends at once; rejects when the
   * others do not follow.
   */
  async hangUp(): Promise<void> {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGHUP");
    await this.#closed;
    await eventually(async () => {
      const left = this.#left();
      if (left.length > 0) throw new Error(`still there: ${left.join(", ")}`);
    });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Ctrl+C. Gives the exit code and whatever is left behind, which ought to be nothing. */
  async end(): Promise<{ code: number | null; left: string[] }> {
    if (this.#child.exitCode === null && this.#child.pid !== undefined)
      process.kill(-this.#child.pid, "SIGINT");
    const code = await this.#closed;
    const left = this.#left();
    rmSync(this.#folder, { recursive: true, force: true });
    return { code, left };
  }

  #left(): string[] {
    const pids = [...this.said.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
    const processes = [...new Set(pids)].filter(isRunning).map((pid) => `process ${String(pid)}`);
    return [...processes, ...readdirSync(this.#folder)];
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
