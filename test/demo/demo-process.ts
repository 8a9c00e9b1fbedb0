import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { currentBuild } from "../../scripts/demo-build.mjs";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MAIN = path.join(await currentBuild(), "demo/main.js");

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The demo as a process of its own, with nothing in its environment but what is given; on a free
 * port unless PORT says another, and with a temporary folder of its own, which goes with it, unless
 * TMPDIR says another.
 */
export class DemoProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  constructor(env: Readonly<Record<string, string>> = {}) {
    const own =
      env["TMPDIR"] === undefined ? mkdtempSync(path.join(tmpdir(), "demo-process-")) : undefined;
    this.#child = spawn(process.execPath, [MAIN], {
      cwd: ROOT,
      env: { PORT: "0", ...(own !== undefined && { TMPDIR: own }), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", (code, signal) => {
        if (own !== undefined) rmSync(own, { recursive: true, force: true });
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /**
   * Where the demo says that it is to be clicked. Rejects when the process ends before it says so.
   */
  async origin(): Promise<string> {
    const said = new Promise<string>((resolve) => {
      const look = () => {
        const origin = /^Demo: +(http\S+?)\/$/m.exec(this.stdout)?.[1];
        if (origin !== undefined) resolve(origin);
      };
      this.#child.stdout?.on("data", look);
      look();
    });
    const gone = this.ended.then(({ code, signal, stderr }): never => {
      throw new Error(`the demo ended with ${String(code ?? signal)}: ${stderr}`);
    });
    return Promise.race([said, gone]);
  }

  async browser(): Promise<CookieBrowser> {
    return new CookieBrowser({ origin: await this.origin() });
  }

  /** Nobody reads what it says any more, as when its terminal is closed. */
  closeConsole(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  kill(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.#child.kill(signal);
    return this.ended;
  }
}

export { choose } from "./choose-person.js";
