import { describe, expect, it } from "vitest";
import { hasJustAskedFor, lackOf } from "../../src/record/why-no-api-token.js";
import type { Credentials } from "../../src/record/credentials.js";
import type { ApiEntry, SessionRecord } from "../../src/record/record.js";

const NOW = 10_000;
const VALID: ApiEntry = { target: "t", at: NOW - 100, token: "token", expires_at: NOW + 500 };
const REFRESHABLE = { token: "session", refresh_token: "r" } as Credentials;

interface Setting {
  readonly entry?: ApiEntry;
  readonly credentials?: Credentials;
  readonly state?: Partial<SessionRecord["idp_state"]>;
  /** Seconds since the sign-in. */
  readonly signedInFor?: number;
  readonly target?: string | undefined;
  readonly consentLater?: boolean;
  readonly sessionAutoRefresh?: boolean;
  readonly isTokenRejected?: boolean;
}

function recordOf({ entry, credentials, state, signedInFor }: Setting): SessionRecord {
  return {
    ...(credentials && { credentials }),
    ...(signedInFor !== undefined && { idp_login_at: NOW - signedInFor }),
    idp_state: { v: 1, ...(entry && { apis: { orders: entry } }), ...state },
  };
}

function lack(setting: Setting) {
  const { consentLater = false, sessionAutoRefresh = true } = setting;
  const target = "target" in setting ? setting.target : "t";
  const wanted = { api: "orders", target, consentLater };
  const { isTokenRejected } = setting;
  const decidedBy = { sessionAutoRefresh, now: NOW };
  return lackOf(recordOf(setting), wanted, {
    ...decidedBy,
    ...(isTokenRejected !== undefined && { isTokenRejected }),
  });
}

const refused = (code: string, at = NOW): ApiEntry => ({ ...VALID, at, refused: code });
const asked = { asked_apis: ["billing", "orders"] };

describe("a user whose token the provider has refused", () => {
  it.each([
    "login_required",
    "interaction_required",
    "consent_required",
    "account_selection_required",
    "mfa_required",
    "invalid_grant",
  ])("is sent to a login that asks the user: %s", (code) => {
    const expected = { kind: "refused", reason: code, loginHelps: true };
    expect(lack({ entry: refused(code) })).toEqual(expected);
  });

  it.each([
    "access_denied",
    "invalid_target",
    "invalid_scope",
    "unauthorized_client",
    "api_token_audience",
  ])("is sent to none that would end the same way: %s", (code) => {
    const expected = { kind: "refused", reason: code, loginHelps: false };
    expect(lack({ entry: refused(code) })).toEqual(expected);
  });

  it.each(["invalid_target", "invalid_scope", "api_token_audience", "api_scopes_missing"])(
    "for an API with a later consent, is sent to one login: %s",
    (code) => {
      const entry = refused(code);
      expect(lack({ entry, consentLater: true }).loginHelps).toBe(true);
      expect(lack({ entry, consentLater: true, state: asked }).loginHelps).toBe(false);
      expect(
        lack({ entry, consentLater: true, state: { asked_apis: ["billing"] } }).loginHelps,
      ).toBe(true);
      expect(lack({ entry: refused("access_denied"), consentLater: true }).loginHelps).toBe(false);
    },
  );

  it("has just come back from such a login: another one would end the same way", () => {
    const entry = refused("consent_required");
    expect(lack({ entry, state: asked, signedInFor: 59 }).loginHelps).toBe(false);
    expect(lack({ entry, state: asked, signedInFor: 60 }).loginHelps).toBe(true);
    expect(lack({ entry, signedInFor: 59 }).loginHelps).toBe(true);
  });

  it("is told so for a minute, and as long as the token could be requested again", () => {
    const entry = refused("access_denied", NOW - 60);
    expect(lack({ entry, credentials: REFRESHABLE }).kind).toBe("refused");
    expect(lack({ entry }).kind).toBe("missing");
    expect(lack({ entry: refused("access_denied", NOW - 59) }).kind).toBe("refused");
  });
});

describe("a user for whose token there is nothing to request it with", () => {
  const missing = (reason: string, loginHelps: boolean) => ({
    kind: "missing",
    reason,
    loginHelps,
  });

  it("lacks a refresh token, which one login can bring", () => {
    expect(lack({ entry: { ...VALID, expires_at: NOW } })).toEqual(missing("no_refresh_token", true)); // prettier-ignore
    expect(lack({})).toEqual(missing("no_refresh_token", true));
    expect(lack({ state: asked })).toEqual(missing("no_refresh_token", false));
  });

  it("was refused with other settings, which counts no more", () => {
    const entry = { ...refused("x"), target: "other" };
    expect(lack({ entry })).toEqual(missing("no_refresh_token", true));
  });

  it("belongs to an application that has turned the refresh off", () => {
    expect(lack({ sessionAutoRefresh: false })).toEqual(missing("auto_refresh_off", false));
    const state = { refresh_rejected: true } as const;
    expect(lack({ sessionAutoRefresh: false, state }).reason).toBe("auto_refresh_off");
  });

  it("has a refresh token that the provider rejects, unless it is a new one", () => {
    const state = { refresh_rejected: true } as const;
    expect(lack({ state })).toEqual(missing("refresh_rejected", true));
    expect(lack({ state, signedInFor: 60 })).toEqual(missing("refresh_rejected", true));
    expect(lack({ state, signedInFor: 59 })).toEqual(missing("refresh_rejected", false));
  });

  it("has a session token that an API rejects, and that the provider doesn't renew: one login for the API", () => {
    const rejected = { target: undefined, isTokenRejected: true, signedInFor: 0 };
    expect(lack(rejected)).toEqual(missing("refresh_rejected", true));
    expect(lack({ ...rejected, state: asked })).toEqual(missing("refresh_rejected", false));
    const later = { ...rejected, state: asked, signedInFor: 60 };
    expect(lack(later)).toEqual(missing("refresh_rejected", true));
    // Of another API, only that API's own token counts.
    expect(lack({ isTokenRejected: true })).toEqual(missing("no_refresh_token", true));
  });

  it("has an expired session token, for an API that gets this one", () => {
    const target = undefined;
    const entry = refused("consent_required");
    expect(lack({ target, entry, sessionAutoRefresh: false })).toEqual(
      missing("token_expired", true),
    );
    expect(lack({ target, signedInFor: 60 })).toEqual(missing("token_expired", true));
    expect(lack({ target, signedInFor: 59 })).toEqual(missing("token_expired", false));
  });
});

describe("whether the user has just come back from a login for the API", () => {
  it.each<[string, Setting, boolean]>([
    ["it requested this API", { state: asked, signedInFor: 59 }, true],
    ["a minute ago", { state: asked, signedInFor: 60 }, false],
    ["it requested another one", { state: { asked_apis: ["billing"] }, signedInFor: 0 }, false],
    ["it requested none", { signedInFor: 0 }, false],
    ["nobody knows when", { state: asked }, false],
  ])("%s", (_what, setting, expected) => {
    expect(hasJustAskedFor(recordOf(setting), "orders", NOW)).toBe(expected);
  });
});
