import { describe, expect, it } from "vitest";
import {
  findLogin,
  isAlive,
  isExchanging,
  isUsedState,
  mayFinish,
  signedIn,
  stateOfSignIn,
  withLogin,
  withoutExchange,
  withoutLogin,
} from "../../src/record/pending-logins.js";
import type { Review } from "../../src/record/application-data.js";
import type { SignIn } from "../../src/record/credentials.js";
import type { IdInfo } from "../../src/record/identity.js";
import { deepFreeze } from "../../src/record/json.js";
import {
  EMPTY_RECORD,
  withoutInherited,
  type PendingLogin,
  type SessionRecord,
} from "../../src/record/record.js";

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
  logins.reduce<SessionRecord>((record, each) => deepFreeze(withLogin(record, each)), EMPTY_RECORD);
const statesOf = (record: SessionRecord) => record.idp_state.logins?.map(({ state }) => state);

const CREDENTIALS = {
  token: "access",
  token_uri: "https://idp.example/token",
  client_id: "c",
  client_secret: "s",
  scopes: ["openid"],
};

const signInOf = (idInfo: IdInfo): SignIn => ({
  credentials: CREDENTIALS,
  idInfo,
  userinfoClaims: [],
  idToken: "an ID token",
  receivedAt: NOW,
  accessTokenExpiresAt: undefined,
});

