import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startNode } from "./applications/node.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

testAdapter({
  name: "node:http",
  start: startNode,
  lacks: ["host sessions", "own trust-proxy setting"],
  test: itWithRowIds,
});
