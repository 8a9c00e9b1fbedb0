// Builds the package into dist/ for publishing, and idpauth-conformance into its own, if a source
// has changed since the last build. The folders start empty, so that no file of an earlier build is published. tsc checks the types and
// compiles each module into build/, for the project's own scripts. `npm start` and the fleet use
// neither folder, see demo-build.mjs.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { browserSizes, tooLarge } from "./browser-size.mjs";
import { bundlePackage } from "./bundle.mjs";
import { CONFORMANCE, packageEntries } from "./entries.mjs";
import { copyEntryTypes } from "./entry-types.mjs";
import { withFileLock } from "./file-lock.mjs";
import { root, tool } from "./run.mjs";
import { hashOfSources } from "./source-hash.mjs";

const dist = path.join(root, "dist");
const conformance = path.join(root, CONFORMANCE, "dist");
/** Written last: a build that was killed has none. */
const stamp = path.join(root, "build/.sources");

const DECLARATIONS =
  "--noEmit false --declaration --declarationMap --emitDeclarationOnly --stripInternal --rootDir src --outDir build".split(
    " ",
  );

await withFileLock(path.join(root, ".builds/dist.lock"), async () => {
  const sources = hashOfSources([
    ...["src", "types", "tsconfig.json", "tsconfig.build.json"],
    ...["src", "package.json", "tsconfig.build.json"].map((each) => `${CONFORMANCE}/${each}`),
  ]);
  if (
    existsSync(dist) &&
    existsSync(conformance) &&
    existsSync(stamp) &&
    readFileSync(stamp, "utf8") === sources
  ) {
    console.log("dist/ is up to date");
    return;
  }
  for (const folder of [path.join(root, "build"), dist, conformance])
    rmSync(folder, { recursive: true, force: true });
  process.exitCode = tool("typescript/bin/tsc", ["-p", "tsconfig.build.json"]);
  // The code for browsers has the types of the DOM.
  process.exitCode ||= tool("typescript/bin/tsc", [
    "-p",
    "src/client/tsconfig.json",
    ...DECLARATIONS,
  ]);
  process.exitCode ||= tool("typescript/bin/tsc", ["-p", `${CONFORMANCE}/tsconfig.build.json`]);
  if (process.exitCode !== 0) return;
  const problems = tooLarge(await browserSizes());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return void (process.exitCode = 1);
  await bundlePackage(dist);
  const typed = packageEntries().filter(({ isProgram }) => !isProgram);
  copyEntryTypes(
    path.join(root, "build"),
    dist,
    typed.map(({ module }) => `${module}.d.ts`),
  );
  writeFileSync(stamp, sources);
});
