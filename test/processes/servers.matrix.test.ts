import { AT_EACH_STEP, OF_THE_PROCESSES, playScenarios } from "./play-scenarios.js";
import { POSTGRES, REDIS, SQLITE } from "./store-rigs.js";

playScenarios([REDIS, POSTGRES], [...OF_THE_PROCESSES, ...AT_EACH_STEP]);
playScenarios([SQLITE], AT_EACH_STEP);
