import assert from "node:assert/strict";
import { assertSignedIn, assertSignedOut, cookieOf, type Stage } from "../stage.js";

/**
 * A process of the next version, whose records have another format, beside one of this version. A
 * record that a process cannot read is no session there; it is neither changed nor lost for the
 * process that can.
 */
export async function recordFormats(stage: Stage): Promise<void> {
  const current = stage.at(0);
  const next = await stage.start({}, { nextFormat: true });
  for (const [own, other] of [
    [next, current],
    [current, next],
  ] as const) {
    const user = await stage.signIn(own, own);
    const expired = await stage.signIn(own, own, { first: 0 });
    for (const { cookie } of [user, expired]) {
      const probes = await Promise.all(
        ["/idpauth/session", "/idpauth/session?details=true"].map((target) =>
          other.ask(target, { cookie }),
        ),
      );
      for (const probe of probes) {
        assertSignedOut(probe, "with a record of another format");
        assert.deepEqual(probe.setCookies, []);
      }
      for (const [target, status] of [
        ["/guarded", 401],
        ["/idpauth/", 200],
        ["/idpauth/login-callback?state=unknown&code=unknown", 400],
      ] as const) {
        const answer = await other.ask(target, { cookie });
        assert.equal(answer.status, status, `${target}: ${answer.text}`);
        assert.deepEqual(answer.setCookies, []);
      }
      // A login there begins a session of its own and leaves the record of the other format alone.
      const login = await other.ask("/idpauth/login/", { cookie });
      assert.equal(login.status, 302, login.text);
      assert.notEqual(cookieOf(login), cookie);
    }
    assertSignedIn(
      await own.ask("/idpauth/session", { cookie: user.cookie }),
      user,
      "at its own process",
    );
    assertSignedIn(
      await own.ask("/idpauth/session", { cookie: expired.cookie }),
      expired,
      "refreshed at its own process",
    );
    assert.equal(stage.refreshes(expired), 1);

    // A logout means the session, whoever can read it.
    const logout = await other.ask("/idpauth/logout/?response=json", { cookie: user.cookie });
    assert.equal(logout.status, 200, logout.text);
    assertSignedOut(
      await own.ask("/idpauth/session", { cookie: user.cookie }),
      "after a logout at the other",
    );
  }
  assert.ok(next.isRunning, next.stderr);
  await next.kill();
}
