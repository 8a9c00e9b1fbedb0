// Many requests at once on one session whose access token has expired.
import { tally } from "../stage.mjs";

async function race(stage, browser, count) {
  const counts = stage.counted();
  const outcomes = await Promise.all(Array.from({ length: count }, () => stage.orders(browser)));
  const { refreshes, reuses } = counts();
  const after = await stage.afterwards(browser);
  const succeeded = outcomes.filter((outcome) => outcome === "200").length;
  return {
    requests: tally(outcomes),
    refreshes,
    after: reuses > 0 ? `${after.text}; the provider detected a reuse` : after.text,
    succeeded,
    isGood: succeeded === count && after.isSignedIn,
  };
}

function raceOf(count, { rotates, processes }) {
  const where = processes === 2 ? ", over two processes" : "";
  const how = rotates ? "the provider rotates and detects reuse" : "the provider doesn't rotate";
  return {
    key: `race-${count}${rotates ? "" : "-without-rotation"}${processes === 2 ? "-two" : ""}`,
    title: `${count} requests at once after expiry${where}: ${how}`,
    processes,
    async run(stage, [browser]) {
      stage.provider.settings.rotation = rotates;
      try {
        return await race(stage, browser, count);
      } finally {
        stage.provider.settings.rotation = true;
      }
    },
  };
}

export const races = [
  raceOf(20, { rotates: true, processes: 1 }),
  raceOf(200, { rotates: true, processes: 1 }),
  raceOf(20, { rotates: false, processes: 1 }),
  raceOf(200, { rotates: false, processes: 1 }),
  raceOf(20, { rotates: true, processes: 2 }),
  raceOf(200, { rotates: true, processes: 2 }),
  raceOf(20, { rotates: false, processes: 2 }),
  raceOf(200, { rotates: false, processes: 2 }),
];
