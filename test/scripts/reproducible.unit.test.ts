import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { differingFiles } from "../../scripts/reproducible.mjs";

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-differing-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return folder;
}

const FILES = { "package.json": "{}", "dist/index.js": "export {};", "dist/empty.js": "" };

it("folders with the same files don't differ", () => {
  expect(differingFiles(folderOf(FILES), folderOf(FILES))).toEqual([]);
});

it("a file with another content, and a file that only one folder has, are named", () => {
  const one = folderOf({ ...FILES, "dist/index.js": "export { };" });
  const { "dist/empty.js": _, ...others } = FILES;
  const other = folderOf({ ...others, "dist/z.js": "" });
  expect(differingFiles(one, other)).toEqual(
    ["dist/empty.js", "dist/index.js", "dist/z.js"].map(path.normalize),
  );
});
