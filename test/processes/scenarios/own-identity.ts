import assert from "node:assert/strict";
import { assertSignedIn, type Stage } from "../stage.js";

/**
 * Many people refresh at the same moment, each at two processes: everybody stays who they are and
 * gets their own tokens.
 */
export async function ownIdentity(stage: Stage): Promise<void> {
  const users = await stage.signInMany(200, { first: 0 });
  const before = { refreshes: stage.refreshes(), reuses: stage.provider.reuses };
  await Promise.all(
    users.flatMap((user, number) =>
      [0, 1].map(async (other) => {
        const answer = await stage.at(number + other).ask("/guarded", { cookie: user.cookie });
        assertSignedIn(answer, user, "one of many refreshes");
        const { token } = JSON.parse(answer.text) as { token: string };
        assert.equal(stage.people.ownerOf(token), user.sub, "somebody else's access token");
      }),
    ),
  );
  assert.equal(stage.refreshes() - before.refreshes, users.length, "token requests");
  assert.equal(stage.provider.reuses, before.reuses);
}
