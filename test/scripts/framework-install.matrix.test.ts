import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** A folder that wants this package, and an environment without a registry. */
function offline(dependencies: object): { folder: string; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (file: string, content: object) =>
    writeFileSync(path.join(folder, file), JSON.stringify(content));
  write("package.json", { private: true, dependencies });
  const packages = {
    "": { dependencies: { "idpauth-needs-this": "1.0.0" } },
    "node_modules/idpauth-needs-this": { version: "1.0.0", integrity: "sha512-AAAA" },
  };
  write("package-lock.json", { lockfileVersion: 3, requires: true, packages });
  const env = {
    ...process.env,
    CI: "",
    // Nobody listens there.
    npm_config_registry: "http://127.0.0.1:1/",
    npm_config_cache: path.join(folder, "cache"),
  };
  return { folder, env };
}

it("without a network, tests are skipped; with CI=true, that is a failure", async () => {
  const { folder, env } = offline({ "idpauth-needs-this": "1.0.0" });
  expect(await installFramework(folder, env)).toBe(false);
  await expect(installFramework(folder, { ...env, CI: "true" })).rejects.toThrow("npm ci failed");
  expect(existsSync(path.join(folder, "node_modules/.installed"))).toBe(false);
});

it("npm failing for another reason is a failure, never a skipped test", async () => {
  const { folder, env } = offline({ other: "file:other" });
  await expect(installFramework(folder, env)).rejects.toThrow("npm ci failed");
});

const locks = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*package-lock.json"], {
  cwd: ROOT,
  encoding: "utf8",
});

it.each(locks.trim().split("\n"))("%s names no registry, and npm keeps it so", (file) => {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, file), "utf8")) as {
    packages: Record<string, { resolved?: string }>;
  };
  expect(Object.values(packages).filter(({ resolved }) => /^https?:/.test(resolved ?? ""))).toEqual(
    [],
  );
  const npmrc = path.join(ROOT, path.dirname(file), ".npmrc");
  expect(readFileSync(npmrc, "utf8")).toMatch(/^omit-lockfile-registry-resolved=true$/m);
});
