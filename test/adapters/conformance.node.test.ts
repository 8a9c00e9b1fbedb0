import { it } from "vitest";
import { testHost } from "../../src/testing/index.js";
import { startNode } from "./applications/node.js";

testHost({ name: "node:http", start: startNode, lacks: ["host sessions", "own trust-proxy setting"], test: it });
