// Builds the version of oauth2-proxy that go.mod pins.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const MODULE = "github.com/oauth2-proxy/oauth2-proxy/v7";
/** Seconds between two lines that say that the build goes on. */
const PROGRESS = 15;
const folder = import.meta.dirname;

export const binary = fileURLToPath(
  new URL("../../results/peers/oauth2-proxy/oauth2-proxy", import.meta.url),
);

/**
 * @param {(text: string) => void} say
 * @returns {Promise<string | undefined>} why there is no program
 */
export async function build(say) {
  if (spawnSync("go", ["version"]).status !== 0) return "it needs Go 1.26 or newer";
  mkdirSync(path.dirname(binary), { recursive: true });
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  say("building it with Go; the first build takes minutes ...");
  const progress = setInterval(() => say(`still building, ${seconds()} s ...`), PROGRESS * 1000);
  // Without the flag, Go asks git about the repository around it.
  const child = spawn("go", ["build", "-buildvcs=false", "-o", binary, MODULE], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors = (errors + text).slice(-2000)));
  const code = await new Promise((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  clearInterval(progress);
  if (code !== 0) return `go build failed: ${errors.trim()}`;
  say(`built in ${seconds()} s`);
  return undefined;
}

/**
 * @returns {{ version: string, modules: number }} of the program that was built; `modules` counts
 *   itself too
 */
export function built() {
  const { stdout } = spawnSync("go", ["version", "-m", binary], { encoding: "utf8" });
  const version = /^\tmod\t\S+\t(\S+)/m.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${binary} doesn't say which version it is.`);
  return { version, modules: 1 + (stdout.match(/^\tdep\t/gm)?.length ?? 0) };
}
