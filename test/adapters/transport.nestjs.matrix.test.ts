import { testTransport } from "./transport/test-transport.js";

testTransport({
  name: "NestJS 11",
  host: "nestjs",
  protocols: ["http/1.1"],
  hasWebSockets: true,
  isBrief: true,
});
