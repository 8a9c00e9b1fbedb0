// Builds oauth2-proxy from the Go module that go.mod pins, as its own Makefile does.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { root } from "../../../scripts/run.mjs";

const MODULE = "github.com/oauth2-proxy/oauth2-proxy/v7";
const folder = import.meta.dirname;
const goMod = readFileSync(path.join(folder, "go.mod"), "utf8");
const goSum = readFileSync(path.join(folder, "go.sum"), "utf8");
/** Seconds between two lines that say that the build goes on. */
const PROGRESS = 15;

/** The version that go.mod pins. */
export const VERSION = new RegExp(`^\\s*${MODULE} v(\\S+)`, "m").exec(goMod)?.[1] ?? "unknown";

/** Its name changes with the pinned modules, so that an older build is never used. */
export const binary = path.join(
  root,
  "node_modules/.cache/compare/oauth2-proxy",
  `oauth2-proxy-${VERSION}-${createHash("sha256").update(goMod).update(goSum).digest("hex").slice(0, 12)}`,
);

/**
 * @param {(text: string) => void} say
 * @returns {Promise<string | undefined>} why there is no program
 */
export async function build(say) {
  if (existsSync(binary)) return undefined;
  if (spawnSync("go", ["version"]).status !== 0)
    return "it is built with Go, which isn't installed";
  mkdirSync(path.dirname(binary), { recursive: true });
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  say(`building ${VERSION} from its Go module, a few minutes the first time ...`);
  const progress = setInterval(() => say(`still building, ${seconds()} s ...`), PROGRESS * 1000);
  const failure = await goBuild(`${binary}.part`);
  clearInterval(progress);
  if (failure !== undefined) return `go build failed: ${failure}`;
  renameSync(`${binary}.part`, binary);
  say(`built in ${seconds()} s`);
  return undefined;
}

/** @param {string} output @returns {Promise<string | undefined>} what Go said when it failed */
async function goBuild(output) {
  const version = `-X ${MODULE}/pkg/version.VERSION=v${VERSION}`;
  const child = spawn("go", ["build", `-ldflags=${version}`, `-o=${output}`, MODULE], {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors = (errors + text).slice(-2000)));
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  return code === 0 ? undefined : errors.trim() || `code ${code}`;
}

/** @returns {string} what the program says of itself */
export function builtVersion() {
  const { stdout } = spawnSync(binary, ["--version"], { encoding: "utf8" });
  return /\bv(\S+)/.exec(stdout)?.[1] ?? stdout.trim();
}

/** @returns {number} how many modules are in the program, with itself */
export function builtModules() {
  const { stdout } = spawnSync("go", ["version", "-m", binary], { encoding: "utf8" });
  return stdout.match(/^\t(?:mod|dep)\t/gm)?.length ?? 0;
}
