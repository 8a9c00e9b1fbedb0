import { describe, expect, it } from "vitest";
import type { Credentials } from "../../src/record/credentials.js";
import type { ApiEntry, SessionRecord } from "../../src/record/record.js";
import {
  apiEntry,
  apiLogin,
  isApiTokenDue,
  refusedEntry,
  usableToken,
  withApiEntry,
} from "../../src/record/stored-api-tokens.js";

const NOW = 10_000;
const VALID: ApiEntry = { target: "t", at: NOW - 100, token: "token", expires_at: NOW + 500 };

describe("an API's token is requested", () => {
  it.each<[string, ApiEntry | undefined, boolean]>([
    ["if there is none", undefined, true],
    ["not while it is valid", VALID, false],
    ["not if nobody knows when it expires", { target: "t", at: 0, token: "token" }, false],
    ["once it has expired", { ...VALID, expires_at: NOW }, true],
    ["not for a minute after a refusal", { target: "t", at: NOW - 59, refused: "x" }, false],
    ["a minute after a refusal", { target: "t", at: NOW - 60, refused: "x" }, true],
    ["a minute after a refusal, though the older token is valid", { ...VALID, refused: "x" }, true],
  ])("%s", (_name, entry, expected) => {
    expect(isApiTokenDue(entry, { minValidity: 30 }, NOW)).toBe(expected);
  });

  it.each<[string, Partial<ApiEntry>, boolean]>([
    ["if the API has rejected it", {}, true],
    ["if the API has rejected it, however new it is", { at: NOW }, true],
    ["not within a minute, if it replaced a rejected one", { forced: true, at: NOW - 59 }, false],
    ["again a minute later", { forced: true, at: NOW - 60 }, true],
  ])("%s", (_name, more, expected) => {
    const wanted = { minValidity: 30, rejected: "token" };
    expect(isApiTokenDue({ ...VALID, ...more }, wanted, NOW)).toBe(expected);
  });
});

describe("what a refusal leaves of an API's token", () => {
  const refusal = { target: "t", refused: "consent_required" };

  it("is the token, while it is valid", () => {
    expect(refusedEntry(VALID, refusal, NOW)).toStrictEqual({
      ...VALID,
      at: NOW,
      refused: "consent_required",
    });
  });

  it.each<[string, ApiEntry | undefined, object]>([
    ["there was none", undefined, {}],
    ["it has expired", { ...VALID, expires_at: NOW }, {}],
    ["the API has rejected it", VALID, { rejected: "token" }],
  ])("is nothing if %s", (_name, before, more) => {
    const entry = { target: "t", at: NOW, refused: "consent_required" };
    expect(refusedEntry(before, { ...refusal, ...more }, NOW)).toStrictEqual(entry);
  });

  it("is what the provider demands now, and nothing that it demanded before", () => {
    const before = { ...VALID, refused: "x", claims: "older" };
    expect(refusedEntry(before, { ...refusal, claims: "newer" }, NOW).claims).toBe("newer");
    expect(refusedEntry(before, refusal, NOW)).not.toHaveProperty("claims");
  });
});

describe("a call for an API's token", () => {
  const refused = { ...VALID, at: NOW, refused: "consent_required" };

  it("gets one that is valid, also if the provider has refused to renew it early", () => {
    expect(usableToken(VALID, undefined, NOW)).toBe("token");
    expect(usableToken(refused, undefined, NOW)).toBe("token");
  });

  it("gets one again that replaced a rejected one, but not after a refusal", () => {
    expect(usableToken(VALID, "token", NOW)).toBe("token");
    expect(usableToken(refused, "token", NOW)).toBeUndefined();
    expect(usableToken(refused, "an older token", NOW)).toBe("token");
  });

  it("gets none that has expired, and none without an entry", () => {
    expect(usableToken({ ...VALID, expires_at: NOW }, undefined, NOW)).toBeUndefined();
    expect(usableToken(undefined, undefined, NOW)).toBeUndefined();
  });
});

const CREDENTIALS = { token: "session", refresh_token: "r" } as Credentials;

