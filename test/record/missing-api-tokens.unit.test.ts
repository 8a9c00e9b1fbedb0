import { describe, expect, it } from "vitest";
import { lackOf } from "../../src/record/missing-api-tokens.js";
import type { ApiEntry, SessionRecord } from "../../src/record/record.js";

const NOW = 10_000;
const VALID: ApiEntry = { target: "t", at: NOW - 100, token: "token", expires_at: NOW + 500 };

describe("a user without a token for an API", () => {
  const lack = (entry: ApiEntry) => {
    const record: SessionRecord = { idp_state: { v: 1, apis: { orders: entry } } };
    const wanted = { api: "orders", target: "t", consentLater: false };
    return lackOf(record, wanted, { sessionAutoRefresh: true, now: NOW });
  };

  it("is sent to a login if the provider asks for the user", () => {
    const refused = { ...VALID, at: NOW, refused: "consent_required" };
    expect(lack(refused)).toEqual({
      kind: "refused",
      reason: "consent_required",
      loginHelps: true,
    });
  });

  it("lacks a refresh token if the token has expired, or was requested with other settings", () => {
    const missing = { kind: "missing", reason: "no_refresh_token", loginHelps: true };
    expect(lack({ ...VALID, expires_at: NOW })).toEqual(missing);
    expect(lack({ ...VALID, target: "other", refused: "x" })).toEqual(missing);
  });
});
