import { describe, expect, it } from "vitest";
import {
  isWithinLimits,
  judge,
  MAX_FUTURE_SECONDS,
  remaining,
  untilEnd,
  type PolicySettings,
} from "../../src/record/session-policy.js";
import { deepFreeze } from "../../src/record/json.js";
import type { SessionRecord } from "../../src/record/record.js";

const NOW = 1_800_000_000;
const MAX = 3600;
const IDLE = 600;

const NO_CAPS: PolicySettings = {
  sessionAutoRefresh: true,
  sessionMaxAge: null,
  sessionIdleTimeout: null,
};
const BOTH_CAPS: PolicySettings = {
  sessionAutoRefresh: true,
  sessionMaxAge: MAX,
  sessionIdleTimeout: IDLE,
};

interface Facts {
  readonly exp?: unknown;
  readonly idInfo?: "none";
  readonly refreshToken?: false;
  readonly rejected?: true;
  readonly signedInAt?: unknown;
  readonly lastActive?: unknown;
}

/**
 * A signed-in session with a valid ID token and a refresh token, unless the facts say otherwise.
 */
function session(facts: Facts = {}): SessionRecord {
  const { exp = NOW + 1 } = facts;
  return deepFreeze<SessionRecord>({
    credentials: {
      token: "access",
      ...(facts.refreshToken !== false && { refresh_token: "refresh" }),
      token_uri: "https://idp.example/token",
      client_id: "client",
      client_secret: "secret",
      scopes: ["openid"],
    },
    ...(facts.idInfo !== "none" && { id_info: { sub: "ada", exp } }),
    ...("signedInAt" in facts && { idp_login_at: facts.signedInAt }),
    ...("lastActive" in facts && { idp_last_active: facts.lastActive }),
    idp_state: { v: 1, ...(facts.rejected && { refresh_rejected: true as const }) },
  });
}

function outcome(
  record: SessionRecord | undefined,
  settings: Partial<PolicySettings> = {},
): string {
  const verdict = judge(record, { ...NO_CAPS, ...settings }, NOW);
  return verdict.kind === "ended" ? verdict.reason : verdict.kind;
}

const BROKEN: [name: string, stamp: unknown][] = [
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["null", null],
  ["a string of digits", String(NOW)],
  ["an empty string", ""],
  ["a date text", "2027-01-15T08:00:00Z"],
  ["true", true],
  ["false", false],
  ["an object", { valueOf: () => NOW }],
  ["an array", [NOW]],
  ["a bigint", BigInt(NOW)],
  ["milliseconds instead of seconds", NOW * 1000],
  ["the largest number", Number.MAX_VALUE],
];

describe("IDP_SESSIONS_NOT_BEFORE", () => {
  const SINCE = { sessionsNotBefore: NOW - 100 };

  it.each<[string, unknown, string]>([
    ["a second before", NOW - 101, "signed_in_before"],
    ["at that second", NOW - 100, "valid"],
    ["later", NOW - 1, "valid"],
    ["by a clock that is ahead", NOW + MAX_FUTURE_SECONDS, "valid"],
  ])("a session that was signed in %s", (_name, signedInAt, expected) => {
    expect(outcome(session({ signedInAt }), SINCE)).toBe(expected);
    expect(outcome(session({ signedInAt, exp: 0 }), SINCE)).toBe(
      expected === "valid" ? "refresh" : expected,
    );
    expect(outcome(session({ signedInAt }))).toBe("valid");
  });

  it("ends a session without a time of the sign-in, or with an invalid one", () => {
    expect(outcome(session(), SINCE)).toBe("signed_in_before");
    for (const [name, signedInAt] of BROKEN)
      expect(outcome(session({ signedInAt }), SINCE), name).toBe("signed_in_before");
  });

  it("is decided after the maximum age and the idle timeout, and before the ID token", () => {
    const old = { signedInAt: NOW - MAX - 1, lastActive: NOW - IDLE - 1, exp: 0 };
    expect(outcome(session(old), { ...BOTH_CAPS, ...SINCE })).toBe("max_age");
    expect(outcome(session({ ...old, signedInAt: NOW - 101 }), { ...BOTH_CAPS, ...SINCE })).toBe(
      "idle",
    );
    expect(
      outcome(session({ ...old, refreshToken: false }), { ...SINCE, sessionAutoRefresh: false }),
    ).toBe("signed_in_before");
  });
});

