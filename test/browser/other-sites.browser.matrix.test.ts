import { chromiumForTests } from "../support/chromium.js";
import { otherSiteScenarios } from "./other-sites-scenarios.js";
import { inChromium } from "./in-chromium.js";

inChromium(await chromiumForTests(), otherSiteScenarios);
