import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-install-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A folder that wants one package: a local one, for which npm asks no registry, or one that only a
 * registry has.
 */
function wants(dependency: "local" | "registry", version = "1.0.0"): void {
  const write = (file: string, content: object) =>
    writeFileSync(path.join(folder, file), JSON.stringify(content));
  mkdirSync(path.join(folder, "local"), { recursive: true });
  write("local/package.json", { name: "local", version });
  const dependencies =
    dependency === "local" ? { local: "file:local" } : { "idpauth-needs-this": "1.0.0" };
  write("package.json", { private: true, version, dependencies });
  const packages =
    dependency === "local"
      ? { local: { version }, "node_modules/local": { resolved: "local", link: true } }
      : { "node_modules/idpauth-needs-this": { version: "1.0.0", integrity: "sha512-AAAA" } };
  write("package-lock.json", {
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { "": { version, dependencies }, ...packages },
  });
}

/** Nobody listens there. */
const offline = () => ({
  ...process.env,
  CI: "",
  npm_config_registry: "http://127.0.0.1:1/",
  npm_config_cache: path.join(folder, "cache"),
});

const installed = () => statSync(path.join(folder, "node_modules/.installed")).mtimeMs;

describe("the packages of one framework", () => {
  it("are installed once, however many start; again only after the lock file has changed", async () => {
    wants("local");
    expect(
      await Promise.all([
        installFramework(folder),
        installFramework(folder),
        installFramework(folder),
      ]),
    ).toEqual([true, true, true]);
    expect(existsSync(path.join(folder, "node_modules/local/package.json"))).toBe(true);
    const first = installed();
    // npm ci deletes node_modules, so this file tells whether it ran.
    writeFileSync(path.join(folder, "node_modules/witness"), "");
    await installFramework(folder);
    expect([installed(), existsSync(path.join(folder, "node_modules/witness"))]).toEqual([
      first,
      true,
    ]);
    wants("local", "1.0.1");
    await installFramework(folder);
    expect(existsSync(path.join(folder, "node_modules/witness"))).toBe(false);
  });

  it("without a network: skipped, or with CI=true a failure", async () => {
    wants("registry");
    expect(await installFramework(folder, offline())).toBe(false);
    await expect(installFramework(folder, { ...offline(), CI: "true" })).rejects.toThrow(
      /npm ci failed/,
    );
    expect(existsSync(path.join(folder, "node_modules/.installed"))).toBe(false);
  });

  it("npm failing for another reason is a failure, never a skipped test", async () => {
    wants("local");
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as object;
    writeFileSync(
      path.join(folder, "package.json"),
      JSON.stringify({ ...manifest, scripts: { preinstall: "exit 3" } }),
    );
    await expect(installFramework(folder, offline())).rejects.toThrow(/npm ci failed/);
  });
});

describe("lock files", () => {
  const files = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "*package-lock.json"],
    {
      cwd: ROOT,
      encoding: "utf8",
    },
  )
    .trim()
    .split("\n");

  it.each(files)("%s names no registry, and npm keeps it so", (file) => {
    const { packages } = JSON.parse(readFileSync(path.join(ROOT, file), "utf8")) as {
      packages: Record<string, { resolved?: string }>;
    };
    expect(
      Object.values(packages).filter(({ resolved }) => /^https?:/.test(resolved ?? "")),
    ).toEqual([]);
    const npmrc = path.join(ROOT, path.dirname(file), ".npmrc");
    expect(readFileSync(npmrc, "utf8")).toMatch(/^omit-lockfile-registry-resolved=true$/m);
  });
});
