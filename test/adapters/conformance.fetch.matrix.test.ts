import { idpAuth } from "../../src/adapters/fetch/fetch.js";
import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startFetch } from "./applications/fetch.js";
import { serveOnNode } from "./applications/serve-fetch.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

testAdapter({
  name: "fetch",
  start: (setup) => startFetch(idpAuth, serveOnNode, setup),
  lacks: ["host sessions", "own trust-proxy setting", "raw targets", "stand-in messages"],
  test: itWithRowIds,
});
