import { testTransport } from "./transport/test-transport.js";

testTransport({
  name: "Koa 3",
  host: "koa",
  protocols: ["http/1.1", "h2c", "h2"],
  hasWebSockets: true,
});
