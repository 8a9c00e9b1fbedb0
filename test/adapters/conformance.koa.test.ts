import { it } from "vitest";
import { testAdapter } from "../../src/testing/index.js";
import { startKoa } from "./applications/koa.js";

testAdapter({ name: "Koa 3", start: startKoa, lacks: ["host sessions"], test: it });
