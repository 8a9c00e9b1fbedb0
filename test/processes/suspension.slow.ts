import { playScenarios } from "./play-scenarios.js";
import { suspended } from "./scenarios/suspended.js";
import { POSTGRES, REDIS, SQLITE } from "./store-rigs.js";

// `npx vitest run --config vitest.slow.config.ts`: a few minutes for each store, most of them a wait.
// With `-t sqlite`, only that store.
playScenarios([SQLITE, REDIS, POSTGRES], [["SIGSTOP for 90 s at each step", suspended]]);
