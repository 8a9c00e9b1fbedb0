import { testTransport } from "./transport/test-transport.js";

testTransport({
  name: "node:http",
  host: "node",
  protocols: ["http/1.1", "h2c", "h2"],
  hasWebSockets: true,
});