const recordWith = (
  apis: Record<string, ApiEntry> | undefined,
  credentials: Credentials | undefined = CREDENTIALS,
): SessionRecord => ({
  credentials,
  idp_state: { v: 1, asked_apis: ["orders"], ...(apis && { apis }) },
});

describe("what a record has for an API", () => {
  it("is its entry, if it was requested with the same settings", () => {
    const record = recordWith({ orders: VALID });
    expect(apiEntry(record, "orders", "t")).toBe(VALID);
    expect(apiEntry(record, "orders", "other")).toBeUndefined();
    expect(apiEntry(record, "billing", "t")).toBeUndefined();
    expect(apiEntry(recordWith(undefined), "orders", "t")).toBeUndefined();
  });

  it("is nothing for a name that every object has", () => {
    const inherited = Object.create({ orders: VALID }) as Record<string, ApiEntry>;
    expect(apiEntry(recordWith(inherited), "orders", "t")).toBeUndefined();
    expect(apiLogin(recordWith(inherited), "orders")).toEqual({ wantsRefreshToken: false });
  });
});

describe("a new entry", () => {
  const added = { api: "new", entry: VALID, now: NOW };
  const namesIn = (record: SessionRecord) => Object.keys(record.idp_state.apis ?? {});

  it("is added to those that are valid, and replaces the one of its API", () => {
    const before = recordWith({ orders: VALID, new: { ...VALID, token: "older" } });
    const after = withApiEntry(before, added);
    expect(after).toEqual({
      ...before,
      idp_state: { ...before.idp_state, apis: { orders: VALID, new: VALID } },
    });
    expect(namesIn(withApiEntry(recordWith(undefined), added))).toEqual(["new"]);
  });

  it("isn't added to a record without credentials: its user has signed out", () => {
    const { credentials: _gone, ...before } = recordWith({ orders: VALID });
    expect(withApiEntry(before, added)).toBe(before);
  });

  it.each<[string, ApiEntry, boolean]>([
    ["a token that is valid", VALID, true],
    ["a token that has expired", { ...VALID, expires_at: NOW }, false],
    ["a token that nobody knows the end of", { target: "t", at: 0, token: "token" }, true],
    ["a refusal of the last minute", { target: "t", at: NOW - 59, refused: "x" }, true],
    ["an older refusal", { target: "t", at: NOW - 60, refused: "x" }, false],
    ["a valid token with an older refusal", { ...VALID, at: NOW - 60, refused: "x" }, true],
    ["nothing", { target: "t", at: NOW }, false],
  ])("leaves %s of another API: %j", (_what, other, stays) => {
    expect(namesIn(withApiEntry(recordWith({ other }), added))).toEqual(
      stays ? ["other", "new"] : ["new"],
    );
  });

  it("lets the oldest go, if there are more than eight", () => {
    const ages = [5, 1, 8, 3, 2, 7, 4, 6];
    const apis = Object.fromEntries(ages.map((age) => [`a${age}`, { ...VALID, at: NOW - age }]));
    const names = namesIn(withApiEntry(recordWith(apis), added));
    expect(names).toEqual(["a1", "a2", "a3", "a4", "a5", "a6", "a7", "new"]);
  });
});

describe("a login for an API", () => {
  it("asks for what the provider has demanded for this API", () => {
    const record = recordWith({
      orders: { ...VALID, claims: "demanded" },
      billing: { ...VALID, claims: "other" },
    });
    expect(apiLogin(record, "orders")).toEqual({ claims: "demanded", wantsRefreshToken: false });
    expect(apiLogin(record, "stock")).toEqual({ wantsRefreshToken: false });
    expect(apiLogin(recordWith(undefined), "orders")).toEqual({ wantsRefreshToken: false });
  });

  it("wants a refresh token, if the session has none", () => {
    const { refresh_token: _none, ...credentials } = CREDENTIALS;
    expect(apiLogin(recordWith({}, credentials), "orders").wantsRefreshToken).toBe(true);
    const { credentials: _gone, ...signedOut } = recordWith({});
    expect(apiLogin(signedOut, "orders").wantsRefreshToken).toBe(true);
  });
});
