import { describe, expect, it } from "vitest";
import type { SessionRecord } from "../../src/record/record.js";
import { isRecent } from "../../src/record/recent-refusal.js";
import {
  accessTokenLife,
  isRefreshable,
  MIN_VALIDITY_SECONDS,
  staysValid,
} from "../../src/record/token-validity.js";

describe("a token stays valid", () => {
  const life = { receivedAt: 1_000, expiresAt: 1_600 };

  it.each([
    ["for exactly the seconds that are wanted", 1_570, true],
    ["not for one second less", 1_571, false],
    ["not once it has expired, whatever is wanted", 1_600, false],
  ])("%s", (_name, now, expected) => {
    expect(staysValid(life, MIN_VALIDITY_SECONDS, now)).toBe(expected);
  });

  it.each([
    [1_300, true],
    [1_301, false],
  ])("for half of its lifetime, if more is wanted (at %i)", (now, expected) => {
    expect(staysValid(life, 3_600, now)).toBe(expected);
  });

  it("if nobody knows when it expires", () => {
    expect(staysValid({ receivedAt: 1_000, expiresAt: undefined }, 3_600, 9_000)).toBe(true);
  });

  it("for the seconds that are wanted, if nobody knows when it came", () => {
    const unknown = { receivedAt: undefined, expiresAt: 1_600 };
    expect([staysValid(unknown, 400, 1_200), staysValid(unknown, 401, 1_200)]).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    ["half of its lifetime, if Infinity is wanted", Infinity, 1_300],
    ["its whole lifetime, if NaN is wanted", Number.NaN, 1_599],
  ])("for %s", (_name, minValidity, last) => {
    expect([staysValid(life, minValidity, last), staysValid(life, minValidity, last + 1)]).toEqual([
      true,
      false,
    ]);
  });

  it("until it expires, if it expired before it came", () => {
    expect(staysValid({ receivedAt: 1_700, expiresAt: 1_600 }, 3_600, 1_599)).toBe(true);
  });
});

describe("the session's own access token", () => {
  const record = (state: object, iat?: unknown): SessionRecord => ({
    id_info: { iat },
    idp_state: { v: 1, ...state },
  });

  it("came with the last token response", () => {
    const state = { tokens_received_at: 5, access_token_expires_at: 9 };
    expect(accessTokenLife(record(state, 4))).toEqual({ receivedAt: 5, expiresAt: 9 });
  });

  it.each([
    [4, 4],
    ["4", undefined],
    [undefined, undefined],
  ])("of an older release came at the ID token's iat, if that is a number: %j", (iat, expected) => {
    expect(accessTokenLife(record({}, iat)).receivedAt).toBe(expected);
  });

  it("of a record without claims and credentials is unknown, and can't be renewed", () => {
    const empty: SessionRecord = { idp_state: { v: 1 } };
    expect(accessTokenLife(empty)).toEqual({ receivedAt: undefined, expiresAt: undefined });
    expect(isRefreshable(empty, { sessionAutoRefresh: true })).toBe(false);
  });

  it.each([
    [true, "r", true],
    [false, "r", false],
    [true, undefined, false],
  ])("is refreshable: setting %s, refresh token %s", (sessionAutoRefresh, token, expected) => {
    const credentials = {
      token: "t",
      token_uri: "u",
      client_id: "c",
      client_secret: "s",
      scopes: [],
      ...(token !== undefined && { refresh_token: token }),
    };
    const signedIn: SessionRecord = { credentials, idp_state: { v: 1 } };
    expect(isRefreshable(signedIn, { sessionAutoRefresh })).toBe(expected);
  });
});

describe("what was written within the last minute", () => {
  it.each([
    [1_000, true],
    [941, true],
    [940, false],
    [1_500, true],
    [undefined, false],
  ])("at %s", (at, expected) => {
    expect(isRecent(at, 1_000)).toBe(expected);
  });
});
