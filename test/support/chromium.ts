import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { tmpdir } from "node:os";
import { chromium, type Browser } from "playwright-core";

/** Where Chromium is, or why there is none. */
export type ChromiumSearch = { readonly executablePath: string } | { readonly executablePath: undefined; readonly reason: string };

const NAMES = ["chromium", "chromium-browser", "google-chrome"] as const;
const PACKAGES = "chromium fonts-dejavu-core";

const LAUNCH_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Chromium for the browser tests: found, else installed where that is possible. Undefined: the tests that need it are to be
 * skipped, and the reason is on stderr. Rejects instead when `CI` is `true`, where nothing may be skipped unnoticed.
 */
export async function chromiumForTests(): Promise<string | undefined> {
  const search = await findChromium();
  if (search.executablePath !== undefined) return search.executablePath;
  const message = `no Chromium: ${search.reason}. Install it (Debian: apt-get install ${PACKAGES}) or set CHROMIUM_PATH to its executable`;
  if (process.env["CI"] === "true") throw new Error(message);
  process.stderr.write(`browser tests are skipped, ${message}\n`);
  return undefined;
}

/** Looks at CHROMIUM_PATH, then for Chromium's usual names, then installs Debian's package when root has apt-get. */
export async function findChromium(env: NodeJS.ProcessEnv = process.env): Promise<ChromiumSearch> {
  const named = env["CHROMIUM_PATH"];
  if (named !== undefined && named !== "") {
    return (await isExecutable(named))
      ? { executablePath: named }
      : { executablePath: undefined, reason: `CHROMIUM_PATH is set, and ${named} cannot be run` };
  }
  const present = await installedChromium(env);
  if (present !== undefined) return { executablePath: present };
  if (process.getuid?.() !== 0) return { executablePath: undefined, reason: "none is installed, and only root could install it" };
  if ((await onPath("apt-get", env)) === undefined)
    return { executablePath: undefined, reason: "none is installed, and there is no apt-get to install it" };
  const failure = await install(env);
  const installed = await installedChromium(env);
  if (installed !== undefined) return { executablePath: installed };
  return {
    executablePath: undefined,
    reason: `none is installed, and apt-get did not bring it (${failure ?? "no such program afterwards"})`,
  };
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: LAUNCH_ARGS });
}

async function installedChromium(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (await isExecutable("/usr/bin/chromium")) return "/usr/bin/chromium";
  for (const name of NAMES) {
    const found = await onPath(name, env);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Installs under a lock, since test files run in several processes; gives the last line of what went wrong, if it did. */
function install(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  process.stderr.write("installing Chromium for the browser tests with apt-get (once, some 100 MB) ...\n");
  const script = `command -v chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends ${PACKAGES}; }`;
  return new Promise((resolve) => {
    const child = spawn("flock", [join(tmpdir(), "install-chromium.lock"), "sh", "-c", script], {
      env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      errors = (errors + chunk).slice(-2000);
    });
    child.on("error", (error) => {
      resolve(error.message);
    });
    child.on("close", (code) => {
      resolve(code === 0 ? undefined : errors.trim().split("\n").at(-1) || `exit code ${String(code)}`);
    });
  });
}
