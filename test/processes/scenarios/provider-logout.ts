import assert from "node:assert/strict";
import type { ApplicationProcess } from "../application-process.js";
import type { TestUser } from "../people.js";
import { assertSignedIn, assertSignedOut, type Stage } from "../stage.js";
import { until } from "../until.js";

/**
 * The provider posts a logout token to one process, by `sid` or by `sub` alone. As soon as that
 * process responds with 200, no process lets the user in, and the user's open connections end in
 * every process. Other users stay signed in.
 */
export async function providerLogoutSeenByAll(stage: Stage): Promise<void> {
  const users = await stage.signInMany(12);
  const bystander = await stage.signIn(stage.at(0), stage.at(1));
  const closings = [bystander, ...users].map(({ cookie }) =>
    stage.fleet.map((process) => process.ask("/until-ended", { cookie })),
  );
  for (const process of stage.fleet)
    await until(
      "the connections are open",
      async () => Number((await process.ask("/open-connections")).text) === closings.length,
    );

  for (const [number, user] of users.entries()) {
    const { sub } = user;
    const named = number % 2 === 0 ? { sub, sid: stage.people.sidOf(user) } : { sub };
    const form = new URLSearchParams({ logout_token: stage.provider.logoutToken(named) });
    const logout = { isConfirmed: false };
    const probes = stage.fleet.map((process) => probe(process, user, logout));
    const confirmed = await stage.at(number).ask("/idpauth/backchannel-logout", { form });
    assert.equal(confirmed.status, 200, confirmed.text);
    logout.isConfirmed = true;
    await Promise.all(probes);
  }

  const [ofBystander = [], ...ofUsers] = closings;
  for (const closing of await Promise.all(ofUsers.flat()))
    assert.equal(closing.text, "logged_out_at_provider");
  for (const process of stage.fleet) {
    assertSignedIn(
      await process.ask("/idpauth/session", { cookie: bystander.cookie }),
      bystander,
      "another user",
    );
    assert.equal((await process.ask("/open-connections")).text, "1", "connections of another user");
  }
  await stage.at(0).ask("/idpauth/logout/?response=json", { cookie: bystander.cookie });
  for (const closing of await Promise.all(ofBystander)) assert.equal(closing.text, "logout");
}

/**
 * Asks one process again and again, from before a logout until after it. A request that began after
 * the 200 must find no user.
 */
async function probe(
  process: ApplicationProcess,
  user: TestUser,
  logout: { readonly isConfirmed: boolean },
): Promise<void> {
  for (let after = 0; after < 3;) {
    const { isConfirmed } = logout;
    const answer = await process.ask("/idpauth/session", { cookie: user.cookie });
    if (isConfirmed) assertSignedOut(answer, "after a logout at the provider");
    if (isConfirmed) after += 1;
  }
}
