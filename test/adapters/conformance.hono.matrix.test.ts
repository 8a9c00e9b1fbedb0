import { idpAuth } from "../../src/adapters/hono/hono.js";
import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startHono } from "./applications/hono.js";
import { serveOnNode } from "./applications/serve-fetch.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

for (const asMiddleware of [false, true]) {
  testAdapter({
    name: asMiddleware ? "Hono 4 (middleware)" : "Hono 4",
    start: (setup) => startHono(idpAuth, serveOnNode, setup, { asMiddleware }),
    lacks: ["host sessions", "own trust-proxy setting", "stand-in messages"],
    test: itWithRowIds,
  });
}
