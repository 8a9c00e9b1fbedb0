import assert from "node:assert/strict";
import type { ApplicationProcess } from "../application-process.js";
import type { TestUser } from "../people.js";
import { assertSignedIn, type Stage } from "../stage.js";

const ROUNDS = 3;

/**
 * A process is killed when the provider has demanded a nonce, and before it sends the repetition.
 * Another process takes over, the session lives, and no token is spent twice.
 */
export async function killedAtDemand(stage: Stage): Promise<void> {
  const { provider } = stage;
  const reuses = provider.reuses;
  const [users, survivors, doomed] = await Promise.all([
    stage.signInMany(3, { first: 0 }),
    stage.startMany(2, { speed: 10, httpTimeout: 120 }),
    stage.startMany(3),
  ]);
  await Promise.all(users.map((user, number) => dieAtDemand(stage, user, doomed[number]!)));
  for (const user of users) {
    assert.equal(stage.refreshes(user), 0, "the provider has looked at a refresh token");
    const answers = await Promise.all(
      [...survivors, ...survivors].map((one) =>
        one.ask("/idpauth/session", { cookie: user.cookie }),
      ),
    );
    for (const answer of answers) assertSignedIn(answer, user, "after the takeover");
    assert.equal(stage.refreshes(user), 1, "token requests with a nonce");
  }
  assert.equal(provider.reuses, reuses);
  await Promise.all(survivors.map((survivor) => survivor.kill()));
}

async function dieAtDemand(
  stage: Stage,
  user: TestUser,
  process: ApplicationProcess,
): Promise<void> {
  const token = stage.people.refreshTokensOf(user).at(-1);
  stage.provider.fault("token", {
    kind: "hang",
    before: false,
    times: 1,
    when(request) {
      const isTheirs = request.params.get("refresh_token") === token && !stage.passes(request);
      if (isTheirs) void process.kill();
      return isTheirs;
    },
  });
  await assert.rejects(process.ask("/idpauth/session", { cookie: user.cookie }));
  assert.equal((await process.ended).signal, "SIGKILL", process.stderr);
}

/**
 * Two processes with DPoP and two without run side by side, as during a rolling restart that turns
 * it on or off. Whoever signed in at either is refreshed at either, once, and stays signed in.
 */
export async function turnedOnOrOff(stage: Stage): Promise<void> {
  const { settings, reuses } = stage.provider;
  settings.dpop = "supported";
  const mixed = await Promise.all([true, false, true, false].map((dpop) => stage.start({ dpop })));
  const at = (number: number) => mixed[number % mixed.length]!;
  const users: TestUser[] = [];
  // Each login ends at the next process, so half of them with another setting than they began.
  for (let number = 0; number < 2 * mixed.length; number += 1) {
    const end = at(number + 1 + Math.floor(number / mixed.length));
    users.push(await stage.signIn(at(number), end, { first: 0, later: 0 }));
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    const answers = await Promise.all(
      users.map((user, number) =>
        at(number + round).ask("/idpauth/session", { cookie: user.cookie }),
      ),
    );
    for (const [number, answer] of answers.entries())
      assertSignedIn(answer, users[number]!, `round ${String(round)}`);
  }
  // Now all processes have it on, and the provider demands it.
  settings.dpop = "required";
  for (const [number, user] of users.entries())
    assertSignedIn(
      await at(2 * number).ask("/idpauth/session", { cookie: user.cookie }),
      user,
      "once the provider demands it",
    );
  for (const user of users) assert.equal(stage.people.refreshTokensOf(user).length, ROUNDS + 2);
  assert.equal(stage.provider.reuses, reuses);
  await Promise.all(mixed.map((process) => process.kill()));
}
