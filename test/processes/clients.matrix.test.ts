import { OF_THE_PROCESSES, OF_THE_SERVER, playScenarios } from "./play-scenarios.js";
import { IOREDIS, PGBOUNCER, REDIS_CLUSTER } from "./store-rigs.js";

// The stores of the other tests here, with another client or with something between.
playScenarios([IOREDIS, REDIS_CLUSTER, PGBOUNCER], [...OF_THE_PROCESSES, ...OF_THE_SERVER]);