describe("no session", () => {
  it.each([
    ["no record", undefined],
    ["an empty record", { idp_state: { v: 1 } }],
    ["claims without credentials", { id_info: { exp: NOW + 60 }, idp_state: { v: 1 } }],
    [
      "a pending login only",
      { oauth_state: "state", final_redirect: "/", idp_state: { v: 1, logins: [] } },
    ],
    ["a remembered refusal without credentials", { idp_state: { v: 1, refresh_rejected: true } }],
  ] as [string, SessionRecord | undefined][])("%s: no_credentials", (_name, record) => {
    expect(outcome(record)).toBe("no_credentials");
    expect(outcome(record, BOTH_CAPS)).toBe("no_credentials");
  });

  it("no credentials comes before every session limit", () => {
    const { credentials: _credentials, ...rest } = session({
      signedInAt: 0,
      lastActive: 0,
      exp: 0,
    });
    expect(outcome(rest, BOTH_CAPS)).toBe("no_credentials");
  });
});

describe("[F13] step 1: IDP_SESSION_MAX_AGE, measured from idp_login_at", () => {
  it.each([
    ["one second before the end", NOW - MAX + 1, "valid"],
    ["at the very end", NOW - MAX, "valid"],
    ["one second after it", NOW - MAX - 1, "max_age"],
    ["long after it", 0, "max_age"],
    ["below zero", -1, "max_age"],
    ["just signed in", NOW, "valid"],
    ["half a second after the end", NOW - MAX - 0.5, "max_age"],
    ["one second in the future", NOW + 1, "valid"],
    ["299 s in the future", NOW + 299, "valid"],
    ["300 s in the future", NOW + 300, "valid"],
    ["301 s in the future", NOW + 301, "max_age"],
  ])("%s", (_name, signedInAt, expected) => {
    expect(outcome(session({ signedInAt }), { sessionMaxAge: MAX })).toBe(expected);
  });

  it("a session without the stamp, from before the maximum age was set, is within policy", () => {
    expect(outcome(session(), { sessionMaxAge: MAX })).toBe("valid");
    expect(outcome(session({ signedInAt: undefined }), { sessionMaxAge: MAX })).toBe("valid");
  });

  it.each(BROKEN)("a stamp that is %s fails closed", (_name, signedInAt) => {
    expect(outcome(session({ signedInAt }), { sessionMaxAge: MAX })).toBe("max_age");
  });

  it.each([...BROKEN, ["long past", 0]] as [string, unknown][])(
    "without a maximum age, a stamp that is %s is not read",
    (_name, signedInAt) => {
      expect(outcome(session({ signedInAt }))).toBe("valid");
      expect(outcome(session({ signedInAt, lastActive: NOW }), { sessionIdleTimeout: IDLE })).toBe(
        "valid",
      );
    },
  );

  it.each([
    [NOW, "valid"],
    [NOW - 1, "max_age"],
    [NOW + 300, "valid"],
  ])("a maximum age of 0 is taken literally: login at %i is %s", (signedInAt, expected) => {
    expect(outcome(session({ signedInAt }), { sessionMaxAge: 0 })).toBe(expected);
  });

  it("the maximum age is fixed: activity does not move it", () => {
    expect(outcome(session({ signedInAt: NOW - MAX - 1, lastActive: NOW }), BOTH_CAPS)).toBe(
      "max_age",
    );
  });
});

