import { OF_DPOP_PROCESSES, WITH_DPOP } from "./dpop-scenarios.js";
import { playScenarios } from "./play-scenarios.js";
import { POSTGRES, REDIS } from "./store-rigs.js";

playScenarios([REDIS, POSTGRES], OF_DPOP_PROCESSES, WITH_DPOP);
