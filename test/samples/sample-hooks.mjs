// Loaded before a process (`--import`): makes what a file of docs/snippets declares reachable for
// sample-server.mjs, because most samples export nothing. In examples/, `idpauth` is this project,
// as if it were installed there.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

const NAMES = ["auth", "app", "server", "serve"];

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const isOwn = /^idpauth(?:\/|$)/.test(specifier);
  return nextResolve(specifier, isOwn ? { ...context, parentURL: import.meta.url } : context);
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  if (!/docs\/snippets\/live-connections\/[\w-]+\.js$/.test(url)) return nextLoad(url, context);
  const members = NAMES.map(
    (name) => `${name}: typeof ${name} === "undefined" ? undefined : ${name}`,
  );
  const source = `${readFileSync(fileURLToPath(url), "utf8")}
Object.assign((globalThis.sample ??= {}), Object.fromEntries(Object.entries({ ${members.join(", ")} }).filter(([, value]) => value !== undefined)));
`;
  return { format: "module", source, shortCircuit: true };
}
