import { OF_DPOP, OF_DPOP_PROCESSES, WITH_DPOP } from "./dpop-scenarios.js";
import { playScenarios } from "./play-scenarios.js";
import { POSTGRES, REDIS, SQLITE } from "./store-rigs.js";

playScenarios([SQLITE], [...OF_DPOP, ...OF_DPOP_PROCESSES], WITH_DPOP);
// The other scenarios run over these stores in dpop-servers.matrix.test.ts.
playScenarios([REDIS, POSTGRES], OF_DPOP, WITH_DPOP);
