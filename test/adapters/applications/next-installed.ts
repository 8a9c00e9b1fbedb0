import { createRequire } from "node:module";
import path from "node:path";
import { installFramework } from "../../../scripts/framework-install.mjs";

// Imported before anything of Next.js: it installs Next.js and React in the folder of their
// application, once.

/**
 * The application of the tests. Its node_modules has Next.js and React; the project's has neither.
 */
export const NEXT_APPLICATION = path.resolve(import.meta.dirname, "../next-application");

if (!(await installFramework(NEXT_APPLICATION))) {
  throw new Error(
    "The tests of Next.js need the packages of test/adapters/next-application. npm cannot reach its registry.",
  );
}

/** `require` as in the application. */
export const requireOfNext = createRequire(path.join(NEXT_APPLICATION, "package.json"));
