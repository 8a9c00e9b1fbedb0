import { testTransport } from "./transport/test-transport.js";

testTransport({
  name: "Fastify 5",
  host: "fastify",
  protocols: ["http/1.1", "h2c", "h2"],
  hasWebSockets: true,
});
