// Builds a provider from its pinned Go module, and keeps the binary until a source of it changes.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../run.mjs";

const run = promisify(execFile);
const CACHE = path.join(root, "node_modules/.cache/interop");

/**
 * @typedef {object} GoSource
 * @property {string} name of the binary
 * @property {string} title
 * @property {string} folder with go.mod and go.sum
 * @property {string} [module] whose main package is built; default: the folder's own
 * @property {readonly string[]} [flags] of `go build`
 *
 * @typedef {object} GoProgram
 * @property {() => Promise<string | undefined>} missing why it can't be built here, and how to get
 *   what is missing
 * @property {() => Promise<string>} binary its path, once it's built
 */

/**
 * @param {GoSource} source of a program that needs C, because of SQLite
 * @returns {GoProgram}
 */
export function goProgram({ name, title, folder, module: mainPackage = ".", flags = [] }) {
  const goMod = readFileSync(path.join(folder, "go.mod"), "utf8");
  const file = path.join(CACHE, name, `${name}-${hashOf(folder)}`);
  return {
    async missing() {
      if (existsSync(file)) return undefined;
      const needed = /^go (\d+)\.(\d+)/m.exec(goMod)?.slice(1).map(Number) ?? [];
      const wanted = `Install Go ${needed.join(".")} or later and a C compiler.`;
      const found = await run("go", ["env", "GOVERSION", "CC"]).catch(() => undefined);
      if (found === undefined) return `${title} is built with Go, which isn't installed. ${wanted}`;
      const [go = "", compiler = ""] = found.stdout.split("\n");
      if (!isEnough(go, needed)) return `${go} is too old to build ${title}. ${wanted}`;
      const hasCompiler = await run(compiler, ["--version"]).then(
        () => true,
        () => false,
      );
      return hasCompiler ? undefined : `${title}'s SQLite is built with C. ${wanted}`;
    },
    async binary() {
      if (existsSync(file)) return file;
      console.log(`Build: ${title} from its Go module (a few minutes the first time)`);
      mkdirSync(path.dirname(file), { recursive: true });
      await run("go", ["build", "-trimpath", ...flags, `-o=${file}.part`, mainPackage], {
        cwd: folder,
        env: { ...process.env, CGO_ENABLED: "1" },
        maxBuffer: 1 << 26,
      });
      renameSync(`${file}.part`, file);
      return file;
    },
  };
}

/**
 * @param {string} folder with a go.mod
 * @param {string} modulePath
 * @returns {string} the version that it pins, without the "v"
 */
export function pinnedVersion(folder, modulePath) {
  const goMod = readFileSync(path.join(folder, "go.mod"), "utf8");
  const line = new RegExp(`^\\s*(?:require )?${modulePath.replaceAll(".", "\\.")} v(\\S+)`, "m");
  return line.exec(goMod)?.[1] ?? "unknown";
}

/**
 * @param {string} go such as "go1.26.8"
 * @param {readonly number[]} needed
 */
function isEnough(go, [neededMajor = 0, neededMinor = 0]) {
  const [major = 0, minor = 0] = /go(\d+)\.(\d+)/.exec(go)?.slice(1).map(Number) ?? [];
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

/**
 * @param {string} folder
 * @returns {string} which changes with the sources, so that an older build is never used
 */
function hashOf(folder) {
  const hash = createHash("sha256");
  const sources = readdirSync(folder).filter((name) => /^go\.(?:mod|sum)$|\.go$/.test(name));
  for (const name of sources.sort()) hash.update(readFileSync(path.join(folder, name)));
  return hash.digest("hex").slice(0, 12);
}
