import { testTransport } from "./transport/test-transport.js";

testTransport({ name: "fetch", host: "fetch", protocols: ["http/1.1", "h2c", "h2"] });
