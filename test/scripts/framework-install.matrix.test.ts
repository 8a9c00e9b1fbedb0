import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");

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
