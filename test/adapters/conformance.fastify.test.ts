import { it } from "vitest";
import { testAdapter } from "../../src/testing/index.js";
import { startFastify } from "./applications/fastify.js";

testAdapter({ name: "Fastify 5", session: "bundled", start: (setup) => startFastify(setup), test: it });

// The plugin's default is to write every session at the end of every response.
for (const rolling of [true, false]) {
  testAdapter({
    name: `Fastify 5 (rolling: ${String(rolling)})`,
    session: "host",
    start: (setup) => startFastify(setup, { rolling }),
    test: it,
  });
}
