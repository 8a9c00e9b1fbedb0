import { afterAll, beforeAll, describe, test } from "vitest";
import { tableOf, type Row } from "./report.js";
import { apiTokens, logoutDuringApiRefresh } from "./scenarios/api-tokens.js";
import { killedDuringSignInOrOut } from "./scenarios/killed-during-sign-in-or-out.js";
import { keyRotation } from "./scenarios/key-rotation.js";
import { killedRefresher } from "./scenarios/killed-refresher.js";
import { logoutDuringRefresh, logoutSeenByAll } from "./scenarios/logout-wins.js";
import { oneRefresh } from "./scenarios/one-refresh.js";
import { serverOutage, writerKilled } from "./scenarios/outage.js";
import { ownIdentity } from "./scenarios/own-identity.js";
import { providerLogoutSeenByAll } from "./scenarios/provider-logout.js";
import { recordFormats } from "./scenarios/record-formats.js";
import { rollingRestart } from "./scenarios/rolling-restart.js";
import { Stage, type StageOptions } from "./stage.js";
import type { RunningStore, StoreRig } from "./store-rigs.js";

type Scenario = (stage: Stage) => Promise<void>;

export type NamedScenario = readonly [name: string, play: Scenario];

/**
 * What each store's server has a part in: one writer wins, all read what was written, ends are
 * announced, and it dies.
 */
export const OF_THE_SERVER: readonly NamedScenario[] = [
  ["[R1] 4 processes x 125 requests, one refresh", oneRefresh],
  ["4 processes x 50 requests for two APIs, one refresh for each", apiTokens],
  ["a logout is seen by all at once", logoutSeenByAll],
  ["a logout at the provider is seen by all, and closes open connections", providerLogoutSeenByAll],
  [
    "[S1] [S3] kill -9 of the store under load",
    (stage) =>
      stage.store.server === undefined
        ? writerKilled(stage)
        : serverOutage(stage, stage.store.server),
  ],
];

/** What application processes do and suffer, over whichever store. */
export const OF_THE_PROCESSES: readonly NamedScenario[] = [
  ["[R7] many people refresh at once, each stays who they are", ownIdentity],
  ["[R5] a logout wins over a refresh elsewhere", logoutDuringRefresh],
  ["a logout wins over a refresh for an API elsewhere", logoutDuringApiRefresh],
  ["[S3] [S4] [R3] kill -9 of the refresher at each step", killedRefresher],
  ["[R16] two versions of the record format", recordFormats],
  ["SECRET_KEY rotated in two phases", keyRotation],
  ["[S8] rolling restart by SIGTERM under load", rollingRestart],
];

/** A minute of processes that are killed and started again. */
export const AT_EACH_STEP: readonly NamedScenario[] = [
  ["[S4] kill -9 at each step of a callback and of a logout", killedDuringSignInOrOut],
];

/**
 * Declares each of the scenarios as a test over each of the stores. The tests print a table of what
 * they did.
 */
export function playScenarios(
  rigs: readonly StoreRig[],
  scenarios: readonly NamedScenario[],
  options?: StageOptions,
): void {
  const rows: Row[] = [];

  afterAll(() => {
    if (rows.length > 0) process.stdout.write(`\n${tableOf(rows)}\n\n`);
  });

  describe.each(rigs.map((rig) => [rig.name, rig] as const))("processes over %s", (name, rig) => {
    let store: RunningStore | undefined;
    let stage: Stage | undefined;

    beforeAll(async () => {
      store = await rig.start();
      if (store !== undefined) stage = await Stage.open(store, options);
    });

    afterAll(async () => {
      try {
        await stage?.close();
      } finally {
        await store?.stop();
      }
    });

    test.for(scenarios)("%s", { timeout: 600_000 }, async ([scenario, play], context) => {
      if (stage === undefined) return context.skip(`${name} cannot be started here`);
      const before = { ...stage.tally, refreshes: stage.refreshes(), time: performance.now() };
      let passed = false;
      try {
        await play(stage);
        stage.check();
        passed = true;
      } finally {
        stage.provider.clearFaults();
        rows.push({
          scenario,
          store: name,
          requests: stage.tally.requests - before.requests,
          refreshes: stage.refreshes() - before.refreshes,
          signedIn: stage.tally.signedIn - before.signedIn,
          milliseconds: performance.now() - before.time,
          passed,
        });
      }
    });
  });
}