describe("step 2: IDP_SESSION_IDLE_TIMEOUT, measured from idp_last_active", () => {
  it.each([
    ["one second before the timeout", NOW - IDLE + 1, "valid"],
    ["at the very timeout", NOW - IDLE, "valid"],
    ["one second after it", NOW - IDLE - 1, "idle"],
    ["long after it", 0, "idle"],
    ["just active", NOW, "valid"],
    ["300 s in the future", NOW + 300, "valid"],
    ["301 s in the future", NOW + 301, "idle"],
  ])("%s", (_name, lastActive, expected) => {
    expect(outcome(session({ lastActive }), { sessionIdleTimeout: IDLE })).toBe(expected);
  });

  it("a session without the stamp is within policy", () => {
    expect(outcome(session({ signedInAt: 0 }), { sessionIdleTimeout: IDLE })).toBe("valid");
  });

  it.each(BROKEN)("a stamp that is %s fails closed", (_name, lastActive) => {
    expect(outcome(session({ lastActive }), { sessionIdleTimeout: IDLE })).toBe("idle");
  });

  it.each(BROKEN)("without the timeout, a stamp that is %s is not read", (_name, lastActive) => {
    expect(outcome(session({ lastActive, signedInAt: NOW }), { sessionMaxAge: MAX })).toBe("valid");
  });

  it.each([
    [NOW, "valid"],
    [NOW - 1, "idle"],
  ])("a timeout of 0 is taken literally: active at %i is %s", (lastActive, expected) => {
    expect(outcome(session({ lastActive }), { sessionIdleTimeout: 0 })).toBe(expected);
  });
});

describe("step 3: the ID token's exp", () => {
  it.each([
    ["one second ahead", NOW + 1, "valid"],
    ["this very second", NOW, "refresh"],
    ["one second ago", NOW - 1, "refresh"],
    ["zero", 0, "refresh"],
    ["half a second ahead", NOW + 0.5, "valid"],
    ["far ahead", NOW + 10 ** 9, "valid"],
  ])("exp %s: %s", (_name, exp, expected) => {
    expect(outcome(session({ exp }))).toBe(expected);
  });

  it.each(BROKEN.filter(([, exp]) => typeof exp !== "number" || !Number.isFinite(exp)))(
    "exp that is %s counts as expired",
    (_name, exp) => {
      expect(outcome(session({ exp }))).toBe("refresh");
    },
  );

  it("id_info that is missing, or without exp, counts as expired", () => {
    expect(outcome(session({ idInfo: "none" }))).toBe("refresh");
    expect(outcome({ ...session(), id_info: {} })).toBe("refresh");
  });

  it("a valid ID token needs neither auto-refresh nor a refresh token", () => {
    expect(outcome(session({ refreshToken: false }), { sessionAutoRefresh: false })).toBe("valid");
  });

  it("a remembered refusal does not end a session before its exp", () => {
    expect(outcome(session({ refreshToken: false, rejected: true }))).toBe("valid");
  });
});

describe("steps 4 and 5: expired", () => {
  it.each([
    [true, true, false, "refresh"],
    [true, true, true, "refresh"],
    [true, false, false, "no_refresh_token"],
    [true, false, true, "refresh_rejected"],
    [false, true, false, "auto_refresh_off"],
    [false, true, true, "auto_refresh_off"],
    [false, false, false, "auto_refresh_off"],
    [false, false, true, "auto_refresh_off"],
  ])(
    "auto-refresh %s, refresh token %s, refused before %s: %s",
    (sessionAutoRefresh, hasRefreshToken, isRejected, expected) => {
      const facts: Facts = {
        exp: NOW,
        ...(!hasRefreshToken && { refreshToken: false }),
        ...(isRejected && { rejected: true }),
      };
      expect(outcome(session(facts), { sessionAutoRefresh })).toBe(expected);
    },
  );

  it.each([
    [NOW - MAX, NOW - IDLE, "refresh"],
    [NOW - MAX - 1, NOW - IDLE, "max_age"],
    [NOW - MAX, NOW - IDLE - 1, "idle"],
  ])(
    "a refresh extends only what is within every session limit: login at %i, active at %i is %s",
    (signedInAt, lastActive, expected) => {
      expect(outcome(session({ exp: NOW - 1, signedInAt, lastActive }), BOTH_CAPS)).toBe(expected);
    },
  );
});

