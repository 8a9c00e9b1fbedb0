// Runs the README's quick start with `npx idpauth provider` in an empty folder. Takes the build as it
// is.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { buttonsIn, choose } from "../test/support/choose-person.mjs";
import { packPackage } from "./pack-package.mjs";
import { root } from "./run.mjs";

/** @typedef {import("../src/testing/browser/cookie-browser.js").CookieBrowser} CookieBrowser */
/** @typedef {{ readonly stop: () => Promise<string>, readonly output: () => string }} Running */

const README = readFileSync(path.join(root, "README.md"), "utf8");
const SESSIONS = readFileSync(path.join(root, "docs/how-to/sessions.md"), "utf8");
const SECTION = README.split(/^## /m).find((text) => text.startsWith("Quick start\n")) ?? "";
const [INSTALL = "", PROVIDER = "", CHECK = "", SERVER = ""] = [
  ...SECTION.matchAll(/^```sh\n(.*?)^```$/gms),
]
  .flatMap(([, text = ""]) => text.trim().split("\n"))
  .filter((line) => /^(?:npm|npx|node) /.test(line));

/** Milliseconds that one step may take on a busy machine. */
const PATIENCE = 60_000;

/**
 * @param {{ new (options: { origin: string }): CookieBrowser }} Browser
 * @param {{ tarball?: string }} [options] `tarball` is the packed package. The default packs the
 *   build
 * @returns {Promise<string>} the transcript, without what differs from run to run
 */
export async function followQuickStart(Browser, options = {}) {
  const base = mkdtempSync(path.join(tmpdir(), "idpauth-quick-start-"));
  const folder = path.join(base, "empty");
  mkdirSync(folder);
  // The ports of the README may be in use here.
  const [providerPort, port] = [await freePort(), await freePort()];
  const origin = `http://localhost:${port}`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: base,
    XDG_STATE_HOME: path.join(base, ".local/state"),
    npm_config_cache: npm(["config", "get", "cache"], root).trim(),
    PORT: String(port),
    BASE_URL: origin,
  };
  /** @type {string[]} */
  const lines = [];
  /** @type {Running[]} */
  const running = [];
  /** @param {string} command */
  const begin = async (command) => {
    const [program = "", ...args] = command.split(" ");
    const isProvider = command === PROVIDER;
    const started = start(
      program,
      isProvider ? [...args, `--port=${providerPort}`] : args,
      folder,
      env,
    );
    running.push(started);
    lines.push(`$ ${command}`);
    if (isProvider) await until(() => started.output().includes("Ctrl+C ends"), started.output);
    else await until(() => answers(new Browser({ origin })), started.output);
    if (started.output() !== "") lines.push(...shown(started.output()));
    return started;
  };
  try {
    const tarball = options.tarball ?? packPackage(base).tarball;
    const packages = INSTALL.split(" ")
      .slice(2)
      .map((name) => (/^(?:idpauth|\.\/idpauth-.*\.tgz)$/.test(name) ? tarball : name));
    npm(
      ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", ...packages],
      folder,
    );
    lines.push(`$ ${INSTALL}`);
    writeFileSync(path.join(folder, "server.mjs"), fileOfReadme("server.mjs"));

    const provider = await begin(PROVIDER);
    const checked = start("npx", CHECK.split(" ").slice(1), folder, env);
    await checked.ended;
    lines.push(`$ ${CHECK}`, ...shown(checked.output()).slice(0, 1));
    const application = await begin(SERVER);

    const browser = new Browser({ origin });
    const page = await browser.follow("/reports");
    lines.push(...buttonsIn(page.text).map(({ text }) => `[ ${text} ]`));
    const reports = await choose(browser, page, "Ada Lovelace");
    lines.push(`${reports.status} ${reports.text}`);

    await provider.stop();
    const again = await begin(PROVIDER);
    const reloaded = await browser.get("/reports");
    lines.push(`${reloaded.status} ${reloaded.text}`);

    await application.stop();
    const store = /^```js\n(import \{ sqliteStore \}.*?)^```$/ms.exec(SESSIONS)?.[1] ?? "";
    const server = fileOfReadme("server.mjs").replace(/^const auth = .*\n/m, "");
    writeFileSync(
      path.join(folder, "server.mjs"),
      server.replace("const app", `${store}\nconst app`),
    );
    const stored = start("node", SERVER.split(" ").slice(1), folder, env);
    running.push(stored);
    await until(() => answers(browser), stored.output);
    await choose(browser, await browser.follow("/reports"), "Ada Lovelace");
    await Promise.all([stored.stop(), again.stop()]);
    await begin(PROVIDER);
    await begin(SERVER);
    const kept = await browser.get("/reports");
    lines.push(`${kept.status} ${kept.text}`);
    return `${plain(lines.join("\n"))}\n`;
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    rmSync(base, { recursive: true, force: true });
  }

  /** @param {string} text */
  function plain(text) {
    return (
      text
        .replaceAll(base, "~")
        .replaceAll(`127.0.0.1:${providerPort}`, "127.0.0.1:9400")
        .replaceAll(`provider-${providerPort}`, "provider-9400")
        .replaceAll(`localhost:${port}`, "localhost:3000")
        // docs/reference/errors.md has the text.
        .replaceAll(/^(idpauth warn W\d+: ).*$/gm, "$1…")
    );
  }
}

/** @param {string} name */
function fileOfReadme(name) {
  const text = new RegExp(
    `^\`${name.replace(".", "\\.")}\`:\n\n\`\`\`\\w+\n(.*?)^\`\`\`$`,
    "ms",
  ).exec(SECTION)?.[1];
  if (text === undefined) throw new Error(`The README's quick start has no ${name}.`);
  return text;
}

/** @param {string} output */
function shown(output) {
  return output.trimEnd().split("\n");
}

/**
 * In a process group of its own, which gets the signal of Ctrl+C as a whole, as in a terminal.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {Record<string, string>} env
 */
function start(program, args, cwd, env) {
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
  /** @type {Promise<string>} */
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject).on("close", () => resolve(output));
  });
  const stop = () => {
    try {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, "SIGINT");
    } catch {
      // The group has ended.
    }
    return ended;
  };
  return { ended, stop, output: () => output };
}

/** @param {CookieBrowser} browser */
async function answers(browser) {
  return browser.get("/").then(
    ({ status }) => status === 200,
    () => false,
  );
}

/**
 * @param {() => boolean | Promise<boolean>} condition
 * @param {() => string} output of the program that is waited for
 */
async function until(condition, output) {
  const end = Date.now() + PATIENCE;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`The program did not start in time:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function npm(args, cwd) {
  // What `npm test` sets for its scripts would make this npm work on the project instead of the
  // folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?:package|lifecycle|command|config_(?:local_prefix|prefix))/.test(name),
    ),
  );
  return execFileSync("npm", args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}
