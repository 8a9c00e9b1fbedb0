import { testTransport } from "./transport/test-transport.js";

testTransport({
  name: "Hono 4",
  host: "hono",
  protocols: ["http/1.1", "h2c", "h2"],
  hasWebSockets: true,
});