describe("when several apply, the first of the specification's order is named", () => {
  const everything: Facts = {
    exp: 0,
    refreshToken: false,
    rejected: true,
    signedInAt: 0,
    lastActive: 0,
  };
  const off: Partial<PolicySettings> = { sessionAutoRefresh: false };
  it.each([
    ["both caps, expired, off, refused", everything, { ...BOTH_CAPS, ...off }, "max_age"],
    [
      "idle, expired, off, refused",
      { ...everything, signedInAt: NOW },
      { ...BOTH_CAPS, ...off },
      "idle",
    ],
    [
      "expired, off, refused",
      { ...everything, signedInAt: NOW, lastActive: NOW },
      { ...BOTH_CAPS, ...off },
      "auto_refresh_off",
    ],
    [
      "expired, refused",
      { ...everything, signedInAt: NOW, lastActive: NOW },
      BOTH_CAPS,
      "refresh_rejected",
    ],
    ["both caps, ID token still valid", { signedInAt: 0, lastActive: 0 }, BOTH_CAPS, "max_age"],
    ["idle with a broken login stamp", { signedInAt: "x", lastActive: 0 }, BOTH_CAPS, "max_age"],
    [
      "only the idle cap set, both exceeded",
      { signedInAt: 0, lastActive: 0 },
      { sessionIdleTimeout: IDLE },
      "idle",
    ],
  ] as [string, Facts, Partial<PolicySettings>, string][])(
    "%s",
    (_name, facts, settings, expected) => {
      expect(outcome(session(facts), settings)).toBe(expected);
    },
  );
});

describe("the gate is pure", () => {
  it("frozen input, the same result twice, and the result cannot be changed", () => {
    const record = session({ exp: NOW, signedInAt: NOW, lastActive: NOW });
    const settings = Object.freeze({ ...BOTH_CAPS });
    const before = JSON.stringify(record);
    const first = judge(record, settings, NOW);
    expect(judge(record, settings, NOW)).toEqual(first);
    expect(JSON.stringify(record)).toBe(before);
    expect(Object.isFrozen(first)).toBe(true);
  });

  it("the tolerance for clocks that differ is 300 seconds", () => {
    expect(MAX_FUTURE_SECONDS).toBe(300);
  });
});

describe("remaining", () => {
  it.each([
    ["no caps", session(), NO_CAPS, { idToken: 1, maxAge: null, idle: null, sessionExpiry: null }],
    [
      "fresh",
      session({ exp: NOW + 60, signedInAt: NOW, lastActive: NOW }),
      BOTH_CAPS,
      { idToken: 60, maxAge: MAX, idle: IDLE, sessionExpiry: null },
    ],
    [
      "some time gone",
      session({ signedInAt: NOW - 100, lastActive: NOW - 10 }),
      BOTH_CAPS,
      { idToken: 1, maxAge: MAX - 100, idle: IDLE - 10, sessionExpiry: null },
    ],
    [
      "at the end",
      session({ exp: NOW, signedInAt: NOW - MAX, lastActive: NOW - IDLE }),
      BOTH_CAPS,
      { idToken: 0, maxAge: 0, idle: 0, sessionExpiry: null },
    ],
    [
      "beyond it, never below zero",
      session({ exp: 0, signedInAt: 0, lastActive: 0 }),
      BOTH_CAPS,
      { idToken: 0, maxAge: 0, idle: 0, sessionExpiry: null },
    ],
    [
      "no stamps",
      session(),
      BOTH_CAPS,
      { idToken: 1, maxAge: null, idle: null, sessionExpiry: null },
    ],
    [
      "stamps in the future count as now",
      session({ signedInAt: NOW + 300, lastActive: NOW + 1 }),
      BOTH_CAPS,
      { idToken: 1, maxAge: MAX, idle: IDLE, sessionExpiry: null },
    ],
    [
      "broken stamps",
      session({ signedInAt: "x", lastActive: NOW + 301 }),
      BOTH_CAPS,
      { idToken: 1, maxAge: 0, idle: 0, sessionExpiry: null },
    ],
    [
      "stamps without caps",
      session({ signedInAt: NOW, lastActive: NOW }),
      NO_CAPS,
      { idToken: 1, maxAge: null, idle: null, sessionExpiry: null },
    ],
    [
      "no id_info",
      session({ idInfo: "none" }),
      NO_CAPS,
      { idToken: null, maxAge: null, idle: null, sessionExpiry: null },
    ],
    [
      "exp that is no number",
      session({ exp: "soon" }),
      NO_CAPS,
      { idToken: null, maxAge: null, idle: null, sessionExpiry: null },
    ],
    [
      "exp beyond every number",
      session({ exp: JSON.parse("1e999") }),
      NO_CAPS,
      { idToken: null, maxAge: null, idle: null, sessionExpiry: null },
    ],
    [
      "exp that is not a number any more",
      session({ exp: NaN }),
      NO_CAPS,
      { idToken: null, maxAge: null, idle: null, sessionExpiry: null },
    ],
  ])("%s", (_name, record, settings, expected) => {
    expect(remaining(record, settings, NOW)).toEqual(expected);
  });
});

