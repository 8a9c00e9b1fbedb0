import { OF_THE_SERVER, playScenarios } from "./play-scenarios.js";
import { POSTGRES } from "./store-rigs.js";

// The other scenarios run over SQLite, and over this store in servers.matrix.test.ts.
playScenarios([POSTGRES], OF_THE_SERVER);
