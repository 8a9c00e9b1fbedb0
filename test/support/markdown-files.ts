import { readdirSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Folders of packages and of what commands write. */
const OTHERS = new Set([
  "build",
  "coverage",
  "dist",
  "node_modules",
  "pages",
  "release",
  "reports",
]);

/** The paths of all Markdown files of the repository, with slashes. */
export function markdownFiles(folder = ""): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (!entry.isDirectory()) return file.endsWith(".md") ? file : [];
    return entry.name.startsWith(".") || OTHERS.has(entry.name) ? [] : markdownFiles(file);
  });
}
