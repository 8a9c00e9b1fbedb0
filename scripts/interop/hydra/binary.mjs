// Gets Ory Hydra: the binary that HYDRA names, or one built from the pinned Go module.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../../run.mjs";

const run = promisify(execFile);
const MODULE = "github.com/ory/hydra/v2";
const CACHE = path.join(root, "node_modules/.cache/interop/hydra");
const goMod = readFileSync(path.join(import.meta.dirname, "go.mod"), "utf8");

/** The version that go.mod pins. */
export const VERSION = new RegExp(`^\\s*${MODULE} v(\\S+)`, "m").exec(goMod)?.[1] ?? "unknown";
const GO = /^go (\d+)\.(\d+)/m.exec(goMod)?.slice(1).map(Number) ?? [];

/** @returns {Promise<string | undefined>} why Hydra can't run here, and how to get it */
export async function whatIsMissing() {
  const { HYDRA } = process.env;
  if (HYDRA !== undefined)
    return existsSync(HYDRA) ? undefined : `HYDRA is ${HYDRA}, which doesn't exist.`;
  if (existsSync(cached())) return undefined;
  const wanted = `Install Go ${GO.join(".")} or later and a C compiler, or set HYDRA to a hydra ${VERSION} binary with SQLite.`;
  const found = await run("go", ["env", "GOVERSION", "CC"]).catch(() => undefined);
  if (found === undefined) return `Hydra is built with Go, which isn't installed. ${wanted}`;
  const [go = "", compiler = ""] = found.stdout.split("\n");
  if (!isEnough(go)) return `${go} is too old to build Hydra. ${wanted}`;
  const hasCompiler = await run(compiler, ["--version"]).then(
    () => true,
    () => false,
  );
  return hasCompiler ? undefined : `Hydra's SQLite is built with C. ${wanted}`;
}

/** @param {string} go such as "go1.26.8" */
function isEnough(go) {
  const [major = 0, minor = 0] = /go(\d+)\.(\d+)/.exec(go)?.slice(1).map(Number) ?? [];
  const [neededMajor = 0, neededMinor = 0] = GO;
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

/** @returns {Promise<string>} the path of the binary, which is built if it isn't there */
export async function hydraBinary() {
  const { HYDRA } = process.env;
  if (HYDRA !== undefined) return HYDRA;
  const binary = cached();
  if (existsSync(binary)) return binary;
  console.log(`Build: Hydra ${VERSION} from its Go module (a few minutes the first time)`);
  mkdirSync(path.dirname(binary), { recursive: true });
  const version = `-X ${MODULE}/driver/config.Version=v${VERSION}`;
  await run(
    "go",
    [
      "build",
      "-trimpath",
      "-tags=sqlite,json1",
      `-ldflags=-s -w ${version}`,
      `-o=${binary}.part`,
      MODULE,
    ],
    { cwd: import.meta.dirname, env: { ...process.env, CGO_ENABLED: "1" }, maxBuffer: 1 << 26 },
  );
  renameSync(`${binary}.part`, binary);
  return binary;
}

/** Its name changes with the pinned modules, so that an older build is never used. */
function cached() {
  const modules = readFileSync(path.join(import.meta.dirname, "go.sum"), "utf8");
  const hash = createHash("sha256").update(goMod).update(modules).digest("hex").slice(0, 12);
  return path.join(CACHE, `hydra-${VERSION}-${hash}`);
}
