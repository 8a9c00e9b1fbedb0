import assert from "node:assert/strict";
import type { ApplicationProcess } from "../application-process.js";
import type { TestUser } from "../people.js";
import { assertSignedIn, SECRET_KEY, type Stage } from "../stage.js";

const NEW_KEY = "a secret key of at least 32 bytes, the second";

/**
 * SECRET_KEY is replaced in two phases. At each moment of both deployments two processes with
 * different keys run side by side: what one has written, by a login or a refresh, the other reads;
 * and everybody of before is still signed in.
 */
export async function keyRotation(stage: Stage): Promise<void> {
  const [before, knowsNew, usesNew, secondKnowsNew] = await Promise.all([
    stage.start({ secretKey: SECRET_KEY }),
    stage.start({ secretKey: SECRET_KEY, secretKeyFallbacks: [NEW_KEY] }),
    stage.start({ secretKey: NEW_KEY, secretKeyFallbacks: [SECRET_KEY] }),
    stage.start({ secretKey: SECRET_KEY, secretKeyFallbacks: [NEW_KEY] }),
  ]);
  const users: TestUser[] = [await stage.signIn(before, before)];
  const expired = [
    await stage.signIn(before, before, { first: 0 }),
    await stage.signIn(before, before, { first: 0 }),
  ];
  for (const pair of [
    [before, knowsNew],
    [knowsNew, secondKnowsNew],
    [usesNew, secondKnowsNew],
  ] as const) {
    users.push(...(await sideBySide(stage, pair)));
    for (const user of users) {
      for (const process of pair)
        assertSignedIn(
          await process.ask("/idpauth/session", { cookie: user.cookie }),
          user,
          "mid-deploy",
        );
    }
  }
  // Sealed with the old key before all this, and not looked at since.
  for (const [number, user] of expired.entries()) {
    const [first, second] = number === 0 ? [usesNew, secondKnowsNew] : [secondKnowsNew, usesNew];
    assertSignedIn(
      await first.ask("/idpauth/session", { cookie: user.cookie }),
      user,
      "refreshed after the rotation",
    );
    assertSignedIn(
      await second.ask("/idpauth/session", { cookie: user.cookie }),
      user,
      "elsewhere, after the rotation",
    );
    assert.equal(stage.refreshes(user), 1);
  }
  await Promise.all([before, knowsNew, usesNew, secondKnowsNew].map((process) => process.kill()));
}

/** Logins that begin at one and end at the other, and refreshes at either, each read by both. */
async function sideBySide(
  stage: Stage,
  [one, other]: readonly [ApplicationProcess, ApplicationProcess],
): Promise<TestUser[]> {
  const users: TestUser[] = [];
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const user = await stage.signIn(first, second);
    const expired = await stage.signIn(first, second, { first: 0 });
    assertSignedIn(
      await first.ask("/idpauth/session", { cookie: user.cookie }),
      user,
      "signed in at the other",
    );
    const answers = await Promise.all(
      [first, second, first, second].map((process) =>
        process.ask("/guarded", { cookie: expired.cookie }),
      ),
    );
    for (const answer of answers) assertSignedIn(answer, expired, "refreshed at either");
    assert.equal(stage.refreshes(expired), 1, "token requests");
    users.push(user, expired);
  }
  return users;
}
