import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { eventually } from "../../support/eventually.js";
import { NEXT_APPLICATION } from "./next-installed.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCE = NEXT_APPLICATION;
const NEXT = path.join(SOURCE, "node_modules/next");
/**
 * Below the application, where Next.js finds itself and React; what is called dist, git and the
 * checks leave alone.
 */
const BUILDS = path.join(SOURCE, "dist");
/** Of the folder that Next.js is installed in; a build has its own, or none. */
const OF_THE_FOLDER = [
  "dist",
  "node_modules",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
];
const HOUR = 3_600_000;

/** Next.js asks nobody and tells nobody anything. */
export const QUIET = { NEXT_TELEMETRY_DISABLED: "1" };

/**
 * The application of test/adapters/next-application as `next build` makes it, from this very source
 * of the package. Built once for all test files, which run in processes of their own, and again
 * when a source has changed. No secret is in the environment of the build.
 *
 * @returns the application's folder
 */
export async function builtNextApplication(): Promise<string> {
  const folder = path.join(BUILDS, fingerprint());
  const finished = path.join(folder, "finished");
  if (existsSync(finished)) return folder;
  mkdirSync(BUILDS, { recursive: true });
  for (const old of readdirSync(BUILDS)) {
    const build = path.join(BUILDS, old);
    if (Date.now() - statSync(build).mtimeMs > HOUR)
      rmSync(build, { recursive: true, force: true });
  }
  try {
    mkdirSync(folder);
  } catch {
    // Another process builds it.
    return eventually(async () => (readFileSync(finished), folder), 240_000);
  }
  try {
    await build(folder);
    writeFileSync(`${finished}.part`, "");
    renameSync(`${finished}.part`, finished);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function build(folder: string): Promise<void> {
  for (const name of readdirSync(SOURCE)) {
    if (!OF_THE_FOLDER.includes(name) && !name.startsWith("."))
      cpSync(path.join(SOURCE, name), path.join(folder, name), { recursive: true });
  }
  writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module" }),
  );
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { jsx: "react-jsx" } }),
  );
  await pack(path.join(folder, "node_modules/idpauth"));
  await promisify(execFile)(process.execPath, [path.join(NEXT, "dist/bin/next"), "build"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...QUIET },
  }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`next build failed:\n${stdout}${stderr}`);
  });
}

/** The package, bundled as scripts/build.mjs does it, but for this one host. */
async function pack(folder: string): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: { index: "src/index.ts", "adapters/next/next": "src/adapters/next/next.ts" },
    external: /^[a-z@]/,
    platform: "node",
    resolve: { extensionAlias: { ".js": [".ts"] } },
    tsconfig: false,
  });
  await bundle.write({
    dir: path.join(folder, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
  });
  await bundle.close();
  cpSync(path.join(ROOT, "package.json"), path.join(folder, "package.json"));
}

/** Changes with everything that the build is made from. */
function fingerprint(): string {
  const hash = createHash("sha256").update(readFileSync(path.join(NEXT, "package.json")));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  for (const folder of [SOURCE, path.join(ROOT, "src")]) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (
        !entry.isFile() ||
        file.startsWith(BUILDS) ||
        file.startsWith(path.join(SOURCE, "node_modules")) ||
        file.includes("/src/testing/") ||
        file.includes("/src/cli/")
      )
        continue;
      hash.update(file).update(readFileSync(file));
    }
  }
  return hash.digest("hex").slice(0, 16);
}
