import { readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { markdownFiles } from "../support/markdown-files.js";
import { shellEnv } from "../support/shell-env.js";

// docs/reference/settings.md says how to write a value. `docker run` keeps quotes, and so do lists
// without need of any.

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The blocks of settings on a page: lines of a `.env` file, and nothing else. */
const blocksOf = (file: string) =>
  [
    ...readFileSync(path.join(ROOT, file), "utf8").matchAll(
      /^ *```(?:sh|env|ini)?\n(.*?)^ *```$/gms,
    ),
  ]
    .map(([, block = ""]) => block)
    .filter((block) => /^(?:(?:#.*|(?:IDP_|SECRET_KEY|BASE_URL|SCOPE)\w*=.*)?\n)+$/.test(block));

const blocks = markdownFiles()
  .filter((file) => !file.startsWith("docs/contributing/"))
  .flatMap((file) => blocksOf(file).map((block) => [file, block] as const));

it("finds the blocks of the providers' pages", () => {
  expect(blocks.length).toBeGreaterThan(20);
});

it.each(blocks)("%s: a shell reads this block as Node.js does\n%s", (_, block) => {
  expect(shellEnv(block)).toEqual(parseEnv(block));
});
