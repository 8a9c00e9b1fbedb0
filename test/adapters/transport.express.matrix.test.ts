import { testTransport } from "./transport/test-transport.js";

for (const version of [4, 5] as const)
  testTransport({
    name: `Express ${String(version)}`,
    host: `express${version}`,
    protocols: ["http/1.1"],
    hasWebSockets: true,
    isBrief: version === 4,
  });
