import assert from "node:assert/strict";
import { until } from "../until.js";
import { assertSignedOut, type Stage } from "../stage.js";

const APIS = ["orders", "billing"] as const;
const REQUESTS_PER_PROCESS = 50;

async function tokenFor(
  stage: Stage,
  number: number,
  api: string,
  cookie: string,
): Promise<string | null> {
  const response = await stage.at(number).ask(`/token/${api}`, { cookie });
  assert.equal(response.status, 200, response.text);
  return (JSON.parse(response.text) as { token: string | null }).token;
}

/**
 * Four processes, fifty requests at each at the same moment, half of them for each of two APIs: two
 * token requests on a valid session, three on an expired one, and no API is sent another's token.
 */
export async function apiTokens(stage: Stage): Promise<void> {
  for (const [first, expected] of [
    [3_600, 2],
    [0, 3],
  ] as const) {
    const [user] = await stage.signInMany(1, { first });
    const before = { refreshes: stage.refreshes(), reuses: stage.provider.reuses };
    const apis = Array.from(
      { length: stage.fleet.length * REQUESTS_PER_PROCESS },
      (_, number) => APIS[number % 8 < 4 ? 0 : 1],
    );
    const tokens = await Promise.all(
      apis.map((api, number) => tokenFor(stage, number, api, user!.cookie)),
    );
    for (const [number, token] of tokens.entries()) {
      assert.equal(stage.people.ownerOf(token ?? ""), user!.sub, "somebody else's token");
      assert.deepEqual(stage.provider.targetOf(token ?? ""), {
        resource: `https://${apis[number]!}.example.com`,
      });
    }
    assert.equal(new Set(tokens).size, 2);
    assert.equal(stage.refreshes() - before.refreshes, expected, "token requests");
    assert.equal(stage.provider.reuses, before.reuses);
  }
}

/**
 * A logout while another process refreshes for an API: the session never comes back, and the tokens
 * that come late are revoked.
 */
export async function logoutDuringApiRefresh(stage: Stage): Promise<void> {
  const users = await stage.signInMany(4);
  for (const [number, user] of users.entries()) {
    const { cookie } = user;
    const old = stage.people.refreshTokensOf(user).at(-1);
    const hold = stage.provider.hold("token", {
      before: false,
      times: 1,
      when: (request) => request.params.get("refresh_token") === old && stage.passes(request),
    });
    try {
      const asking = tokenFor(stage, number, "orders", cookie);
      await hold.arrived;
      const logout = await stage.at(number + 1).ask("/idpauth/logout/?response=json", { cookie });
      assert.equal(logout.status, 200, logout.text);
      hold.release();
      assert.equal(await asking, null);
    } finally {
      hold.release();
    }
    for (const step of [0, 1, 2, 3])
      assertSignedOut(
        await stage.at(number + step).ask("/idpauth/session", { cookie }),
        "after the refresh",
      );
    const late = stage.people.refreshTokensOf(user).at(-1) ?? "";
    assert.notEqual(late, old);
    await until(
      "the late tokens are revoked",
      () => stage.provider.requestsTo("revoke", { token: late }).length === 1,
    );
    assert.equal(stage.provider.isActive(late), false, "a token outlives the logout");
  }
}