describe("a started login", () => {
  it("is all that an empty record then has, mirrors included", () => {
    expect(withLogin(EMPTY_RECORD, login("a"))).toStrictEqual({
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
    expect(withLogin(before, login("a"))).toStrictEqual({
      ...before,
      oauth_state: "a",
      final_redirect: "https://app.example/a",
      idp_state: { v: 1, used: ["hash"], logins: [login("a")] },
    });
  });

  it("brings its own debug facts, and takes away those of the login before", () => {
    const before = withLogin(EMPTY_RECORD, login("a"), { scheme: "DEFAULT" });
    expect(before.debug).toEqual({ scheme: "DEFAULT" });
    expect(withLogin(before, login("b"))).not.toHaveProperty("debug");
  });

  it("drops those that have expired: at 600 s, not a second before", () => {
    expect(statesOf(withLogin(started(login("a")), login("b", NOW + 599)))).toEqual(["a", "b"]);
    expect(statesOf(withLogin(started(login("a")), login("b", NOW + 600)))).toEqual(["b"]);
  });

  it("makes the oldest of nine go, and keeps the order of the others", () => {
    const states = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    expect(statesOf(started(...states.map((state) => login(state))))).toEqual(states.slice(1));
  });

  it("makes the oldest go that a script or another site started, before any of the user's own", () => {
    const polled = (state: string): PendingLogin => ({ ...login(state), unattended: true });
    const six = ["b", "c", "d", "e", "f", "g"].map(polled);
    const full = started(login("a"), ...six, login("h"));
    expect(statesOf(started(login("a"), ...six, login("h"), login("i")))).toEqual([
      "a",
      "c",
      "d",
      "e",
      "f",
      "g",
      "h",
      "i",
    ]);
    // A page that polls pushes out only what it started itself.
    const polls = Array.from({ length: 20 }, (_, index) => polled(`poll ${String(index)}`));
    const after = polls.reduce((record, each) => withLogin(record, each), full);
    expect(statesOf(after)?.slice(0, 2)).toEqual(["a", "h"]);
    expect(statesOf(after)).toHaveLength(8);
    expect(statesOf(after)?.at(-1)).toBe("poll 19");
    // The new login is never the one that goes.
    const own = started(...["a", "b", "c", "d", "e", "f", "g", "h"].map((state) => login(state)));
    expect(statesOf(withLogin(own, polled("i")))).toEqual(["b", "c", "d", "e", "f", "g", "h", "i"]);
  });
});

describe("a login that comes back", () => {
  it.each([
    ["the last second", NOW + 599, true],
    ["the first second after its life", NOW + 600, false],
  ])("may finish until it expires: in %s", (_when, now, expected) => {
    expect(isAlive(login("a"), now)).toBe(expected);
  });

  it("is found by its own state only", () => {
    const record = started(login("a"), login("b"));
    expect(["b", "a", "c"].map((state) => findLogin(record, state))).toEqual([
      login("b"),
      login("a"),
      undefined,
    ]);
    expect(findLogin(EMPTY_RECORD, "a")).toBeUndefined();
  });
});

describe("a login that is used up", () => {
  it("is gone with its mirror, its state remembered by hash; the newest of the others is mirrored", () => {
    const record = started(login("a"), login("b"), login("c"), login("d"));
    expect(withoutLogin(record, { state: "d", stateHash: "hash of d" })).toStrictEqual({
      ...record,
      oauth_state: "c",
      idp_state: { v: 1, logins: [login("a"), login("b"), login("c")], used: ["hash of d"] },
    });
    expect(statesOf(withoutLogin(record, { state: "a", stateHash: "hash of a" }))).toEqual([
      "b",
      "c",
      "d",
    ]);
  });

  it("leaves no empty list and no mirror behind when it was the only one", () => {
    expect(withoutLogin(started(login("a")), { state: "a", stateHash: "hash of a" })).toStrictEqual(
      {
        final_redirect: "https://app.example/a",
        idp_state: { v: 1, used: ["hash of a"] },
      },
    );
  });

  it("that is not there changes nothing: it is the very same record", () => {
    const record = started(login("a"));
    expect(withoutLogin(record, { state: "b", stateHash: "hash of b" })).toBe(record);
    expect(withoutLogin(EMPTY_RECORD, { state: "a", stateHash: "hash of a" })).toBe(EMPTY_RECORD);
  });

  it("is remembered as one of the last eight", () => {
    const used = ["1", "2", "3", "4", "5", "6", "7", "8"];
    const record: SessionRecord = { idp_state: { v: 1, logins: [login("a")], used } };
    expect(withoutLogin(record, { state: "a", stateHash: "9" }).idp_state.used).toEqual([
      ...used.slice(1),
      "9",
    ]);
  });

  it("records when it failed, if it was silent and the provider needs the user", () => {
    const record = started(login("a"), login("b"));
    const failed = withoutLogin(record, {
      state: "a",
      stateHash: "hash of a",
      silentFailedAt: NOW + 5,
    });
    expect(failed.idp_state).toStrictEqual({
      v: 1,
      logins: [login("b")],
      used: ["hash of a"],
      silent_failed_at: NOW + 5,
    });
    expect(
      withoutLogin(failed, { state: "b", stateHash: "hash of b" }).idp_state.silent_failed_at,
    ).toBe(NOW + 5);
    expect(
      withoutLogin(record, { state: "a", stateHash: "hash of a" }).idp_state,
    ).not.toHaveProperty("silent_failed_at");
  });

  it("is known by its hash, and nothing else is", () => {
    const record: SessionRecord = { idp_state: { v: 1, used: ["1", "2"] } };
    expect([
      isUsedState(record, "1"),
      isUsedState(record, "2"),
      isUsedState(record, "3"),
      isUsedState(EMPTY_RECORD, "1"),
    ]).toEqual([true, true, false, false]);
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

  it("writes sign-in and stamps from the start, carries other tabs' logins, keeps used states, and forgets the rest", () => {
    const signIn = {
      credentials: CREDENTIALS,
      idInfo: { sub: "ada" },
      userinfoClaims: ["email"],
      idToken: "an ID token",
      receivedAt: NOW - 1,
      accessTokenExpiresAt: NOW + 300,
    };
    expect(
      signedIn(before, { signIn, login: login("a"), now: NOW, stampsActivity: true }),
    ).toStrictEqual({
      credentials: CREDENTIALS,
      id_info: { sub: "ada" },
      oauth_state: "b",
      final_redirect: "https://app.example/a",
      debug: { scheme: "DEFAULT" },
      idp_login_at: NOW,
      idp_last_active: NOW,
      idp_state: {
        v: 1,
        id_token: "an ID token",
        logins: [{ ...login("b"), carried: true }],
        used: ["hash"],
        issuer: "https://idp.example",
        access_token_expires_at: NOW + 300,
        tokens_received_at: NOW - 1,
        userinfo_claims: ["email"],
      },
    });
  });

  it("leaves no old activity stamp and no old expiry of an access token, where there is no new one", () => {
    expect(
      signedIn(before, {
        signIn: signInOf({}),
        login: login("a"),
        now: NOW,
        stampsActivity: false,
      }),
    ).toStrictEqual({
      credentials: CREDENTIALS,
      id_info: {},
      oauth_state: "b",
      final_redirect: "https://app.example/a",
      debug: { scheme: "DEFAULT" },
      idp_login_at: NOW,
      idp_state: {
        v: 1,
        id_token: "an ID token",
        logins: [{ ...login("b"), carried: true }],
        used: ["hash"],
        issuer: "https://idp.example",
        tokens_received_at: NOW,
      },
    });
  });
});

describe("[R12] who a login may finish for", () => {
  const ADA = { iss: "https://idp.example", sub: "ada" };
  const present = (idInfo: IdInfo | undefined): SessionRecord => ({
    ...(idInfo && { id_info: idInfo }),
    idp_state: { v: 1 },
  });
  const carried: PendingLogin = { ...login("a"), carried: true };

  it.each<[string, IdInfo, IdInfo | undefined, boolean]>([
    ["the same user", ADA, ADA, true],
    ["the same user with other claims", ADA, { ...ADA, email: "ada@example.com" }, true],
    ["another subject", ADA, { ...ADA, sub: "eve" }, false],
    ["the same subject of another issuer", ADA, { ...ADA, iss: "https://other.example" }, false],
    ["a session without an identity", ADA, undefined, false],
    ["two identities without issuer and subject", {}, {}, false],
    ["two identities with an empty subject", { ...ADA, sub: "" }, { ...ADA, sub: "" }, false],
  ])("a login carried over a sign-in: %s", (_name, idInfo, signedInAs, expected) => {
    expect(mayFinish(present(signedInAs), carried, { idInfo })).toBe(expected);
  });

  it("a login that was started since the sign-in may finish for anyone", () => {
    expect(mayFinish(present(ADA), login("a"), { idInfo: { ...ADA, sub: "eve" } })).toBe(true);
    expect(mayFinish(present(undefined), login("a"), { idInfo: ADA })).toBe(true);
  });

  it("a login stays carried when other logins start and come back, and a later sign-in carries the new ones too", () => {
    const first = signedIn(started(login("a"), login("b")), {
      signIn: signInOf(ADA),
      login: login("x"),
      now: NOW,
      stampsActivity: false,
    });
    const more = withoutLogin(withLogin(first, login("c")), { state: "a", stateHash: "hash of a" });
    expect(more.idp_state.logins).toEqual([{ ...login("b"), carried: true }, login("c")]);
    const second = signedIn(more, {
      signIn: signInOf(ADA),
      login: login("y"),
      now: NOW,
      stampsActivity: false,
    });
    expect(second.idp_state.logins?.map((each) => each.carried)).toEqual([true, true]);
  });
});

describe("the state that a sign-in adds", () => {
  it("contains the provider's session, the time of the ID token and the provider's time limit", () => {
    expect(
      stateOfSignIn({ sid: "s", iat: NOW, session_expiry: NOW + 60, exp: NOW + 9 }),
    ).toStrictEqual({
      sid: "s",
      signed_in_iat: NOW,
      session_expiry: NOW + 60,
    });
  });

  it.each<[IdInfo]>([
    [{}],
    [{ sid: "" }],
    [{ sid: 7 }],
    [{ sid: ["s"] }],
    [{ iat: String(NOW) }],
    [{ iat: null }],
  ])("contains nothing of the claims %j", (claims) => {
    expect(stateOfSignIn(claims)).toStrictEqual({});
  });

  it("keeps a time limit that isn't a number, so that the policy can end the session", () => {
    expect(stateOfSignIn({ session_expiry: null })).toStrictEqual({ session_expiry: null });
    expect(stateOfSignIn({ session_expiry: "soon" })).toStrictEqual({ session_expiry: "soon" });
  });

  it("doesn't contain what claims only inherit", () => {
    const inheriting = Object.create({ sid: "evil", iat: NOW, session_expiry: NOW }) as IdInfo;
    expect(stateOfSignIn(inheriting)).toStrictEqual({});
  });
});

describe("a sign-in that the application's code accepted", () => {
  const ADA = { iss: "https://idp.example", sub: "ada" };
  const EVE = { iss: "https://idp.example", sub: "eve" };
  const withDataOf = (idInfo: IdInfo | undefined): SessionRecord =>
    deepFreeze({
      ...(idInfo && { id_info: idInfo }),
      idp_state: { v: 1, data: { cart: ["book"] } },
    });
  const after = (record: SessionRecord, review?: Review, idInfo: IdInfo = ADA) =>
    signedIn(record, {
      signIn: signInOf(idInfo),
      login: login("a"),
      now: NOW,
      stampsActivity: false,
      ...(review && { review }),
    });

  it("keeps the application's data if the same user signs in again", () => {
    expect(after(withDataOf(ADA)).idp_state.data).toEqual({ cart: ["book"] });
  });

  it.each<[string, IdInfo | undefined]>([
    ["another user", EVE],
    ["the same subject at another issuer", { ...ADA, iss: "https://other.example" }],
    ["a session without a user", undefined],
  ])("doesn't get the application's data of %s", (_name, idInfo) => {
    expect(after(withDataOf(idInfo)).idp_state).not.toHaveProperty("data");
    const seen: unknown[] = [];
    const changed = after(withDataOf(idInfo), {
      changeData: (data) => (seen.push(data), { ...data, visits: 1 }),
    });
    expect([seen, changed.idp_state.data]).toEqual([[{}], { visits: 1 }]);
  });

  it("stores the data that the application makes of the user's data", () => {
    const changed = after(withDataOf(ADA), { changeData: (data) => ({ ...data, visits: 1 }) });
    expect(changed.idp_state.data).toEqual({ cart: ["book"], visits: 1 });
  });

  it("remembers the APIs that the same user's logins requested, until one requests none", () => {
    const asking = (record: SessionRecord, api?: string, idInfo: IdInfo = ADA) =>
      signedIn(record, {
        signIn: signInOf(idInfo),
        login: { ...login("a"), ...(api && { api }) },
        now: NOW,
        stampsActivity: false,
      });
    const both = asking(asking(asking(EMPTY_RECORD, "orders"), "graph"), "orders");
    expect(both.idp_state.asked_apis).toEqual(["orders", "graph"]);
    expect(asking(both, "graph", EVE).idp_state.asked_apis).toEqual(["graph"]);
    expect(asking(both).idp_state).not.toHaveProperty("asked_apis");
  });

  it("stores the output of the claims schema with its version", () => {
    const { idp_state: state } = after(withDataOf(EVE), {
      claims: { output: { groups: ["admin"] }, version: "2" },
    });
    expect(state).toMatchObject({ claims: { groups: ["admin"] }, claims_version: "2" });
    expect(Object.keys(after(withDataOf(ADA)).idp_state)).not.toEqual(
      expect.arrayContaining(["claims"]),
    );
  });

  it("stores the provider's session and its time limit, for a logout by the provider", () => {
    const { idp_state: state } = after(EMPTY_RECORD, undefined, {
      ...ADA,
      sid: "s",
      iat: NOW - 1,
      session_expiry: NOW + 60,
    });
    expect(state).toMatchObject({ sid: "s", signed_in_iat: NOW - 1, session_expiry: NOW + 60 });
  });

  it("forgets the earlier session's refusal, failure and review", () => {
    const before = deepFreeze<SessionRecord>({
      id_info: ADA,
      idp_state: {
        v: 1,
        rejected: "denied",
        review_due: true,
        silent_failed_at: NOW,
        dropped_token: "dropped",
        sid: "before",
        signed_in_iat: 1,
        session_expiry: 2,
        claims: { groups: ["admin"] },
        claims_version: "1",
        userinfo_claims: ["email"],
      },
    });
    expect(after(before)).toStrictEqual({
      credentials: CREDENTIALS,
      id_info: ADA,
      final_redirect: "https://app.example/a",
      idp_login_at: NOW,
      idp_state: {
        v: 1,
        issuer: "https://idp.example",
        id_token: "an ID token",
        tokens_received_at: NOW,
      },
    });
  });

  it("adds no key to a record without pending logins", () => {
    const { idp_state: state } = after(withoutInherited({ idp_state: { v: 1 as const } }));
    expect(Object.keys(state).sort()).toEqual(["id_token", "issuer", "tokens_received_at", "v"]);
  });
});

describe("an exchange of a code", () => {
  const returned = (record: SessionRecord, state: string) =>
    deepFreeze(withoutLogin(record, { state, stateHash: `hash of ${state}`, isExchanged: true }));

  it("is remembered from the return of its login to its end, in the order of the returns", () => {
    const both = returned(returned(started(login("a"), login("b")), "a"), "b");
    expect(both.idp_state.exchanging).toEqual(["hash of a", "hash of b"]);
    expect(isExchanging(both, "hash of a")).toBe(true);
    expect(isExchanging(both, "hash of c")).toBe(false);
    expect(isExchanging(EMPTY_RECORD, "hash of a")).toBe(false);

    const one = deepFreeze(withoutExchange(both, "hash of a"));
    expect(one).toStrictEqual({
      ...both,
      idp_state: { ...both.idp_state, exchanging: ["hash of b"] },
    });
    expect(withoutExchange(one, "hash of a")).toBe(one);
    expect(withoutExchange(one, "hash of b").idp_state).not.toHaveProperty("exchanging");
  });

  it("isn't remembered for a login whose code isn't exchanged", () => {
    const record = withoutLogin(started(login("a")), { state: "a", stateHash: "hash of a" });
    expect(record.idp_state).not.toHaveProperty("exchanging");
  });
});

describe("a login that another site may have begun", () => {
  const foreign: PendingLogin = { ...login("b"), cross_site: true };

  it("leads a signed-out user to its page, and leaves the page of a signed-in user", () => {
    expect(withLogin(started(login("a")), foreign).final_redirect).toBe(foreign.final_redirect);
    const signedInRecord = { ...started(login("a")), credentials: {} } as SessionRecord;
    expect(withLogin(signedInRecord, foreign).final_redirect).toBe("https://app.example/a");
    expect(withLogin(signedInRecord, login("b")).final_redirect).toBe("https://app.example/b");
  });
});
