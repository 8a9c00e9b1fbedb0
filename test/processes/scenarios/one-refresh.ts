import assert from "node:assert/strict";
import { assertSignedIn, type Stage } from "../stage.js";

const REQUESTS_PER_PROCESS = 125;

/**
 * Four processes, a hundred and twenty-five requests at each at the same moment, one expired
 * session: one token request, all signed in.
 */
export async function oneRefresh(stage: Stage): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const [user] = await stage.signInMany(1, { first: 0 });
    const before = { refreshes: stage.refreshes(), reuses: stage.provider.reuses };
    const answers = await Promise.all(
      Array.from({ length: stage.fleet.length * REQUESTS_PER_PROCESS }, (_, number) =>
        stage
          .at(number)
          .ask(number % 8 < 4 ? "/idpauth/session" : "/guarded", { cookie: user!.cookie }),
      ),
    );
    for (const answer of answers) assertSignedIn(answer, user!, "a request during the refresh");
    assert.equal(stage.refreshes() - before.refreshes, 1, "token requests");
    assert.equal(stage.provider.reuses, before.reuses);
  }
}
