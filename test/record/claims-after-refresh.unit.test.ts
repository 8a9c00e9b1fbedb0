import { describe, expect, it } from "vitest";
import {
  confirmedByUserinfo,
  confirmedUntil,
  refreshedClaims,
} from "../../src/record/claims-after-refresh.js";
import {
  lacksIdentity,
  withAllOfUserinfo,
  withoutUserinfo,
} from "../../src/record/userinfo-claims.js";

describe("identity claims of a refreshed ID token", () => {
  it("keep their old values where the new token lacks them; all other claims are replaced", () => {
    const previous = {
      sub: "s",
      exp: 1,
      email: "a@example.com",
      name: "A",
      picture: "p",
      email_verified: true,
      hd: "x",
    };
    expect(refreshedClaims({ sub: "s", exp: 2, name: "B" }, previous, [])).toStrictEqual({
      idInfo: {
        sub: "s",
        exp: 2,
        name: "B",
        email: "a@example.com",
        email_verified: true,
        picture: "p",
      },
      userinfoClaims: [],
    });
  });

  it.each([
    ["a new address without a flag", { email: "b@example.com" }, { email: "b@example.com" }],
    [
      "the same address without a flag",
      { email: "a@example.com" },
      { email: "a@example.com", email_verified: true },
    ],
    [
      "a flag without an address",
      { email_verified: false },
      { email: "a@example.com", email_verified: true },
    ],
    ["neither", {}, { email: "a@example.com", email_verified: true }],
    [
      "both",
      { email: "b@example.com", email_verified: false },
      { email: "b@example.com", email_verified: false },
    ],
  ])(
    "email and email_verified come from one document: the new token has %s",
    (_name, claims, expected) => {
      expect(
        refreshedClaims(claims, { email: "a@example.com", email_verified: true }, []).idInfo,
      ).toStrictEqual(expected);
    },
  );

  it("a flag of the old token is not attached to an address that only the new one has", () => {
    expect(
      refreshedClaims({ email: "b@example.com" }, { email_verified: true }, []).idInfo,
    ).toStrictEqual({ email: "b@example.com" });
  });

  it("that neither token has stay absent", () => {
    expect(refreshedClaims({ sub: "s" }, {}, []).idInfo).toStrictEqual({ sub: "s" });
  });

  it("remember which of the kept ones userinfo gave", () => {
    const previous = { email: "a@example.com", name: "A", picture: "p" };
    expect(refreshedClaims({ name: "B" }, previous, ["email", "name"]).userinfoClaims).toEqual([
      "email",
    ]);
  });

  it("keep what userinfo gave when the user signed in and the new token lacks", () => {
    const previous = { sub: "s", groups: ["staff"], locale: "en", hd: "x" };
    expect(
      refreshedClaims({ sub: "s", locale: "de" }, previous, ["groups", "locale"]),
    ).toStrictEqual({
      idInfo: { sub: "s", groups: ["staff"], locale: "de" },
      userinfoClaims: ["groups"],
    });
  });

  it.each(["auth_time", "acr", "amr"])("[RFR-6] %s stays that of the sign-in", (name) => {
    expect(refreshedClaims({ [name]: "newer" }, { [name]: "older" }, []).idInfo).toStrictEqual({
      [name]: "older",
    });
    expect(refreshedClaims({ [name]: "newer" }, {}, []).idInfo).toStrictEqual({});
    expect(refreshedClaims({}, { [name]: "older" }, []).idInfo).toStrictEqual({ [name]: "older" });
  });
});

describe("an ID token that userinfo completes", () => {
  it.each(["email", "name", "picture"])("%s alone is an identity", (name) => {
    expect([lacksIdentity({ sub: "s" }), lacksIdentity({ sub: "s", [name]: "x" })]).toEqual([
      true,
      false,
    ]);
  });
});

describe("a refresh that userinfo has confirmed", () => {
  it("replaces what userinfo gave before, removes what it gives no more, and keeps all other claims", () => {
    const previous = {
      sub: "s",
      exp: 1,
      iat: 0,
      auth_time: 0,
      name: "A",
      email: "a@example.com",
      email_verified: true,
      picture: "p",
    };
    const userinfo = { sub: "s", email: "b@example.com", name: "Other", iss: "evil", exp: 9 };
    expect(
      confirmedByUserinfo(userinfo, {
        previous,
        names: ["email", "email_verified", "picture"],
        exp: 100,
      }),
    ).toStrictEqual({
      idInfo: { sub: "s", exp: 100, iat: 0, auth_time: 0, name: "A", email: "b@example.com" },
      userinfoClaims: ["email", "email_verified", "picture"],
    });
  });

  it("takes the flag with the address", () => {
    const userinfo = { sub: "s", email: "b@example.com", email_verified: true };
    expect(
      confirmedByUserinfo(userinfo, {
        previous: { email: "a@example.com" },
        names: ["email"],
        exp: 1,
      }).idInfo,
    ).toStrictEqual({
      email: "b@example.com",
      email_verified: true,
      exp: 1,
    });
  });
});

