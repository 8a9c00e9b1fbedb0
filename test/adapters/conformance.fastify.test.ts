import { it } from "vitest";
import { testAdapter } from "../../src/testing/index.js";
import { startFastify } from "./applications/fastify.js";

testAdapter({ name: "Fastify 5", session: "bundled", start: (setup) => startFastify(setup), test: it });
testAdapter({ name: "Fastify 5", session: "host", start: (setup) => startFastify(setup), test: it });
