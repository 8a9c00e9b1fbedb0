import { chromium, type Browser } from "playwright-core";
import { findProgram, isExecutable } from "../../scripts/debian-program.mjs";
import { findOrInstall } from "./debian-package.js";

/** Where Chromium is, or why there is none. */
export type ChromiumSearch =
  | { readonly executablePath: string }
  | { readonly executablePath: undefined; readonly reason: string };

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
 * Chromium for the browser tests: found, else installed where that is possible. Undefined: the
 * tests that need it are to be skipped, and the reason is on stderr. Rejects instead when `CI` is
 * `true`, where nothing may be skipped unnoticed.
 */
export async function chromiumForTests(): Promise<string | undefined> {
  const search = await findChromium();
  if (search.executablePath !== undefined) return search.executablePath;
  const message = `no Chromium: ${search.reason}. Install it (Debian: apt-get install ${PACKAGES}) or set CHROMIUM_PATH to its executable`;
  if (process.env["CI"] === "true") throw new Error(message);
  process.stderr.write(`browser tests are skipped, ${message}\n`);
  return undefined;
}

/**
 * Looks at CHROMIUM_PATH, then for Chromium's usual names, then installs Debian's package when root
 * has apt-get.
 */
export async function findChromium(env: NodeJS.ProcessEnv = process.env): Promise<ChromiumSearch> {
  const named = env["CHROMIUM_PATH"];
  if (named !== undefined && named !== "") {
    return (await isExecutable(named))
      ? { executablePath: named }
      : { executablePath: undefined, reason: `CHROMIUM_PATH is set, and ${named} cannot be run` };
  }
  const search = await findOrInstall(
    { name: "Chromium", packages: PACKAGES },
    () => installedChromium(env),
    env,
  );
  return search.path === undefined
    ? { executablePath: undefined, reason: search.reason }
    : { executablePath: search.path };
}

/**
 * @param options.cachesPages keeps pages in the back/forward cache, which Playwright turns off
 * @param options.args more arguments for Chromium
 */
export function launchChromium(
  executablePath: string,
  { cachesPages = false, args = [] }: { cachesPages?: boolean; args?: readonly string[] } = {},
): Promise<Browser> {
  const ignored = cachesPages ? { ignoreDefaultArgs: ["--disable-back-forward-cache"] } : {};
  return chromium.launch({ executablePath, args: [...LAUNCH_ARGS, ...args], ...ignored });
}

async function installedChromium(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (await isExecutable("/usr/bin/chromium")) return "/usr/bin/chromium";
  for (const name of NAMES) {
    const found = await findProgram(name, env);
    if (found !== undefined) return found;
  }
  return undefined;
}
