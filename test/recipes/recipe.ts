import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageProgram } from "../../scripts/locked-packages.mjs";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { PackedPackage, installPackage } from "../examples/example-process.js";
import { freePort } from "../support/free-port.js";

// One recipe of docs/how-to/fetch-frameworks.md in a real application: the code blocks of its
// section as they are, between pages out of test/recipes/FRAMEWORK/application/, built and served
// as in production, over the packed package.

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(path.join(ROOT, "docs/how-to/fetch-frameworks.md"), "utf8");

/** Where users reach the application: over https, as in production, by a proxy before it. */
export const ORIGIN = "https://app.example";

/** Milliseconds for an installation with an empty cache and a build. */
export const PREPARATION = 600_000;

/** Milliseconds until a server that was built answers. */
const START = 120_000;

export interface RecipeOptions {
  /** The folder in test/recipes. */
  readonly framework: string;
  /** The heading of its section in the docs, without versions. */
  readonly section: string;
  /** Where the file `auth.ts`, which all recipes share, belongs. */
  readonly authFile: string;
  /** What the test has to put into a file of the recipe, such as a route of its own. */
  readonly change?: (file: string, code: string) => string;
  /** The package whose program builds, and its arguments. None: nothing to build. */
  readonly build?: readonly string[];
  /** The program that serves, if it is not Node. */
  readonly runtime?: string;
  /** Its arguments. */
  readonly serve: readonly string[];
  /**
   * The path that the application runs below, such as `/app`. Its configuration reads it from
   * BASE_PATH.
   */
  readonly base?: string;
  /** What the application's own settings say beside PORT, HOST and idpauth's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A recipe's application, which runs. */
export interface RunningRecipe {
  readonly port: number;
  /** The base path, else empty. */
  readonly base: string;
  readonly provider: TestProvider;
  /** The folder that it was built in. */
  readonly folder: string;
  /** Ends the server, starts it again, with these settings instead of its own. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

/** The text of the section with this heading. */
export function sectionOf(heading: string): string {
  const section = PAGE.split(/^(?=## )/m).find((text) => text.startsWith(`## ${heading}`));
  if (section === undefined)
    throw new Error(`docs/how-to/fetch-frameworks.md has no section ${heading}`);
  return section;
}

/** The code blocks of a text, by the file that each names. */
export function blocksOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$/gms)].map(([, file = "", code = ""]) => [
      file,
      code,
    ]),
  );
}

/**
 * Installs what a framework's recipe needs; false: there is no network, and the reason is on
 * stderr.
 */
export async function canRun(framework: string): Promise<boolean> {
  return installFramework(folderOf(framework));
}

export const folderOf = (framework: string) => path.join(import.meta.dirname, framework);

/** Builds the application and serves it on a free port. {@link canRun} comes first. */
export async function startRecipe(options: RecipeOptions): Promise<RunningRecipe> {
  const source = folderOf(options.framework);
  // Below the framework's folder, where Node finds its node_modules, as in a monorepo.
  mkdirSync(path.join(source, "build"), { recursive: true });
  const folder = mkdtempSync(path.join(source, "build/application-"));
  try {
    cpSync(path.join(source, "application"), folder, { recursive: true });
    write(folder, "package.json", readFileSync(path.join(source, "package.json"), "utf8"));
    const { change = (_, code) => code, base = "" } = options;
    const shared = blocksOf(sectionOf("Guard by the route"));
    for (const [file, code] of shared)
      write(folder, file === "auth.ts" ? options.authFile : file, code);
    for (const [file, code] of blocksOf(sectionOf(options.section)))
      write(folder, file, change(file, code));
    const packed = await PackedPackage.pack();
    try {
      installPackage(packed, path.join(folder, "node_modules"));
    } finally {
      packed.remove();
    }
    const provider = await startTestProvider();
    const port = await freePort();
    const settings = {
      ...provider.env,
      SECRET_KEY: "a secret key of at least 32 bytes",
      BASE_URL: ORIGIN,
      SCOPE: "openid email profile offline_access",
    };
    const { PATH, HOME } = process.env;
    const surroundings = {
      PATH,
      HOME,
      CI: "true",
      NODE_ENV: "production",
      ASTRO_TELEMETRY_DISABLED: "1",
      NITRO_TELEMETRY_DISABLED: "1",
      ...(base !== "" && { BASE_PATH: base, IDP_MOUNT_PATH: `${base}/idpauth/` }),
      ...options.env,
    };
    // A build has no settings: nothing of the recipe may ask for them there.
    if (options.build) {
      const [builder = "", ...args] = options.build;
      await run([program(options.framework, builder), ...args], folder, surroundings);
    }
    // Without the recorder of the scan for secrets: some frameworks print each request with its
    // query, the callback's included.
    const serving = { ...surroundings, HOST: "127.0.0.1", PORT: String(port), ...settings };
    let server = await serve(options, folder, serving, port);
    return {
      port,
      base,
      provider,
      folder,
      async restart(env = {}) {
        await end(server);
        server = await serve(options, folder, { ...serving, ...env }, port);
      },
      async stop() {
        await end(server);
        await provider.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function write(folder: string, file: string, text: string): void {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

/** The program that a package brings, as `npx` would find it. */
export function program(framework: string, packageName: string): string {
  return packageProgram(folderOf(framework), packageName);
}

async function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = outputOf(child);
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0)
    throw new Error(`node ${args.join(" ")} ended with ${String(code)}:\n${output()}`);
}

async function serve(
  { runtime = process.execPath, serve: args }: RecipeOptions,
  cwd: string,
  env: NodeJS.ProcessEnv,
  port: number,
): Promise<ChildProcess> {
  // A group of its own: some programs are a small one that starts the real one.
  const child = spawn(runtime, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  const output = outputOf(child);
  const deadline = Date.now() + START;
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(
        `${runtime} ${args.join(" ")} ended with ${String(child.exitCode)}:\n${output()}`,
      );
    // A server that answers may still answer with an error, which is the test's to judge.
    const answered = await fetch(`http://127.0.0.1:${String(port)}/`, { redirect: "manual" }).then(
      () => true,
      () => false,
    );
    if (answered) return child;
    if (Date.now() > deadline) {
      await end(child);
      throw new Error(`${runtime} ${args.join(" ")} does not answer:\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function outputOf(child: ChildProcess): () => string {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-8000);
    });
  }
  return () => output;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.on("close", resolve));
  if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
  else process.kill(-child.pid, "SIGKILL");
  await closed;
}
