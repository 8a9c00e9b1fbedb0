import { describe, expect, it } from "vitest";
import type { SpentRefresh } from "../../src/record/credentials.js";
import type { PrivateState, SessionRecord } from "../../src/record/record.js";
import {
  withLease,
  withoutDroppedToken,
  withoutLease,
  withoutRefreshToken,
  withRefreshToken,
  withRejection,
  withTokens,
} from "../../src/record/refresh-changes.js";

const LEASE = { nonce: "n", taken_at: 1 };
const CREDENTIALS = {
  token: "old access",
  refresh_token: "old refresh",
  token_uri: "u",
  client_id: "c",
  client_secret: "s",
  scopes: ["openid", "email"],
};

/** A signed-in session whose refresh is under way. */
const record = (state: Partial<PrivateState> = {}): SessionRecord => ({
  credentials: CREDENTIALS,
  id_info: { iss: "i", sub: "ada", email: "ada@example.com" },
  idp_login_at: 7,
  idp_state: { v: 1, data: { n: 1 }, lease: LEASE, ...state },
});

/** A session that a logout has emptied. */
const SIGNED_OUT: SessionRecord = { idp_state: { v: 1, lease: LEASE } };

const SPENT: SpentRefresh = {
  accessToken: "new access",
  refreshToken: undefined,
  idToken: undefined,
  scopes: undefined,
  receivedAt: 100,
  accessTokenExpiresAt: undefined,
};
const VERIFIED = { idInfo: { iss: "i", sub: "ada", name: "Ada" }, userinfoClaims: [] };
const { refresh_token: _refreshToken, ...WITHOUT_REFRESH_TOKEN } = CREDENTIALS;

describe("the lease", () => {
  it("is added and removed, and nothing else changes", () => {
    const free = withoutLease(record());
    expect(free).toStrictEqual({ ...record(), idp_state: { v: 1, data: { n: 1 } } });
    expect(withLease(free, LEASE)).toStrictEqual(record());
  });

  it("lifts an end that was announced before: a session that is refreshed has not ended", () => {
    expect(withLease(record({ ended: "auto_refresh_off" }), LEASE)).toStrictEqual(record());
  });
});

describe("a rotated refresh token", () => {
  it("takes the old one's place, and nothing else changes: the lease stays", () => {
    expect(
      withRefreshToken(record(), { refreshToken: "new refresh", dpop: undefined }),
    ).toStrictEqual({
      ...record(),
      credentials: { ...CREDENTIALS, refresh_token: "new refresh" },
    });
  });

  it("isn't stored in a record without credentials, which only loses the lease", () => {
    expect(
      withRefreshToken(SIGNED_OUT, { refreshToken: "new refresh", dpop: undefined }),
    ).toStrictEqual({ idp_state: { v: 1 } });
  });
});

describe("a refused refresh", () => {
  it("removes the refresh token and the lease, and is remembered", () => {
    expect(withoutRefreshToken(record(), undefined)).toStrictEqual({
      ...record(),
      credentials: WITHOUT_REFRESH_TOKEN,
      idp_state: { v: 1, data: { n: 1 }, refresh_rejected: true },
    });
  });

  it("keeps a token that still works, so that a logout can revoke it", () => {
    expect(withoutRefreshToken(record(), "dropped").idp_state).toStrictEqual({
      v: 1,
      data: { n: 1 },
      refresh_rejected: true,
      dropped_token: "dropped",
    });
  });

  it("only removes the lease from a record without credentials", () => {
    expect(withoutRefreshToken(SIGNED_OUT, "dropped")).toStrictEqual({ idp_state: { v: 1 } });
  });
});

describe("a session that the application's code ended", () => {
  it("has neither refresh token nor lease nor a review that is due, and names the reason", () => {
    expect(withRejection(record({ review_due: true }), "denied", false)).toStrictEqual({
      ...record(),
      credentials: WITHOUT_REFRESH_TOKEN,
      idp_state: { v: 1, data: { n: 1 }, rejected: "denied" },
    });
  });

  it("keeps its refresh token until the provider has revoked it, if it will be revoked", () => {
    const { idp_state: state } = withRejection(
      record({ review_due: true }),
      "claims_rejected",
      true,
    );
    expect(state).toStrictEqual({
      v: 1,
      data: { n: 1 },
      dropped_token: "old refresh",
      rejected: "claims_rejected",
    });
  });

  it("names the reason even if the record has no credentials", () => {
    expect(withRejection(SIGNED_OUT, "denied", true)).toStrictEqual({
      idp_state: { v: 1, rejected: "denied" },
    });
  });
});

describe("a dropped token that the provider has revoked", () => {
  it("is removed, and nothing else changes", () => {
    expect(withoutDroppedToken(record({ dropped_token: "dropped" }), "dropped")).toStrictEqual(
      record(),
    );
  });

  it("doesn't remove another one, which a later refresh dropped", () => {
    const later = record({ dropped_token: "later" });
    expect(withoutDroppedToken(later, "dropped")).toBe(later);
  });
});

