import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startFastify } from "./applications/fastify.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

testAdapter({
  name: "Fastify 5",
  session: "bundled",
  start: (setup) => startFastify(setup),
  test: itWithRowIds,
});
testAdapter({
  name: "Fastify 5",
  session: "host",
  start: (setup) => startFastify(setup),
  test: itWithRowIds,
});
