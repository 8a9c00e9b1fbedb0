import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { NoAnswerError, type ApplicationProcess } from "../application-process.js";
import { Load } from "../load.js";
import type { TestUser } from "../people.js";
import type { StoreServer } from "../store-rigs.js";
import { assertSignedIn, type Stage } from "../stage.js";
import { until } from "../until.js";

const WORKERS = 12;
const OUTAGE = 800;
/** A lease whose write nobody answered for is in nobody's hands, and has to run out. */
const RECOVERY = 50_000;

/** Some of them refresh every second. */
async function signInUsers(stage: Stage): Promise<TestUser[]> {
  const [steady, restless] = [
    await stage.signInMany(20),
    await stage.signInMany(10, { first: 0, later: 1 }),
  ];
  return [...steady, ...restless];
}

/** The users, how many spent tokens the provider has seen, and requests of all users all the time. */
async function begin(stage: Stage) {
  const users = await signInUsers(stage);
  const load = new Load({
    users,
    processes: () => stage.fleet,
    allowsUnavailable: true,
    workers: WORKERS,
  });
  return { users, reuses: stage.provider.reuses, load };
}

/**
 * The store's server is killed under load and started again: answers are 503 meanwhile, and nobody
 * is signed out.
 */
export async function serverOutage(stage: Stage, server: StoreServer): Promise<void> {
  const { users, reuses, load } = await begin(stage);
  try {
    for (let round = 0; round < 2; round += 1) {
      const [refreshing, leaving] = [
        await stage.signInMany(3, { first: 0 }),
        await stage.signInMany(3),
      ];
      const tokens = refreshing.map((user) => stage.people.refreshTokensOf(user).at(-1) ?? "");
      const hold = stage.provider.hold("token", {
        before: false,
        count: tokens.length,
        when: (request) =>
          tokens.includes(request.params.get("refresh_token") ?? "") && stage.passes(request),
      });
      const refreshed = refreshing.map((user, number) =>
        stage.at(number).ask("/idpauth/session", { cookie: user.cookie, allowsUnavailable: true }),
      );
      await hold.arrived;

      const before = load.unavailable;
      await server.kill();
      // Rotated, and nowhere to put the new token.
      hold.release();
      const staying = await tryToLeave(stage, leaving);
      await pause(OUTAGE);
      await server.restart();
      assert.ok(load.unavailable > before, "the outage was not felt");

      for (const [number, answer] of (await Promise.all(refreshed)).entries()) {
        assertSignedIn(answer, refreshing[number]!, "a refresh that met the outage");
        assert.equal(
          stage.refreshes(refreshing[number]),
          1,
          "token requests of a refresh that met the outage",
        );
      }
      await everybodyIsSignedIn(stage, [...users, ...refreshing, ...staying]);
    }
  } finally {
    assert.deepEqual(await load.stop(), []);
  }
  assert.equal(stage.provider.reuses, reuses);
}

/**
 * A logout that the store has not taken is answered 503 and changes nothing. Gives those who are
 * still signed in.
 */
async function tryToLeave(stage: Stage, users: readonly TestUser[]): Promise<TestUser[]> {
  const staying: TestUser[] = [];
  for (const [number, user] of users.entries()) {
    const logout = await stage
      .at(number)
      .ask("/idpauth/logout/?response=json", { cookie: user.cookie, allowsUnavailable: true });
    // Of a cluster two thirds still answer.
    if (logout.status === 200) continue;
    assert.equal(logout.status, 503, logout.text);
    assert.deepEqual(logout.setCookies, []);
    staying.push(user);
  }
  return staying;
}

/** Without a server there is only a process to kill in the middle of its writes. */
export async function writerKilled(stage: Stage): Promise<void> {
  const { users, reuses, load } = await begin(stage);
  try {
    for (let round = 0; round < 4; round += 1) {
      const writer = await stage.start();
      let writes = 0;
      const writing = Array.from({ length: 8 }, () => writeUntilDead(writer, () => (writes += 1)));
      await until("it writes", () => writes >= 20 * (round + 1));
      await writer.kill();
      await Promise.all(writing);
      await everybodyIsSignedIn(stage, users);
    }
  } finally {
    assert.deepEqual(await load.stop(), []);
  }
  assert.equal(stage.provider.reuses, reuses);
}

/** Each login without a cookie is a new record. */
async function writeUntilDead(writer: ApplicationProcess, onWrite: () => void): Promise<void> {
  try {
    for (;;) {
      await writer.ask("/idpauth/login/");
      onWrite();
    }
  } catch (error) {
    assert.ok(error instanceof NoAnswerError, String(error));
  }
}

async function everybodyIsSignedIn(stage: Stage, users: readonly TestUser[]): Promise<void> {
  await Promise.all(
    users.map(async (user, number) => {
      const ask = () =>
        stage.at(number).ask("/idpauth/session", { cookie: user.cookie, allowsUnavailable: true });
      let answer = await ask();
      await until("the store is back", async () => (answer = await ask()).status !== 503, RECOVERY);
      assertSignedIn(answer, user, "after the outage");
    }),
  );
}
