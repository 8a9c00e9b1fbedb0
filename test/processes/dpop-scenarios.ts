import type { NamedScenario } from "./play-scenarios.js";
import { apiTokens, logoutDuringApiRefresh } from "./scenarios/api-tokens.js";
import { killedAtDemand, turnedOnOrOff } from "./scenarios/dpop.js";
import { killedRefresher } from "./scenarios/killed-refresher.js";
import { logoutDuringRefresh } from "./scenarios/logout-wins.js";
import { oneRefresh } from "./scenarios/one-refresh.js";
import { serverOutage, writerKilled } from "./scenarios/outage.js";
import { ownIdentity } from "./scenarios/own-identity.js";
import { rollingRestart } from "./scenarios/rolling-restart.js";
import type { StageOptions } from "./stage.js";

/** Each refresh is refused once, for want of a nonce. */
export const WITH_DPOP: StageOptions = {
  provider: { dpop: "required", dpopNonce: "refresh" },
  processes: { dpop: true },
};

/** What each store has a part in. */
export const OF_DPOP: readonly NamedScenario[] = [
  ["4 processes x 125 requests, one refresh with a nonce", oneRefresh],
  ["kill -9 between the demand for a nonce and the repetition", killedAtDemand],
  ["kill -9 of the refresher at each step, with a nonce", killedRefresher],
  ["a logout wins over the repetition elsewhere", logoutDuringRefresh],
  ["DPoP is turned on and off while users are signed in", turnedOnOrOff],
];

/** What application processes do and suffer, over whichever store. */
export const OF_DPOP_PROCESSES: readonly NamedScenario[] = [
  ["4 processes x 50 requests for two APIs, one refresh with a nonce for each", apiTokens],
  ["a logout wins over a refresh for an API elsewhere, with a nonce", logoutDuringApiRefresh],
  ["many people refresh at once, each with a key of their own", ownIdentity],
  [
    "kill -9 of the store under load, with nonces",
    (stage) =>
      stage.store.server === undefined
        ? writerKilled(stage)
        : serverOutage(stage, stage.store.server),
  ],
  ["rolling restart by SIGTERM under load, with nonces", rollingRestart],
];
