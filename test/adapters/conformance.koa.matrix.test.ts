import { testAdapter } from "../../packages/idpauth-conformance/src/index.js";
import { startKoa } from "./applications/koa.js";
import { itWithRowIds } from "./it-with-security-row-ids.js";

testAdapter({ name: "Koa 3", start: startKoa, lacks: ["host sessions"], test: itWithRowIds });
