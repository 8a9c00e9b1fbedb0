// Next.js in production mode, with the build of test/adapters/next-application.
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { listening } from "./servers.mjs";

/**
 * @param {import("./hosts.js").ApplicationOptions} options
 * @param {object} settings
 * @param {(auth: any, raw: any) => Promise<unknown>} via what the routes below `/via/` respond
 * @returns {Promise<number>} the port
 */
export async function startNext({ folder = "" }, settings, via) {
  // As `next` does before it loads anything.
  Object.assign(globalThis, { AsyncLocalStorage });
  const setups = new AsyncLocalStorage();
  /** @type {{ setups: typeof setups, start?: (setup: object) => unknown }} */
  const harness = { setups };
  Object.assign(globalThis, { [Symbol.for("idpauth.test.next")]: harness });
  const requireOfNext = createRequire(
    path.join(import.meta.dirname, "../next-application/package.json"),
  );
  /** @type {any} */
  const next = requireOfNext("next");
  const app = next({ dev: false, dir: folder, hostname: "localhost", port: 1, quiet: true });
  await app.prepare();
  const handle = app.getRequestHandler();
  const respond = (/** @type {any[]} */ auths, /** @type {any} */ raw) => via(auths[0], raw);
  const route = { kind: "json", respond };
  const setup = {
    mounts: [settings],
    basePath: "",
    earlier: [],
    proxied: [{ api: "orders" }],
    csrf: false,
    caught: () => undefined,
    routes: [
      { ...route, method: "POST", path: "/via/up" },
      { ...route, method: "GET", path: "/via/down" },
    ],
  };
  harness.start?.(setup);
  const server = createServer((request, response) => {
    void setups.run(setup, () => handle(request, response));
  });
  return listening(server);
}