describe("a refresh without an ID token counts", () => {
  const until = (accessTokenExpiresAt: number | undefined, claims?: object, receivedAt?: number) =>
    confirmedUntil(
      { id_info: { ...claims }, idp_state: { v: 1, tokens_received_at: receivedAt! } },
      {
        accessToken: "a",
        refreshToken: undefined,
        idToken: undefined,
        scopes: undefined,
        receivedAt: 10_000,
        accessTokenExpiresAt,
      },
    );

  it("until the access token expires, but for an hour at most", () => {
    expect([until(10_060), until(13_600), until(13_601)]).toEqual([10_060, 13_600, 13_600]);
  });

  it.each<[string, number, object, number?]>([
    ["as long as the last ID token since its receipt", 10_250, { exp: 800, iat: 500 }, 550],
    ["of an old record, since its iat", 10_300, { exp: 800, iat: 500 }],
    ["in whole seconds", 10_300, { exp: 800.9, iat: 500 }],
    ["for an hour at most", 13_600, { exp: 9_000, iat: 500 }],
    ["for an hour, if its lifetime isn't known", 13_600, { exp: "800", iat: 500 }],
    ["for an hour, if it had expired when it came", 13_600, { exp: 500, iat: 500 }],
  ])("without an expiry of the access token %s", (_name, expected, claims, receivedAt) => {
    expect(until(undefined, claims, receivedAt)).toBe(expected);
  });
});

describe("all of userinfo's claims, added to an ID token", () => {
  it("are those that the ID token lacks", () => {
    const userinfo = { sub: "s", name: "Other", groups: ["staff"], locale: "en", zoneinfo: null };
    expect(withAllOfUserinfo({ sub: "s", name: "A", groups: undefined }, userinfo)).toStrictEqual({
      idInfo: { sub: "s", name: "A", groups: ["staff"], locale: "en", zoneinfo: null },
      userinfoClaims: ["groups", "locale", "zoneinfo"],
    });
  });

  it.each([
    ...["iss", "sub", "aud", "azp", "exp", "iat", "nonce", "auth_time", "acr", "amr", "sid", "tid"],
    ...["_claim_names", "_claim_sources", "__proto__"],
  ])("%s never comes from userinfo", (name) => {
    const userinfo = JSON.parse(`{"${name}": {"admin": true}, "groups": []}`) as Record<
      string,
      unknown
    >;
    const { idInfo, userinfoClaims } = withAllOfUserinfo({}, userinfo);
    expect(Object.getOwnPropertyNames(idInfo)).toEqual(["groups"]);
    expect(Object.getPrototypeOf(idInfo)).toBe(Object.prototype);
    expect(userinfoClaims).toEqual(["groups"]);
  });

  it("may have the names of properties of Object.prototype", () => {
    const { idInfo } = withAllOfUserinfo({}, { constructor: "x", toString: "y" });
    expect(Object.entries(idInfo)).toEqual([
      ["constructor", "x"],
      ["toString", "y"],
    ]);
  });

  it.each([
    ["an address of its own", { email: "a@example.com" }, { email: "a@example.com" }],
    [
      "an address with a flag",
      { email: "a@example.com", email_verified: false },
      { email: "a@example.com", email_verified: false },
    ],
    [
      "the same address without a flag",
      { email: "b@example.com" },
      { email: "b@example.com", email_verified: true },
    ],
    [
      "a flag without an address",
      { email_verified: false },
      { email: "b@example.com", email_verified: true },
    ],
    ["an address that is a list", { email: ["b@example.com"] }, { email: ["b@example.com"] }],
    ["neither", {}, { email: "b@example.com", email_verified: true }],
  ])(
    "email and email_verified come from one document: the ID token has %s",
    (_name, claims, expected) => {
      expect(
        withAllOfUserinfo(claims, { email: "b@example.com", email_verified: true }).idInfo,
      ).toStrictEqual(expected);
    },
  );

  it("do not include a flag without its address", () => {
    expect(withAllOfUserinfo({}, { email_verified: true })).toStrictEqual({
      idInfo: {},
      userinfoClaims: [],
    });
  });

  it("are removed before a refresh adds the new ones, and the flag goes with its address", () => {
    const claims = {
      sub: "s",
      name: "A",
      email: "a@example.com",
      email_verified: true,
      groups: [],
    };
    expect(withoutUserinfo(claims, ["email", "groups"])).toStrictEqual({ sub: "s", name: "A" });
    expect(withoutUserinfo(claims, ["groups"])).toHaveProperty("email_verified", true);
  });
});

describe("what userinfo has confirmed", () => {
  it("is only what it has itself: no member of every object, and nothing undefined", () => {
    const previous = { sub: "s", toString: "from an attacker", nickname: "a" };
    const names = ["toString", "nickname"];
    const { idInfo } = confirmedByUserinfo(
      { sub: "s", nickname: undefined },
      { previous, names, exp: 5 },
    );
    expect(Object.keys(idInfo)).toEqual(["sub", "exp"]);
  });

  it.each([
    ["iat", { exp: 1_095, iat: "1000" }],
    ["exp", { exp: "1095", iat: 1_000 }],
  ])("is confirmed for an hour, if `%s` of the last ID token is no number", (_name, claims) => {
    const record = { id_info: claims, idp_state: { v: 1 } } as never;
    const spent = { receivedAt: 2_000 } as never;
    expect(confirmedUntil(record, spent)).toBe(5_600);
  });
});