describe("the application's code", () => {
  const with_ = (state: Partial<SessionRecord["idp_state"]>, facts: Facts = {}): SessionRecord => {
    const record = session(facts);
    return deepFreeze({ ...record, idp_state: { ...record.idp_state, ...state } });
  };
  const verdict = (record: SessionRecord, settings: Partial<PolicySettings> = {}) =>
    judge(record, { ...NO_CAPS, ...settings }, NOW);

  it.each(["claims_rejected", "denied"] as const)(
    "that has ended the session with %s ends it, though its tokens are valid",
    (rejected) => {
      expect(verdict(with_({ rejected }))).toEqual({ kind: "ended", reason: rejected });
    },
  );

  it("session limits come before its decision, and its decision before the refresh", () => {
    expect(outcome(with_({ rejected: "denied" }, { signedInAt: NOW - MAX - 1 }), BOTH_CAPS)).toBe(
      "max_age",
    );
    expect(outcome(with_({ rejected: "denied" }, { exp: NOW - 1 }))).toBe("denied");
    expect(
      outcome(with_({ rejected: "denied" }, { exp: NOW - 1, refreshToken: false, rejected: true })),
    ).toBe("denied");
  });

  it("has to accept new tokens before the session is valid", () => {
    expect(verdict(with_({ review_due: true }))).toEqual({ kind: "refresh", reason: "review_due" });
    expect(verdict(with_({ review_due: true }), { sessionAutoRefresh: false })).toEqual({
      kind: "refresh",
      reason: "review_due",
    });
  });

  it("does not hide that the ID token has expired", () => {
    expect(verdict(with_({ review_due: true }, { exp: NOW }))).toEqual({
      kind: "refresh",
      reason: "id_token_expired",
    });
    expect(outcome(with_({ review_due: true }, { exp: NOW }), { sessionAutoRefresh: false })).toBe(
      "auto_refresh_off",
    );
  });

  it("a schema of another version has to accept the claims; without a schema, a stored version does not count", () => {
    expect(verdict(with_({}), { claimsVersion: "1" })).toEqual({
      kind: "refresh",
      reason: "review_due",
    });
    expect(verdict(with_({ claims_version: "1" }), { claimsVersion: "2" })).toEqual({
      kind: "refresh",
      reason: "review_due",
    });
    expect(verdict(with_({ claims_version: "2" }), { claimsVersion: "2" })).toEqual({
      kind: "valid",
    });
    expect(verdict(with_({ claims_version: "2" }))).toEqual({ kind: "valid" });
  });
});

