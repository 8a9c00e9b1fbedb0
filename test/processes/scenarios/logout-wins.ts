import assert from "node:assert/strict";
import { until } from "../until.js";
import { assertSignedIn, assertSignedOut, type Stage } from "../stage.js";

/** As soon as one process has answered a logout, every other process says signed out. */
export async function logoutSeenByAll(stage: Stage): Promise<void> {
  const users = await stage.signInMany(100);
  for (const [number, user] of users.entries()) {
    const { cookie } = user;
    const others = [1, 2, 3].map((step) => stage.at(number + step));
    assertSignedIn(await others[0]!.ask("/idpauth/session", { cookie }), user, "before the logout");
    const logout = await stage.at(number).ask("/idpauth/logout/?response=json", { cookie });
    assert.equal(logout.status, 200, logout.text);
    const answers = await Promise.all(
      others.map((process) => process.ask("/idpauth/session", { cookie })),
    );
    for (const answer of answers) assertSignedOut(answer, "after a logout elsewhere");
  }
}

/**
 * A logout while another process refreshes: the session never comes back, and the tokens that come
 * late are given back.
 */
export async function logoutDuringRefresh(stage: Stage): Promise<void> {
  const users = await stage.signInMany(8, { first: 0 });
  for (const [number, user] of users.entries()) {
    const { cookie } = user;
    const old = stage.people.refreshTokensOf(user).at(-1);
    // In turn: the provider has not begun, and its logout will refuse; or it has rotated, and its
    // answer is late.
    const hasRotated = number % 2 === 1;
    const hold = stage.provider.hold("token", {
      before: !hasRotated,
      times: 1,
      when: (request) => request.params.get("refresh_token") === old && stage.passes(request),
    });
    try {
      const refreshing = stage.at(number).ask("/idpauth/session", { cookie });
      await hold.arrived;
      const logout = await stage.at(number + 1).ask("/idpauth/logout/?response=json", { cookie });
      assert.equal(logout.status, 200, logout.text);
      for (const step of [1, 2, 3])
        assertSignedOut(
          await stage.at(number + step).ask("/idpauth/session", { cookie }),
          "at once",
        );
      hold.release();
      assertSignedOut(await refreshing, "the user of the refresh");
    } finally {
      hold.release();
    }
    for (const step of [0, 1, 2, 3])
      assertSignedOut(
        await stage.at(number + step).ask("/idpauth/session", { cookie }),
        "after the refresh",
      );
    const late = stage.people.refreshTokensOf(user).at(-1) ?? "";
    if (hasRotated) {
      assert.notEqual(late, old);
      await until(
        "the late tokens are revoked",
        () => stage.provider.requestsTo("revoke", { token: late }).length === 1,
      );
    }
    assert.equal(stage.provider.isActive(late), false, "a token outlives the logout");
  }
}
