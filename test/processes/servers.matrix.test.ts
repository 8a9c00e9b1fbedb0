import { OF_THE_PROCESSES, playScenarios } from "./play-scenarios.js";
import { POSTGRES, REDIS } from "./store-rigs.js";

playScenarios([REDIS, POSTGRES], OF_THE_PROCESSES);
