import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Load } from "../load.js";
import { assertSignedIn, type Stage } from "../stage.js";

const RESTARTS = 3;
/** People who stay: most of them with an ID token of an hour, some who refresh every second. */
const STEADY = 480;
const RESTLESS = 20;

/**
 * Three processes end by SIGTERM and are replaced, one after another, under load and while they
 * refresh. Nobody is signed out, every answer is right, and a refresh that is under way is finished
 * first, also when its user has left.
 */
export async function rollingRestart(stage: Stage): Promise<void> {
  const users = [
    ...(await stage.signInMany(STEADY)),
    ...(await stage.signInMany(RESTLESS, { first: 0, later: 1 })),
  ];
  const refreshing = await stage.signInMany(2 * RESTARTS, { first: 0 });
  const reuses = stage.provider.reuses;
  const load = new Load({
    users,
    processes: () => stage.fleet,
    allowsUnavailable: true,
    workers: 12,
  });
  try {
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      const process = stage.fleet[restart]!;
      const [waiting, leaving] = [refreshing[2 * restart]!, refreshing[2 * restart + 1]!];
      const tokens = [waiting, leaving].map(
        (user) => stage.people.refreshTokensOf(user).at(-1) ?? "",
      );
      const hold = stage.provider.hold("token", {
        before: false,
        count: 2,
        when: (request) =>
          tokens.includes(request.params.get("refresh_token") ?? "") && stage.passes(request),
      });
      const departure = new AbortController();
      const answer = process.ask("/idpauth/session", { cookie: waiting.cookie });
      const left = assert.rejects(
        process.ask("/idpauth/session", { cookie: leaving.cookie, signal: departure.signal }),
      );
      await hold.arrived;
      departure.abort();
      await left;
      const ended = process.kill("SIGTERM");
      await pause(150);
      hold.release();
      assertSignedIn(await answer, waiting, "a refresh during the shutdown");
      assert.deepEqual(await ended, { code: 0, signal: null });
      stage.fleet[restart] = await stage.start();
      for (const user of [waiting, leaving]) {
        assertSignedIn(
          await stage.at(restart).ask("/idpauth/session", { cookie: user.cookie }),
          user,
          "after the restart",
        );
        assert.equal(stage.refreshes(user), 1, "token requests of a refresh that a shutdown met");
      }
    }
  } finally {
    assert.deepEqual(await load.stop(), []);
    // 503 signs no user out. How often it comes depends on the machine, so this only tells a
    // restart from an outage.
    assert.ok(
      load.unavailable <= load.answered / 2,
      `${String(load.unavailable)} of ${String(load.answered)} got 503`,
    );
  }
  // The load asks them in turn; this asks every one of them after the last restart.
  const answers = await Promise.all(
    users.map(({ cookie }, number) => stage.at(number).ask("/idpauth/session", { cookie })),
  );
  for (const [number, answer] of answers.entries())
    assertSignedIn(answer, users[number]!, "after the last restart");
  assert.equal(stage.provider.reuses, reuses);
}
