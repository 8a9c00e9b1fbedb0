import { it } from "vitest";
import { testHost } from "../../src/testing/index.js";
import { startKoa } from "./applications/koa.js";

testHost({ name: "Koa 3", start: startKoa, lacks: ["host sessions"], test: it });
