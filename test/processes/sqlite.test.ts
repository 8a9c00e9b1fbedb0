import { OF_THE_PROCESSES, OF_THE_SERVER, playScenarios } from "./play-scenarios.js";
import { SQLITE } from "./store-rigs.js";

playScenarios([SQLITE], [...OF_THE_PROCESSES, ...OF_THE_SERVER]);
