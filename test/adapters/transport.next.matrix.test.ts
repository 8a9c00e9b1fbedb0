import { testTransport } from "./transport/test-transport.js";

testTransport({ name: "Next.js 16", host: "next", protocols: ["http/1.1"], isNext: true });
