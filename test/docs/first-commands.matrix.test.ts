import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"; // prettier-ignore
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageProgram } from "../../scripts/locked-packages.mjs";
import { packPackage } from "../../scripts/pack-package.mjs";
import { pageWithLinks } from "../../scripts/project-links.mjs";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { buildPackage } from "../support/build.js";
import { choose } from "../support/choose-person.mjs";
import { freePort } from "../support/free-port.js";
import { startLocalRegistry, type LocalRegistry } from "../support/local-registry.js";

// The first commands of the pages that begin with an empty folder, as they are printed: with the
// packed tarball while the package isn't on npm, and from a registry once it is.

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };

const FORMS = [
  ["the tarball", { repository: "", documentation: "", contact: "" }],
  [
    "a registry",
    {
      repository: "https://git.example/idpauth/idpauth",
      documentation: "https://idpauth.example",
      contact: "https://idpauth.example/contact",
    },
  ],
] as const;

const TABS = /^<!-- tabs -->\n(.*?)^<!-- \/tabs -->$/gms;
const BLOCK =
  /(?:(?:^`([^`\n]+)`:|^Write this to `([^`\n]+)`[^\n]*)\n+)?(?:<!-- snippet: [^\n]* -->\n+)?^```(\w+)\n(.*?)^```$/gms;

