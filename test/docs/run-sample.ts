import ts from "typescript";
import type { TestedApplication } from "../../src/testing/index.js";

/**
 * Runs a sample as it stands in its page.
 *
 * @param code in TypeScript or JavaScript, which creates or uses an `app`
 * @param given the variables that the sample uses but doesn't declare
 * @param modules what the sample imports, by the names that it uses
 * @returns the sample's `app`
 */
export async function runSample(
  code: string,
  given: Readonly<Record<string, unknown>>,
  modules: Readonly<Record<string, object>>,
): Promise<TestedApplication> {
  const body = ts
    .transpile(code, { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 })
    .replace(/^import (\{.+\}) from "(.+)";.*$/gm, 'const $1 = modules["$2"];');
  const names = { ...given, modules };

  const start = new Function(
    ...Object.keys(names),
    `return (async () => { ${body}; return app; })();`,
  ) as (...values: readonly unknown[]) => Promise<TestedApplication>;
  return start(...Object.values(names));
}
