// Copies the types that the package publishes: the declarations, as tsc writes them, of each module
// that an entry's types need. Where `src/` is in the package, a map leads an editor to the source.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { isShipped } from "./entries.mjs";
import { readJson } from "./run.mjs";
import { mapOfLines } from "./source-maps.mjs";

/**
 * @param {string} from the folder with the types of all modules
 * @param {string} to
 * @param {readonly string[]} entries files below `from`, such as `adapters/koa/koa.d.ts`
 */
export function copyEntryTypes(from, to, entries) {
  const types = neededTypes((file) => readFileSync(path.join(from, file), "utf8"), entries);
  for (const [file, text] of types) {
    const target = path.join(to, file);
    mkdirSync(path.dirname(target), { recursive: true });
    if (isShipped(`src/${file.replace(/\.d\.ts$/, ".ts")}`)) {
      writeFileSync(target, text);
      const map = /** @type {{ mappings: string }} */ (readJson(path.join(from, `${file}.map`)));
      writeFileSync(`${target}.map`, mapOfLines(map, text));
    } else writeFileSync(target, text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ""));
  }
}

/**
 * @param {(file: string) => string} read
 * @param {readonly string[]} entries
 * @returns {Map<string, string>} the text of the entries, and of each file that these import
 */
export function neededTypes(read, entries) {
  const texts = new Map(entries.map((file) => [file, read(file)]));
  // A Map also visits what is added during the loop.
  for (const [file, text] of texts) {
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (!fileName.startsWith(".")) continue;
      const needed = path.posix.join(path.posix.dirname(file), fileName.replace(/\.js$/, ".d.ts"));
      if (!texts.has(needed)) texts.set(needed, read(needed));
    }
  }
  return texts;
}