/** Each page, and the tab that is read. */
const PAGES: readonly (readonly [file: string, tab: string])[] = [
  "README.md",
  "docs/index.md",
  ...readdirSync(path.join(ROOT, "docs/start"))
    .filter((name) => name !== "index.md")
    .map((name) => `docs/start/${name}`),
].flatMap((file) => {
  const text = read(file);
  const names = [...text.matchAll(TABS)]
    .filter(([, inside = ""]) => inside.includes("```sh"))
    .flatMap(([, inside = ""]) => [...inside.matchAll(/^#### (.+)$/gm)])
    .map(([, name = ""]) => name);
  return names.length === 0
    ? [[file, ""] as const]
    : [...new Set(names)].map((tab) => [file, tab] as const);
});

/** Milliseconds that one program may take on a busy machine. */
const PATIENCE = 240_000;

/** What npm reads besides its own configuration. A test needs no scripts of packages. */
const NPM = {
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_ignore_scripts: "true",
  npm_config_prefer_offline: "true",
  npm_config_update_notifier: "false",
  NEXT_TELEMETRY_DISABLED: "1",
};
/** What `npm test` sets would make npm work on the project instead of the folder. */
const OUTSIDE = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^npm_(?:package|lifecycle|command|config_(?:local_prefix|prefix))|^(?:VITEST|NODE_ENV$|NODE_OPTIONS$|IDP_)/.test(
        name,
      ),
  ),
);

/** The programs of other runtimes, which a reader of their tabs has. */
const RUNTIMES = ["bun", "deno"];

let folder = "";
let tarball = "";
let registry: LocalRegistry;

/** Puts the runtimes that the recipes' tests run into a folder of PATH. */
async function installRuntimes(bin: string): Promise<void> {
  mkdirSync(bin);
  for (const name of RUNTIMES) {
    const packages = path.join(ROOT, "test/recipes", name);
    if (!(await installFramework(packages))) continue;
    const file = packageProgram(packages, name);
    const command = file.endsWith(".cjs") ? `"${process.execPath}" "${file}"` : `"${file}"`;
    writeFileSync(path.join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  }
  OUTSIDE["PATH"] = `${bin}:${OUTSIDE["PATH"] ?? ""}`;
}

beforeAll(async () => {
  await buildPackage();
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-first-"));
  await installRuntimes(path.join(folder, "bin"));
  tarball = packPackage(folder).tarball;
  const others = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8", env: OUTSIDE }).trim(); // prettier-ignore
  registry = await startLocalRegistry(tarball, others);
}, 600_000);

afterAll(async () => {
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("are on every page, in the order of the reader: install first, then the command of the package", () => {
  expect(PAGES.length).toBeGreaterThan(11);
  for (const [file, tab] of PAGES) {
    const { commands } = stepsOf(pageWithLinks(read(file), file, FORMS[0][1], version), tab);
    const installs = commands.findIndex((line) => line.startsWith("npm install ./idpauth-"));
    const runs = commands.findIndex((line) => line.includes("idpauth provider"));
    expect(installs, file).toBeGreaterThanOrEqual(0);
    expect(runs, file).toBeGreaterThan(installs);
  }
});

/** The forms of the commands differ in one name, so two pages show that a registry's works. */
const FROM_REGISTRY = ["README.md", "docs/start/express.md"];

describe.each(FORMS)("in an empty folder, with %s", (form, project) => {
  const pages = PAGES.filter(([file]) => form === "the tarball" || FROM_REGISTRY.includes(file));

  it.each(pages)("%s %s", async (file, tab) => {
    const steps = stepsOf(pageWithLinks(read(file), file, project, version), tab);
    const place = mkdtempSync(path.join(folder, "app-"));
    const isPacked = form === "the tarball";
    // What the sentence before the first command tells the reader to do.
    if (isPacked) copyFileSync(tarball, path.join(place, path.basename(tarball)));
    const npm = isPacked ? {} : { npm_config_registry: registry.url };
    await follow(steps, place, npm, file === "README.md" ? signIn : undefined);
    rmSync(place, { recursive: true, force: true });
  }, 600_000); // prettier-ignore
});

it("an example installs the tarball and doesn't ask npm for the package", async () => {
  const place = path.join(folder, "examples/express");
  cpSync(path.join(ROOT, "examples/express"), place, {
    recursive: true,
    filter: (source) => path.basename(source) !== "node_modules",
  });
  mkdirSync(path.join(folder, "release"));
  copyFileSync(tarball, path.join(folder, "release", path.basename(tarball)));
  const file = "examples/express/README.md";
  const { commands } = stepsOf(pageWithLinks(read(file), file, FORMS[0][1], version), "");
  const [install = ""] = commands;
  expect(install).toMatch(/^npm install --no-save /);
  const asked = registry.asked();
  const env = { ...OUTSIDE, ...NPM, npm_config_registry: registry.url };
  const child = spawn("sh", ["-c", install], { cwd: place, env, stdio: "ignore" });
  expect((await once(child, "close"))[0]).toBe(0);
  expect(registry.asked()).toBe(asked);
  const main = path.join(place, "node_modules/idpauth/dist/index.js");
  expect(readFileSync(main, "utf8")).toBe(read("dist/index.js"));
}, 300_000); // prettier-ignore

it("`npx --no` runs nothing that isn't installed, although a registry has it", async () => {
  const place = mkdtempSync(path.join(folder, "empty-"));
  // npx also runs what it has once installed into its cache.
  const npm_config_cache = path.join(folder, "npm-cache");
  const env = { ...OUTSIDE, ...NPM, npm_config_registry: registry.url, npm_config_cache };
  // The registry is in this process, so the command must not block it.
  const command = async (answer: string): Promise<{ status: unknown; output: string }> => {
    const child = spawn("npx", [answer, "idpauth", "check"], { cwd: place, env, stdio: "pipe" });
    const [out, err, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]); // prettier-ignore
    return { status, output: out + err };
  };
  const refused = await command("--no");
  expect(refused.output).toContain("canceled due to missing packages");
  expect(refused.output).not.toContain("idpauth check:");
  expect(refused.status).not.toBe(0);
  expect((await command("--yes")).output).toContain("idpauth check:");
}, 300_000);

interface Steps {
  readonly commands: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

/** The commands and the files of a page, as the reader of one tab sees them. */
function stepsOf(page: string, tab: string): Steps {
  const text = page.replace(TABS, (_, inside: string) => {
    const found = inside.split(/^#### /m).find((part) => part.startsWith(`${tab}\n`));
    return (found ?? "").slice(tab.length).trim();
  });
  const files = new Map<string, string>();
  const commands: string[] = [];
  for (const [, name, other, language, code = ""] of text.matchAll(BLOCK)) {
    const file = name ?? other;
    if (file !== undefined) files.set(file, code);
    else if (language === "sh") commands.push(...code.trim().split("\n"));
  }
  // The page of NestJS names files of the guide.
  for (const [, file = ""] of text.matchAll(/^- \[`([\w./-]+)`\]\(\.\.\/how-to\/nestjs\.md#/gm))
    files.set(file, stepsOf(read("docs/how-to/nestjs.md"), "").files.get(file) ?? "");
  return { commands: commands.map((line) => line.replace(/ +# .*$/, "")), files };
}

/** What the README's quick start asks for after its last command. */
async function signIn(origin: string): Promise<void> {
  const browser = new CookieBrowser({ origin });
  const reports = await choose(browser, await browser.follow("/reports"), "Ada Lovelace");
  expect([reports.status, reports.text]).toEqual([200, expect.stringContaining("Ada Lovelace")]);
}

/** Runs the commands up to the first that starts the app, which then responds, and is used. */
async function follow(
  { commands, files }: Steps,
  place: string,
  settings: Readonly<Record<string, string>>,
  use?: (origin: string) => Promise<void>,
): Promise<void> {
  const [providerPort, port] = [await freePort(), await freePort()];
  const origin = `http://localhost:${String(port)}`;
  const env = { ...OUTSIDE, ...NPM, ...settings, PORT: String(port), BASE_URL: origin };
  const children: ChildProcess[] = [];
  const run = (command: string) => {
    const child = spawn("sh", ["-c", command], { cwd: place, env, detached: true });
    children.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    return { child, output: () => output, ended: once(child, "close") };
  };
  try {
    for (const command of commands) {
      if (command.includes("idpauth provider")) {
        const { output } = run(`${command} --port=${String(providerPort)}`);
        await expect.poll(output, { timeout: PATIENCE, interval: 100 }).toContain("Ctrl+C ends");
        write(place, files);
      } else if (/^npm |idpauth check/.test(command)) {
        const { output, ended } = run(command);
        expect([command, (await ended)[0], output()]).toEqual([command, 0, expect.anything()]);
        if (command.includes("check")) expect(output()).toContain("idpauth check: 0 errors");
      } else {
        const [program = ""] = command.replace(/^\w+=\S+ /, "").split(" ");
        if (!isInstalled(program)) return;
        const { child, output } = run(command.replace(/^PORT=\d+/, `PORT=${String(port)}`));
        const status = async () =>
          child.exitCode === null
            ? await fetch(`${origin}/idpauth/session`).then((response) => response.status, () => 0)
            : output(); // prettier-ignore
        await expect.poll(status, { timeout: PATIENCE, interval: 200 }).toBe(200);
        await use?.(origin);
        return;
      }
    }
  } finally {
    await Promise.all(children.map(end));
  }
}

function write(place: string, files: ReadonlyMap<string, string>): void {
  for (const [file, text] of files) {
    if (file === ".env") continue; // the provider has written it
    mkdirSync(path.dirname(path.join(place, file)), { recursive: true });
    writeFileSync(path.join(place, file), text);
  }
}

function isInstalled(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { env: OUTSIDE });
    return true;
  } catch {
    return false;
  }
}

/** Ends a command with what it has started. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "close");
  process.kill(-child.pid, "SIGKILL");
  await ended;
}
