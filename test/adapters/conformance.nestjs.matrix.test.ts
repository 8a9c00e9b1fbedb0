import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startNest } from "./applications/nestjs.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

// NestJS has no entry of its own: the recipe of docs/how-to/nestjs.md is what is held to the suite.
for (const session of ["bundled", "host"] as const) {
  testAdapter({ name: "NestJS 11", session, start: startNest, test: itWithRowIds });
}