describe("a successful refresh", () => {
  it("replaces the access token and the claims, removes the lease, and keeps the rest", () => {
    expect(withTokens(record(), { spent: SPENT, verified: VERIFIED })).toStrictEqual({
      credentials: { ...CREDENTIALS, token: "new access" },
      id_info: VERIFIED.idInfo,
      idp_login_at: 7,
      idp_state: { v: 1, data: { n: 1 }, tokens_received_at: 100 },
    });
  });

  it("stores what the response contains", () => {
    const spent = {
      ...SPENT,
      refreshToken: "new refresh",
      idToken: "an ID token",
      scopes: ["openid"],
      accessTokenExpiresAt: 400,
    };
    const after = withTokens(record(), {
      spent,
      verified: { ...VERIFIED, userinfoClaims: ["name"] },
    });
    expect(after.credentials).toStrictEqual({
      ...CREDENTIALS,
      token: "new access",
      refresh_token: "new refresh",
      scopes: ["openid"],
    });
    expect(after.idp_state).toStrictEqual({
      v: 1,
      data: { n: 1 },
      tokens_received_at: 100,
      id_token: "an ID token",
      userinfo_claims: ["name"],
      access_token_expires_at: 400,
    });
  });

  it("removes what was true of the old tokens only", () => {
    const before = record({
      access_token_expires_at: 50,
      userinfo_claims: ["email"],
      refresh_rejected: true,
      tokens_received_at: 1,
    });
    expect(withTokens(before, { spent: SPENT, verified: VERIFIED }).idp_state).toStrictEqual({
      v: 1,
      data: { n: 1 },
      tokens_received_at: 100,
    });
  });

  it.each([
    ["max_age", "max_age"],
    ["idle", "idle"],
    ["session_expiry", undefined],
  ])("with an end that was announced meanwhile (%s) keep it: %s", (ended, kept) => {
    const tokens = { spent: SPENT, verified: VERIFIED };
    expect(withTokens(record({ ended }), tokens).idp_state.ended).toBe(kept);
  });

  it("keeps the ID token of the sign-in if the response has none", () => {
    expect(
      withTokens(record({ id_token: "first" }), { spent: SPENT, verified: VERIFIED }).idp_state
        .id_token,
    ).toBe("first");
  });

  it("removes a schema's output for the old claims, so that the schema runs again", () => {
    const before = record({ claims: { groups: [] }, claims_version: "2" });
    expect(withTokens(before, { spent: SPENT, verified: VERIFIED }).idp_state).toStrictEqual({
      v: 1,
      data: { n: 1 },
      tokens_received_at: 100,
    });
  });

  it("that the application's code has to accept keeps the lease and the old output until then", () => {
    const before = record({ claims: { groups: [] }, claims_version: "2" });
    const after = withTokens(before, { spent: SPENT, verified: VERIFIED, isReviewed: true });
    expect(after.credentials?.token).toBe("new access");
    expect(after.idp_state).toStrictEqual({
      ...before.idp_state,
      tokens_received_at: 100,
      review_due: true,
    });
  });

  it.each([true, false])(
    "changes nothing in a record without credentials but the lease; reviewed: %s",
    (isReviewed) => {
      expect(
        withTokens(SIGNED_OUT, { spent: SPENT, verified: VERIFIED, isReviewed }),
      ).toStrictEqual({
        idp_state: { v: 1 },
      });
    },
  );

  it("without an access token stores nothing and gives the lease back", () => {
    expect(
      withTokens(record(), { spent: { ...SPENT, accessToken: undefined }, verified: VERIFIED }),
    ).toStrictEqual(withoutLease(record()));
  });

  it.each<[string, unknown, unknown, unknown]>([
    ["moves a limit to a later time", 1000, 2000, 2000],
    ["doesn't move a limit to an earlier time", 1000, 900, 1000],
    ["keeps the same limit", 1000, 1000, 1000],
    ["keeps a limit that the new token doesn't repeat", 1000, undefined, 1000],
    ["keeps a limit if the new one isn't a number", 1000, "2000", 1000],
    ["sets a first limit", undefined, 2000, 2000],
    ["replaces a limit that isn't a number", "3000", 2000, 2000],
    ["sets no limit without one", undefined, undefined, undefined],
  ])("%s of the provider's session", (_what, stored, claimed, limit) => {
    const before = record(stored === undefined ? {} : { session_expiry: stored });
    const idInfo = {
      ...VERIFIED.idInfo,
      ...(claimed !== undefined && { session_expiry: claimed }),
    };
    const { idp_state: state } = withTokens(before, {
      spent: SPENT,
      verified: { ...VERIFIED, idInfo },
    });
    expect(state.session_expiry).toBe(limit);
    expect("session_expiry" in state).toBe(limit !== undefined);
  });
});
