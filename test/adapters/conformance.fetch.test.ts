import { it } from "vitest";
import { idpAuth } from "../../src/adapters/fetch/fetch.js";
import { testAdapter } from "../../src/testing/index.js";
import { startFetch } from "./applications/fetch.js";
import { serveOnNode } from "./applications/serve-fetch.js";

testAdapter({
  name: "fetch",
  start: (setup) => startFetch(idpAuth, serveOnNode, setup),
  lacks: ["host sessions", "own trust-proxy setting", "raw targets"],
  test: it,
});
