// Loaded before a process (`--import`): runs the TypeScript files of docs/snippets, as `npx tsx`
// does. Node.js 20 can't.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import ts from "typescript";

if (isMainThread) register(import.meta.url);

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const text = readFileSync(fileURLToPath(url), "utf8");
  const { outputText } = ts.transpileModule(text, { compilerOptions });
  return { format: "module", source: outputText, shortCircuit: true };
}
