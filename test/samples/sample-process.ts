import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { signIn } from "../../src/testing/index.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const HOOKS = path.join(ROOT, "test/samples/sample-hooks.mjs");

/** How a sample ended. `milliseconds` after the signal. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly milliseconds: number;
}

/** A sample that runs as a process of its own, as a reader starts it. */
export class SampleProcess {
  readonly port: number;
  readonly origin: string;
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #exit: Promise<[number | null, NodeJS.Signals | null]>;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.origin = `http://localhost:${String(port)}`;
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#exit = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  }

  /**
   * Starts a file, and waits until it accepts requests.
   * @param file from the project's root
   * @param provider one or several, with its settings
   * @param settings the environment, besides that of the provider
   * @param cwd where it runs, and may write files
   */
  static async start(
    file: string,
    provider: { readonly env: Readonly<Record<string, string>> },
    settings: Readonly<Record<string, string>> = {},
    cwd = ROOT,
  ): Promise<SampleProcess> {
    const port = await freePort();
    const isPart = file.includes("/live-connections/");
    const program = path.join(ROOT, isPart ? "test/samples/sample-server.mjs" : file);
    const child = spawn(process.execPath, ["--import", HOOKS, program, path.join(ROOT, file)], {
      env: {
        ...{ ...provider.env, PATH: process.env["PATH"], NODE_ENV: "production" },
        ...{ PORT: String(port), BASE_URL: `http://localhost:${String(port)}`, IDP_EVENTS: "on" },
        ...settings,
      },
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const sample = new SampleProcess(port, child);
    await eventually(async () => {
      if (!sample.isAlive) throw new Error(`${file} has ended: ${sample.stderr}`);
      await fetch(`${sample.origin}/idpauth/session`);
    });
    return sample;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Headers of a signed-in user of this application's own page. */
  async signedIn(): Promise<{ cookie: string; origin: string }> {
    const { cookie } = await signIn(this.origin);
    return { cookie, origin: this.origin };
  }

  /** Sends SIGTERM, and waits until the process has ended, or so long that it won't. */
  async terminate(): Promise<Ended> {
    const since = performance.now();
    this.#child.kill("SIGTERM");
    const giveUp = setTimeout(() => this.#child.kill("SIGKILL"), 45_000);
    const [code, signal] = await this.#exit;
    clearTimeout(giveUp);
    return { code, signal, milliseconds: performance.now() - since };
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
