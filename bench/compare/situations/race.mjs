// Requests on one session whose access token has expired: many at once, and a slow one beside a
// refresh.
import { tally } from "../outcomes.mjs";

/** As a provider that isn't on the same machine. */
const TOKEN_MILLISECONDS = 50;

async function race(stage, browser, count) {
  const counts = stage.counted();
  const end = stage.provider.fault("token", { kind: "delay", ms: TOKEN_MILLISECONDS });
  const outcomes = await Promise.all(Array.from({ length: count }, () => stage.orders(browser)));
  end();
  const { refreshes, reuses } = counts();
  const { isSignedIn, text } = await stage.afterwards(browser, reuses > 0);
  const succeeded = outcomes.filter((outcome) => outcome === "200").length;
  const after = reuses > 0 ? `${text}; the provider detected a reuse` : text;
  return { outcomes, succeeded, refreshes, isSignedIn, after };
}

/** Races come out differently from time to time, so each is run several times. */
const RUNS = 3;

/** @returns {import("./index.mjs").Outcome} of several runs, as good as the worst of them */
function together(runs) {
  const [worst] = runs.toSorted(
    (one, other) => one.succeeded - other.succeeded || other.refreshes - one.refreshes,
  );
  return {
    requests: tally(runs.flatMap(({ outcomes }) => outcomes)),
    refreshes: runs.map(({ refreshes }) => refreshes),
    after: tally(runs.map(({ after }) => after)).replace(new RegExp(`^${runs.length} × `), ""),
    succeeded: worst.succeeded,
    most: worst.refreshes,
    isSignedIn: runs.every(({ isSignedIn }) => isSignedIn),
    isGood: runs.every(
      ({ outcomes, succeeded, isSignedIn }) => succeeded === outcomes.length && isSignedIn,
    ),
  };
}

const STICKY =
  "mod_auth_openidc's documentation advises against rotation on several servers, unless each user stays on one of them.";

const OVERLAP =
  "Auth0, for example, offers such an [overlap](https://auth0.com/docs/secure/tokens/refresh-tokens/configure-refresh-token-rotation). It hides the race for as long as it lasts.";

function raceOf(count, { rotates, processes, overlap = 0 }) {
  const where = processes === 2 ? ", over two processes" : "";
  const late = `the provider rotates, and accepts a spent token for ${overlap} seconds`;
  const how = !rotates
    ? "the provider doesn't rotate"
    : overlap > 0
      ? late
      : "the provider rotates and detects reuse";
  const suffix = `${rotates ? "" : "-without-rotation"}${overlap > 0 ? "-overlap" : ""}`;
  return {
    key: `race-${count}${suffix}${processes === 2 ? "-two" : ""}`,
    title: `${count} requests at once after expiry${where}: ${how}`,
    ...(overlap > 0 && { note: OVERLAP }),
    ...(processes === 2 && rotates && { note: STICKY }),
    processes,
    users: RUNS,
    async run(stage, browsers) {
      const { settings } = stage.provider;
      settings.rotation = rotates;
      settings.reuseGraceSeconds = overlap;
      try {
        const runs = [];
        for (const browser of browsers) runs.push(await race(stage, browser, count));
        return together(runs);
      } finally {
        settings.rotation = true;
        settings.reuseGraceSeconds = 0;
      }
    },
  };
}

export const races = [
  raceOf(20, { rotates: true, processes: 1 }),
  raceOf(200, { rotates: true, processes: 1 }),
  raceOf(20, { rotates: true, processes: 1, overlap: 10 }),
  raceOf(20, { rotates: false, processes: 1 }),
  raceOf(200, { rotates: false, processes: 1 }),
  raceOf(20, { rotates: true, processes: 2 }),
  raceOf(200, { rotates: true, processes: 2 }),
  raceOf(20, { rotates: false, processes: 2 }),
  raceOf(200, { rotates: false, processes: 2 }),
];

/** What a slow response writes back must not replace the tokens of a refresh. */
export const slowResponse = {
  key: "slow-response",
  title: "A response that begins before another request's refresh ends after it",
  users: 0,
  async run(stage) {
    stage.tokensLive(true);
    const browser = await stage.signedIn();
    stage.tokensLive(false);
    const counts = stage.counted();
    const hold = stage.api.hold();
    const slow = stage.orders(browser);
    await Promise.race([hold.arrived, slow]);
    await stage.expire();
    const refreshed = await stage.orders(browser);
    hold.release();
    const outcomes = [await slow, refreshed];
    const refreshes = [counts().refreshes];
    const after = await stage.afterwards(browser, counts().reuses > 0);
    const succeeded = outcomes.filter((outcome) => outcome === "200").length;
    return {
      requests: tally(outcomes),
      refreshes,
      after: after.text,
      succeeded,
      isGood: succeeded === outcomes.length && after.isSignedIn,
    };
  },
};
