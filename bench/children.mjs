// Child processes that are called like functions. Each measurement has its own process, so it
// shares no heap, garbage collection or event loop with the measurement that it is compared to.
import { execFileSync, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Starts a script of this folder.
 *
 * @param {string} script file name
 * @param {Record<string, unknown>} [options] passed to the script as JSON
 */
export async function startChild(script, options = {}) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(options)], {
    execArgv: ["--expose-gc", "--max-old-space-size=6144"],
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  const waiting = new Map();
  let calls = 0;
  child.on("message", ({ id, response, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(response);
    else reject(new Error(`${script}: ${error}`));
  });
  child.on("exit", (code) => {
    for (const { reject } of waiting.values())
      reject(new Error(`${script} ended with code ${code}`));
  });
  const call = (method, argument) =>
    new Promise((resolve, reject) => {
      calls += 1;
      waiting.set(calls, { resolve, reject });
      child.send({ id: calls, method, argument });
    });
  await call("ready");
  return { call, stop: () => child.disconnect() };
}

/** The child's side: responses calls until the parent goes away. */
export function serveCalls(methods) {
  process.on("disconnect", () => process.exit(0));
  process.on("message", ({ id, method, argument }) => {
    Promise.resolve()
      .then(() => (method === "ready" ? undefined : methods[method](argument)))
      .then(
        (response) => process.send({ id, response }),
        (error) => process.send({ id, error: String(error?.stack ?? error) }),
      );
  });
}

/** Keeps this process on one core. */
export function pin(core) {
  execFileSync("taskset", ["-acp", String(core), String(process.pid)], { stdio: "ignore" });
}

/** The options that the parent passed. */
export function childOptions() {
  return JSON.parse(process.argv[2] ?? "{}");
}

/**
 * An entry of idpauth: of this build, or of the one in another folder, which `--against` names.
 *
 * @param {string} name such as "express"; "" is the main entry
 * @param {string} [folder] with package.json and dist/
 */
export function idpauthEntry(name, folder) {
  if (folder === undefined) return import(["idpauth", name].filter(Boolean).join("/"));
  const { exports } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const { default: file } = exports[name === "" ? "." : `./${name}`];
  return import(pathToFileURL(path.join(folder, file)).href);
}
