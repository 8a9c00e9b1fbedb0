import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startExpress } from "./applications/express.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

for (const version of [5, 4] as const) {
  for (const session of ["bundled", "host"] as const) {
    testAdapter({
      name: `Express ${String(version)}`,
      session,
      start: (setup) => startExpress(version, setup),
      test: itWithRowIds,
    });
  }
}
