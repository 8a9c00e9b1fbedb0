import { describe, expect, it } from "vitest";
import type { Credentials } from "../../src/record/credentials.js";
import type { PrivateState, SessionRecord } from "../../src/record/record.js";
import { withTokens } from "../../src/record/refresh-changes.js";
import { isTokenRejected, withRejectedToken } from "../../src/access/rejected-token.js";

const REFRESHABLE = { token: "secret", refresh_token: "refresh" } as Credentials;
const ON = { sessionAutoRefresh: true };

const recordWith = (token: string, state: Partial<PrivateState> = {}): SessionRecord => ({
  credentials: { token } as Credentials,
  idp_state: { v: 1, refresh_rejected: true, ...state },
});

describe("a token that an API has rejected", () => {
  it("stays rejected in the record, which keeps its hash and not another copy of it", () => {
    const before = recordWith("secret");
    const after = withRejectedToken(before, "secret", ON);
    expect([isTokenRejected(before), isTokenRejected(after)]).toEqual([false, true]);
    expect(JSON.stringify(after.idp_state)).not.toContain("secret");
    expect(after.credentials).toBe(before.credentials);
    expect(withRejectedToken(after, "secret", ON)).toBe(after);
  });

  it.each<[string, SessionRecord, string | undefined]>([
    ["it isn't the session's", recordWith("newer"), "secret"],
    ["none was rejected", recordWith("secret"), undefined],
    [
      "a refresh may replace it",
      { ...recordWith("secret"), credentials: REFRESHABLE, idp_state: { v: 1 } },
      "secret",
    ],
    ["the user has signed out", { idp_state: { v: 1, refresh_rejected: true } }, "secret"],
  ])("changes nothing if %s", (_name, record, rejected) => {
    expect(withRejectedToken(record, rejected, ON)).toBe(record);
  });

  it("stays rejected although there is a refresh token, if refreshes are off", () => {
    const record = { ...recordWith("secret"), credentials: REFRESHABLE };
    const after = withRejectedToken(record, "secret", { sessionAutoRefresh: false });
    expect(isTokenRejected(after)).toBe(true);
  });

  it("is no other token, such as the one of a login by an older release, which keeps the hash", () => {
    const { rejected_token: hash } = withRejectedToken(
      recordWith("secret"),
      "secret",
      ON,
    ).idp_state;
    expect(isTokenRejected(recordWith("newer", { rejected_token: hash! }))).toBe(false);
    expect(isTokenRejected({ idp_state: { v: 1, rejected_token: hash! } })).toBe(false);
  });

  it("is forgotten when new tokens come", () => {
    const verified = { idInfo: {}, userinfoClaims: [] };
    const spent = {
      accessToken: "newer",
      refreshToken: undefined,
      idToken: undefined,
      scopes: undefined,
      receivedAt: 1,
      accessTokenExpiresAt: undefined,
    };
    const after = withTokens(withRejectedToken(recordWith("secret"), "secret", ON), {
      spent,
      verified,
    });
    expect(after.idp_state).not.toHaveProperty("rejected_token");
  });
});
