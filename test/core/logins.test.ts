import { describe, expect, it } from "vitest";
import { findLogin, isUsedState, signedIn, withLogin, withoutLogin } from "../../src/core/logins.js";
import { deepFreeze, EMPTY_RECORD, type PendingLogin, type SessionRecord } from "../../src/core/record.js";

const NOW = 1_800_000_000;

function login(state: string, startedAt = NOW): PendingLogin {
  return {
    state,
    nonce: `nonce of ${state}`,
    verifier: `verifier of ${state}`,
    final_redirect: `https://app.example/${state}`,
    redirect_uri: "https://app.example/idpauth/login-callback",
    issuer: "https://idp.example",
    started_at: startedAt,
  };
}

const started = (...logins: PendingLogin[]): SessionRecord =>
  logins.reduce<SessionRecord>((record, each) => deepFreeze(withLogin(record, each, each.started_at)), EMPTY_RECORD);
const statesOf = (record: SessionRecord) => record.idp_state.logins?.map(({ state }) => state);

const CREDENTIALS = { token: "access", token_uri: "https://idp.example/token", client_id: "c", client_secret: "s", scopes: ["openid"] };

describe("a started login", () => {
  it("is all that an empty record then has, mirrors included", () => {
    expect(withLogin(EMPTY_RECORD, login("a"), NOW)).toStrictEqual({
      oauth_state: "a",
      final_redirect: "https://app.example/a",
      idp_state: { v: 1, logins: [login("a")] },
    });
  });

  it("leaves everything else of a signed-in record as it is", () => {
    const before = deepFreeze<SessionRecord>({
      credentials: CREDENTIALS,
      id_info: { sub: "ada" },
      idp_login_at: 7,
      idp_state: { v: 1, used: ["hash"] },
    });
    expect(withLogin(before, login("a"), NOW)).toStrictEqual({
      ...before,
      oauth_state: "a",
      final_redirect: "https://app.example/a",
      idp_state: { v: 1, used: ["hash"], logins: [login("a")] },
    });
  });

  it("brings its own debug facts, and takes away those of the login before", () => {
    const before = withLogin(EMPTY_RECORD, login("a"), NOW, { scheme: "DEFAULT" });
    expect(before.debug).toEqual({ scheme: "DEFAULT" });
    expect(withLogin(before, login("b"), NOW)).not.toHaveProperty("debug");
  });

  it("drops those that are over: at 600 s, not a second before", () => {
    expect(statesOf(withLogin(started(login("a")), login("b"), NOW + 599))).toEqual(["a", "b"]);
    expect(statesOf(withLogin(started(login("a")), login("b"), NOW + 600))).toEqual(["b"]);
  });

  it("makes the oldest of nine go, and keeps the order of the others", () => {
    const states = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    expect(statesOf(started(...states.map((state) => login(state))))).toEqual(states.slice(1));
  });
});

describe("a login that comes back", () => {
  it.each([
    ["the last second", NOW + 599, "a"],
    ["the first second after its life", NOW + 600, undefined],
  ])("is found until it is over: in %s", (_when, now, state) => {
    expect(findLogin(started(login("a")), "a", now)?.state).toBe(state);
  });

  it("is found by its own state only", () => {
    const record = started(login("a"), login("b"));
    expect([findLogin(record, "b", NOW), findLogin(record, "a", NOW), findLogin(record, "c", NOW)]).toEqual([
      login("b"),
      login("a"),
      undefined,
    ]);
    expect(findLogin(EMPTY_RECORD, "a", NOW)).toBeUndefined();
  });
});

describe("a login that is used up", () => {
  it("is gone with its mirror, its state remembered by hash; the newest of the others is mirrored", () => {
    const record = started(login("a"), login("b"), login("c"), login("d"));
    expect(withoutLogin(record, "d", "hash of d")).toStrictEqual({
      ...record,
      oauth_state: "c",
      idp_state: { v: 1, logins: [login("a"), login("b"), login("c")], used: ["hash of d"] },
    });
    expect(statesOf(withoutLogin(record, "a", "hash of a"))).toEqual(["b", "c", "d"]);
  });

  it("leaves no empty list and no mirror behind when it was the only one", () => {
    expect(withoutLogin(started(login("a")), "a", "hash of a")).toStrictEqual({
      final_redirect: "https://app.example/a",
      idp_state: { v: 1, used: ["hash of a"] },
    });
  });

  it("that is not there changes nothing: it is the very same record", () => {
    const record = started(login("a"));
    expect(withoutLogin(record, "b", "hash of b")).toBe(record);
    expect(withoutLogin(EMPTY_RECORD, "a", "hash of a")).toBe(EMPTY_RECORD);
  });

  it("is remembered as one of the last eight", () => {
    const used = ["1", "2", "3", "4", "5", "6", "7", "8"];
    const record: SessionRecord = { idp_state: { v: 1, logins: [login("a")], used } };
    expect(withoutLogin(record, "a", "9").idp_state.used).toEqual([...used.slice(1), "9"]);
  });

  it("is known by its hash, and nothing else is", () => {
    const record: SessionRecord = { idp_state: { v: 1, used: ["1", "2"] } };
    expect([isUsedState(record, "1"), isUsedState(record, "2"), isUsedState(record, "3"), isUsedState(EMPTY_RECORD, "1")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("a completed callback", () => {
  const before = deepFreeze<SessionRecord>({
    credentials: { ...CREDENTIALS, token: "old", refresh_token: "old" },
    id_info: { sub: "eve" },
    oauth_state: "b",
    final_redirect: "https://app.example/b",
    debug: { scheme: "DEFAULT" },
    idp_login_at: 1,
    idp_last_active: 2,
    idp_state: {
      v: 1,
      logins: [login("b")],
      used: ["hash"],
      lease: { nonce: "holder", taken_at: NOW },
      refresh_rejected: true,
      ended: "idle",
      access_token_expires_at: 3,
      issuer: "https://before.example",
    },
  });

  it("writes sign-in and stamps anew, keeps other tabs' logins and used states, and forgets the rest", () => {
    const signIn = { credentials: CREDENTIALS, idInfo: { sub: "ada" }, accessTokenExpiresAt: NOW + 300 };
    expect(signedIn(before, signIn, login("a"), NOW, true)).toStrictEqual({
      credentials: CREDENTIALS,
      id_info: { sub: "ada" },
      oauth_state: "b",
      final_redirect: "https://app.example/a",
      debug: { scheme: "DEFAULT" },
      idp_login_at: NOW,
      idp_last_active: NOW,
      idp_state: {
        v: 1,
        logins: [login("b")],
        used: ["hash"],
        issuer: "https://idp.example",
        access_token_expires_at: NOW + 300,
      },
    });
  });

  it("leaves no old activity stamp and no old expiry of an access token, where there is no new one", () => {
    expect(
      signedIn(before, { credentials: CREDENTIALS, idInfo: {}, accessTokenExpiresAt: undefined }, login("a"), NOW, false),
    ).toStrictEqual({
      credentials: CREDENTIALS,
      id_info: {},
      oauth_state: "b",
      final_redirect: "https://app.example/a",
      debug: { scheme: "DEFAULT" },
      idp_login_at: NOW,
      idp_state: { v: 1, logins: [login("b")], used: ["hash"], issuer: "https://idp.example" },
    });
  });
});
