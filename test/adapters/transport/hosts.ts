// An application in a process of its own, the API behind it, and a user who has signed in.
import { fork, type ChildProcess } from "node:child_process";
import path from "node:path";
import { startTestProvider, type TestProvider } from "../../../src/testing/index.js";
import { buildPackage } from "../../support/build.js";
import { builtNextApplication, QUIET } from "../applications/next-build.js";
import { startApi, type TransportApi } from "./api.js";
import { Browser, type Protocol } from "./browser.js";
import { selfSigned } from "./self-signed.js";

/** What one process of an application is told. */
export interface ApplicationOptions {
  readonly host: Host;
  readonly protocol: Protocol;
  /** The client at the provider. */
  readonly provider: Readonly<Record<string, string>>;
  /** The API's origin. */
  readonly api: string;
  readonly key?: string;
  readonly cert?: string;
  /** The build of Next.js. */
  readonly folder?: string;
}

export type Host =
  "node" | "express4" | "express5" | "nestjs" | "fastify" | "koa" | "hono" | "fetch" | "next";

const START_TIMEOUT = 120_000;

/** The application's process, called like an object. */
export class ApplicationProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (response: unknown) => void>();
  #calls = 0;
  #isEnding = false;
  #stderr = "";
  port = 0;

  private constructor(options: ApplicationOptions) {
    this.#child = fork(
      path.join(import.meta.dirname, "application.mjs"),
      [JSON.stringify(options)],
      {
        execArgv: ["--expose-gc"],
        // Without NODE_OPTIONS, because a recorder of the test run keeps what it sees.
        env: {
          PATH: process.env["PATH"],
          NODE_ENV: "production",
          ...QUIET,
          ...(options.protocol === "h2" && { NODE_NO_WARNINGS: "1" }),
        },
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      },
    );
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
  }

  static async start(options: ApplicationOptions): Promise<ApplicationProcess> {
    const started = new ApplicationProcess(options);
    started.port = await new Promise<number>((resolve, reject) => {
      const late = setTimeout(() => {
        started.#child.kill("SIGKILL");
        reject(new Error(`The application did not start in time: ${started.#stderr}`));
      }, START_TIMEOUT);
      started.#child.on(
        "message",
        (message: { port: number } | { id: number; response: unknown }) => {
          if ("port" in message) {
            clearTimeout(late);
            resolve(message.port);
          } else started.#waiting.get(message.id)?.(message.response);
        },
      );
      started.#child.once("exit", (code, signal) => {
        clearTimeout(late);
        if (!started.#isEnding)
          reject(
            new Error(`The application ended with ${String(code ?? signal)}: ${started.#stderr}`),
          );
      });
    });
    return started;
  }

  /** Starts to look for the largest memory. */
  watch(): Promise<unknown> {
    return this.#call("watch");
  }

  /** The largest memory since `watch`, in bytes. */
  most(): Promise<{ readonly rss: number; readonly external: number }> {
    return this.#call("most");
  }

  /** Bytes that are in use after garbage collections. */
  inUse(): Promise<number> {
    return this.#call("inUse");
  }

  /** Unhandled rejections and uncaught exceptions so far. */
  unhandled(): Promise<readonly string[]> {
    return this.#call("unhandled");
  }

  stop(): void {
    this.#isEnding = true;
    this.#child.kill("SIGKILL");
  }

  #call<Response>(method: string): Promise<Response> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error(`The application's process has ended: ${this.#stderr}`);
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve as (response: unknown) => void);
      this.#child.send({ id, method });
    });
  }
}

/** The parties of a proxied request, with a process for the application. */
export interface Stage {
  readonly app: ApplicationProcess;
  readonly api: TransportApi;
  readonly browser: Browser;
  readonly provider: TestProvider;
  stop(): Promise<void>;
}

export async function startStage(host: Host, protocol: Protocol): Promise<Stage> {
  // It names the package as a stranger does, so the build is what runs.
  await buildPackage();
  const provider = await startTestProvider({ accessTokenSeconds: 86_400, idTokenSeconds: 86_400 });
  const api = await startApi();
  const { issuer, clientId, clientSecret } = provider;
  const app = await ApplicationProcess.start({
    host,
    protocol,
    provider: { issuer, clientId, clientSecret },
    api: api.origin,
    ...(protocol === "h2" && selfSigned()),
    ...(host === "next" && { folder: await builtNextApplication() }),
  });
  const browser = new Browser(protocol, app.port);
  await browser.signIn(provider);
  return {
    app,
    api,
    browser,
    provider,
    async stop() {
      browser.close();
      app.stop();
      await Promise.all([api.stop(), provider.stop()]);
    },
  };
}
