import { it } from "vitest";
import { testAdapter } from "idpauth-conformance";
import { startConnect } from "./connect-application.js";

// The adapter of docs/how-to/adapters.md, which imports what an author outside this repository can.
testAdapter({
  name: "the guide's adapter",
  test: it,
  start: startConnect,
  lacks: ["host sessions", "own trust-proxy setting"],
});