describe("the provider's time limit, session_expiry", () => {
  const until = (expiry: unknown, facts: Facts = {}): SessionRecord => {
    const record = session(facts);
    return deepFreeze({
      ...record,
      idp_state: { ...record.idp_state, ...(expiry !== undefined && { session_expiry: expiry }) },
    });
  };

  it.each<[string, unknown, string]>([
    ["one second ahead", NOW + 1, "valid"],
    ["this very second", NOW, "session_expiry"],
    ["one second ago", NOW - 1, "session_expiry"],
    ["zero", 0, "session_expiry"],
    ["missing", undefined, "valid"],
  ])("%s: %s", (_name, expiry, expected) => {
    expect(outcome(until(expiry))).toBe(expected);
    expect(isWithinLimits({}, expiry, NO_CAPS, NOW)).toBe(expected === "valid");
  });

  it.each(BROKEN.filter(([, expiry]) => typeof expiry !== "number" || !Number.isFinite(expiry)))(
    "a limit that is %s ends the session",
    (_name, expiry) => {
      expect(outcome(until(expiry))).toBe("session_expiry");
      expect(remaining(until(expiry), NO_CAPS, NOW).sessionExpiry).toBe(0);
    },
  );

  it("is checked after the application's session limits, and before the ID token", () => {
    expect(outcome(until(NOW, { signedInAt: NOW - MAX - 1 }), BOTH_CAPS)).toBe("max_age");
    expect(outcome(until(NOW, { lastActive: NOW - IDLE - 1 }), BOTH_CAPS)).toBe("idle");
    expect(outcome(until(NOW, { signedInAt: NOW - 101 }), { sessionsNotBefore: NOW - 100 })).toBe(
      "signed_in_before",
    );
    expect(outcome(until(NOW, { exp: NOW - 1 }))).toBe("session_expiry");
    expect(
      outcome(until(NOW, { exp: NOW - 1, refreshToken: false }), { sessionAutoRefresh: false }),
    ).toBe("session_expiry");
  });

  it.each([
    [NOW + 60, 60],
    [NOW, 0],
    [NOW - 60, 0],
  ])("%i leaves %i seconds", (expiry, seconds) => {
    expect(remaining(until(expiry), NO_CAPS, NOW).sessionExpiry).toBe(seconds);
  });
});

describe("isWithinLimits", () => {
  it.each<
    [string, { readonly idp_login_at?: unknown; readonly idp_last_active?: unknown }, boolean]
  >([
    ["new", { idp_login_at: NOW, idp_last_active: NOW }, true],
    ["at both limits", { idp_login_at: NOW - MAX, idp_last_active: NOW - IDLE }, true],
    ["older than the maximum age", { idp_login_at: NOW - MAX - 1, idp_last_active: NOW }, false],
    ["idle for too long", { idp_login_at: NOW, idp_last_active: NOW - IDLE - 1 }, false],
    ["without stamps", {}, true],
  ])("a session that is %s", (_name, stamps, expected) => {
    expect(isWithinLimits(stamps, undefined, BOTH_CAPS, NOW)).toBe(expected);
    expect(isWithinLimits(stamps, undefined, NO_CAPS, NOW)).toBe(true);
  });
});

describe("untilEnd", () => {
  const seconds = (record: SessionRecord, settings: Partial<PolicySettings> = {}) =>
    untilEnd(record, { ...NO_CAPS, ...settings }, NOW);
  const facts: Facts = { exp: NOW + 60, signedInAt: NOW - 100, lastActive: NOW - 10 };

  it("is the nearest of the session limits", () => {
    expect(seconds(session(facts), BOTH_CAPS)).toBe(IDLE - 10);
    expect(seconds(session(facts), { sessionMaxAge: MAX })).toBe(MAX - 100);
    const record = session(facts);
    expect(
      seconds(
        { ...record, idp_state: { ...record.idp_state, session_expiry: NOW + 7 } },
        BOTH_CAPS,
      ),
    ).toBe(7);
  });

  it("is never, if a refresh can always renew the tokens and no limit is set", () => {
    expect(seconds(session(facts))).toBe(Infinity);
  });

  it("is the ID token's exp, if nothing can refresh it", () => {
    expect(seconds(session({ ...facts, refreshToken: false }))).toBe(60);
    expect(seconds(session(facts), { sessionAutoRefresh: false })).toBe(60);
    expect(seconds(session({ ...facts, refreshToken: false }), { sessionIdleTimeout: 30 })).toBe(
      20,
    );
  });

  it("reads a record without credentials", () => {
    const { credentials: _credentials, ...rest } = session({ exp: NOW + 60 });
    expect(seconds(rest)).toBe(60);
  });
});
