import { output } from "../../scripts/run.mjs";

let build: Promise<void> | undefined;

/**
 * Builds `dist/` and `build/` if a source has changed since the last build, once in each test file.
 * Tests of the built package call it first.
 *
 * @throws Error the sources don't compile
 */
export function buildPackage(): Promise<void> {
  return (build ??= runBuild());
}

async function runBuild(): Promise<void> {
  const { code, text } = await output(["scripts/build.mjs"]);
  if (code !== 0) throw new Error(`The build failed:\n${text}`);
}
