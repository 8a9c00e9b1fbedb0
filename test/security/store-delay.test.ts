import { afterEach, expect, it } from "vitest";
import { startWatchedRun, type WatchedRun } from "../support/watched-run.js";

const PROBE = "/idpauth/session";

let run: WatchedRun;

afterEach(() => run.finish());

it.each([
  ["2 s", 2_000],
  ["30 s", 30_000],
])(
  "[S2] a store that takes %s for half of all sessions: the others get their response in that time",
  async (_name, slow) => {
    // The same person signs in 200 times.
    run = await startWatchedRun({ sessionIdleTimeout: 7_200, sessionsPerUser: 0 });
    const slowKeys = new Set<string | undefined>();
    const users = [];
    for (let number = 0; number < 200; number += 1) {
      const user = run.user();
      await user.signIn();
      if (number % 2 === 0) slowKeys.add(run.store.inserted.at(-1));
      users.push(user);
    }
    run.store.before = ({ key }) =>
      slowKeys.has(key) ? new Promise((resolve) => run.clock.timer(slow, resolve)) : undefined;
    let waiting = 100;
    const late = users
      .filter((_, number) => number % 2 === 0)
      .map(async (user) => {
        const answer = await user.get(PROBE);
        waiting -= 1;
        return answer;
      });
    const quick = users.filter((_, number) => number % 2 === 1);
    for (let second = 0; second < 2 * (slow / 1_000); second += 1) {
      for (const user of quick) {
        // Each request of a turn of its own, as over a socket.
        await new Promise((resolve) => setImmediate(resolve));
        expect(await user.isSignedIn()).toBe(true);
      }
      if (second < slow / 1_000) expect(waiting).toBe(100);
      await run.clock.advanceAsync(1_000);
    }
    while (waiting > 0) await run.clock.advanceAsync(1_000);
    for (const answer of await Promise.all(late))
      expect(answer.json()).toMatchObject({ authenticated: true });
  },
);
