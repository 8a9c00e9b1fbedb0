import { chromiumForTests } from "../support/chromium.js";
import { frameScenarios } from "./frames-scenarios.js";
import { inChromium } from "./in-chromium.js";

inChromium(await chromiumForTests(), frameScenarios);
