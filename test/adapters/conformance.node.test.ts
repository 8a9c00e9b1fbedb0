import { it } from "vitest";
import { testAdapter } from "../../src/testing/index.js";
import { startNode } from "./applications/node.js";

testAdapter({ name: "node:http", start: startNode, lacks: ["host sessions", "own trust-proxy setting"], core: true, test: it });
