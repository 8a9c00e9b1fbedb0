// @ts-check
// Holds the fetch host, and Hono, of the built package to the suite in this very process,
// served by Bun or Deno themselves.
//   bun test/runtimes/fetch-suite.mjs [fetch|hono]
//   deno run --allow-all test/runtimes/fetch-suite.mjs [fetch|hono]
// Prints the report, and in the last line how many requirements hold, as JSON for run.mjs.
import { idpAuth as fetchAuth } from "idpauth/fetch";
import { idpAuth as honoAuth } from "idpauth/hono";
import { checkAdapter, formatAdapterReport } from "idpauth-conformance";

/** @typedef {import("../adapters/applications/fetch.js").Serve} Serve */
/** @typedef {import("idpauth-conformance").AdapterFeature} AdapterFeature */

// Types are only stripped here, never checked; the names are computed, since compilers want them
// without .ts.
/** @type {typeof import("../adapters/applications/fetch.js")} */
const { startFetch } = await import(
  new URL("../adapters/applications/fetch.ts", import.meta.url).href
);
/** @type {typeof import("../adapters/applications/hono.js")} */
const { startHono } = await import(
  new URL("../adapters/applications/hono.ts", import.meta.url).href
);

/** What no Bun and no Deno types are installed for. */
const { Bun, Deno } = /** @type {any} */ (globalThis);

/** @type {Serve} */
async function serve(fetch) {
  if (Bun !== undefined) {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch,
    });
    return { port: server.port, stop: () => server.stop(true) };
  }
  const stopping = new AbortController();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", signal: stopping.signal, onListen: () => undefined },
    fetch,
  );
  return {
    port: server.addr.port,
    stop() {
      stopping.abort();
      return server.finished;
    },
  };
}

/**
 * Deno's fetch sends a POST again when a connection that it kept open breaks, and a refresh token
 * is spent once. A client that keeps no connection sends once, so docs/how-to/fetch-frameworks.md
 * has applications do this.
 */
const client = Deno?.createHttpClient({ poolMaxIdlePerHost: 0 });
const once = Deno && {
  fetch: (/** @type {any} */ url, /** @type {any} */ init) => fetch(url, { ...init, client }),
};

/** @type {AdapterFeature[]} */
const lacks = ["host sessions", "own trust-proxy setting", "raw targets", "stand-in messages"];
const asked = process.argv[2] ?? "fetch";
const host =
  asked === "hono"
    ? {
        name: "Hono 4",
        start: startHono.bind(undefined, (options) => honoAuth({ ...once, ...options }), serve),
      }
    : {
        name: "fetch",
        start: startFetch.bind(undefined, (options) => fetchAuth({ ...once, ...options }), serve),
      };

const report = await checkAdapter({ ...host, lacks });
console.log(formatAdapterReport(report));

const owed = report.results.filter(({ notChecked }) => notChecked === undefined);
const total = owed.length;
const passed = owed.filter((result) => result.passed).length;
console.log(JSON.stringify({ passed, total, notApplicable: report.results.length - total }));
process.exit(passed === total ? 0 : 1);
