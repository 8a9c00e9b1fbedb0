import { describe, expect, it, vi } from "vitest";
import type { Tenants } from "../../src/provider/allowed-tenants.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../../src/errors.js";
import {
  checkClaims,
  checkIssuance,
  checkNonce,
  checkProviderSession,
  isSid,
  readJwt,
  verifyIdToken,
  withoutAbsent,
  type Expected,
} from "../../src/provider/id-token.js";
import { SETTING_NAMES, settingNamesOf, textWith } from "../../src/config/setting-names.js";
import { doubtInWords, type Doubt } from "../../src/provider/token-doubts.js";
import type { Jwks } from "../../src/provider/key-fetches.js";
import type { IdInfo } from "../../src/record/identity.js";

const NOW = 1_000;
const EXPECTED: Expected = {
  issuer: "https://idp.example",
  clientId: "c",
  trustedAudiences: [],
  now: NOW,
  clockTolerance: 5,
  algorithms: ["RS256"],
  newerAlgorithms: () => Promise.resolve(["RS256", "PS256"]),
  accessToken: "access",
};
const CLAIMS: IdInfo = { iss: "https://idp.example", aud: "c", sub: "ada", exp: 2_000, iat: 1_000 };
const TENANT = "https://idp.example/tenant-1/v2.0";

const part = (json: object | string) =>
  Buffer.from(typeof json === "string" ? json : JSON.stringify(json)).toString("base64url");
const token = (header: object, claims: object = CLAIMS) => `${part(header)}.${part(claims)}.c2ln`;
const refused = (what: string) => new ProviderRefusedError(what);
/** Returns what a check found. */
function outcome(check: () => unknown): unknown {
  try {
    check();
    return "accepted";
  } catch (error) {
    return error instanceof ProviderRefusedError ? error.reason : error;
  }
}

/** Keys that accept every signature. */
function keys(isSigned = true) {
  const verify = vi.fn<Jwks["verify"]>().mockResolvedValue(isSigned);
  return { jwks: { verify } as unknown as Jwks, verify };
}
const trusting = (isSigned = true) => ({
  jwks: keys(isSigned).jwks,
  checkFlow: () => [],
});
const tenants = (keyFits: Tenants["keyFits"] = () => true) =>
  ({ issuerFor: () => TENANT, keyFits }) as unknown as Tenants;

describe("the type of a token", () => {
  const read = (typ: unknown, types: readonly (string | undefined)[]) =>
    outcome(() => readJwt(token({ alg: "RS256", typ }), types, refused));

  it.each<[unknown, string]>([
    ["JWT", "accepted"],
    ["application/jwt", "accepted"],
    ["Application/JWT", "accepted"],
    [undefined, "accepted"],
    ["logout+jwt", "typ"],
    ["application/", "typ"],
    ["jwtapplication/", "typ"],
    ["x/application/jwt", "typ"],
    ["application/application/jwt", "typ"],
    ["", "typ"],
  ])("%j: whether it is an ID token's", (typ, result) => {
    expect(read(typ, ["jwt", undefined])).toBe(result);
  });

  it("that is required can't be left out", () => {
    expect(read(undefined, ["logout+jwt"])).toBe("typ");
    expect(read("application/logout+jwt", ["logout+jwt"])).toBe("accepted");
  });
});

describe("an encrypted token", () => {
  const JWE = { alg: "RSA-OAEP-256", enc: "A256GCM" };
  const read = (text: string) => outcome(() => readJwt(text, ["jwt", undefined], refused));

  it.each<[string, string, string]>([
    ["five parts and `enc` in the header", `${part(JWE)}.a2V5.aXY.Y2lwaGVy.dGFn`, "encrypted"],
    [
      "`enc` and an empty key, as with a shared one",
      `${part(JWE)}..aXY.Y2lwaGVy.dGFn`,
      "encrypted",
    ],
    ["`enc`, but three parts", `${part(JWE)}.${part(CLAIMS)}.c2ln`, "alg"],
    ["`enc`, but four parts", `${part(JWE)}.a2V5.aXY.Y2lwaGVy`, "format"],
    ["`enc`, but six parts", `${part(JWE)}.a2V5.aXY.Y2lwaGVy.dGFn.bW9yZQ`, "format"],
    [
      "`enc`, and characters that aren't base64url in one of five parts",
      `${part(JWE)}.a2V5.aXY.Y2=waGVy.dGFn`,
      "format",
    ],
    ["`enc`, and text before the five parts", ` ${part(JWE)}.a2V5.aXY.Y2lwaGVy.dGFn`, "format"],
    ["five parts without `enc`", `${part({ alg: "RS256" })}.a2V5.aXY.Y2lwaGVy.dGFn`, "format"],
    [
      "five parts and an `enc` that isn't a string",
      `${part({ ...JWE, enc: 1 })}.a2V5.aXY.Y2lwaGVy.dGFn`,
      "format",
    ],
    ["five parts whose header isn't JSON", `${part("no")}.a2V5.aXY.Y2lwaGVy.dGFn`, "format"],
    ["five parts without a header", `.a2V5.aXY.Y2lwaGVy.dGFn`, "format"],
  ])("is recognized by its parts and `enc`: %s", (_what, text, result) => {
    expect(read(text)).toBe(result);
  });

  it("isn't the fault of one sign-in: it is an outage that an operator must correct", async () => {
    const { jwks, verify } = keys();
    const error: unknown = await verifyIdToken(`${part(JWE)}.a2V5.aXY.Y2lwaGVy.dGFn`, EXPECTED, {
      jwks,
      checkFlow: () => [],
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderUnavailableError);
    expect(error).toMatchObject({ reason: "id_token_encrypted", isMisconfiguration: true });
    expect(verify).not.toHaveBeenCalled();
  });
});

describe("the signature", () => {
  it("is verified after the claims, with the token, its header and the signal", async () => {
    const { jwks, verify } = keys();
    const { signal } = new AbortController();
    const checked: unknown[] = [];
    const text = token({ alg: "RS256", kid: "k" });
    const checkFlow = (each: unknown) => {
      expect(verify).not.toHaveBeenCalled();
      checked.push(each);
      return [];
    };
    const { claims, doubts } = await verifyIdToken(text, EXPECTED, { jwks, checkFlow, signal });
    expect([claims, doubts]).toEqual([CLAIMS, []]);
    expect(checked).toEqual([CLAIMS]);
    expect(verify).toHaveBeenCalledExactlyOnceWith(
      { token: text, header: { alg: "RS256", kid: "k" }, keyFits: undefined },
      signal,
    );
  });

  it("that is wrong refuses the token", async () => {
    await expect(
      verifyIdToken(token({ alg: "RS256" }), EXPECTED, trusting(false)),
    ).rejects.toMatchObject({
      reason: "id_token_signature",
    });
  });

  it("isn't verified for a token that the flow refuses, or whose `at_hash` is wrong", async () => {
    const { jwks, verify } = keys();
    const own = new Error("the flow refused it");
    const refuse = () => {
      throw own;
    };
    await expect(
      verifyIdToken(token({ alg: "RS256" }), EXPECTED, { jwks, checkFlow: refuse }),
    ).rejects.toBe(own);
    const wrong = token({ alg: "RS256" }, { ...CLAIMS, at_hash: "AAAA" });
    await expect(
      verifyIdToken(wrong, EXPECTED, { jwks, checkFlow: () => [] }),
    ).rejects.toMatchObject({
      reason: "id_token_at_hash",
    });
    expect(verify).not.toHaveBeenCalled();
  });

  it("counts only under a key of the token's own tenant", async () => {
    const keyFits = vi
      .fn<Tenants["keyFits"]>()
      .mockImplementation((issuerOfKey) => issuerOfKey === "fits");
    const { jwks, verify } = keys();
    await verifyIdToken(
      token({ alg: "RS256" }, { ...CLAIMS, iss: TENANT }),
      { ...EXPECTED, tenants: tenants(keyFits) },
      { jwks, checkFlow: () => [] },
    );
    const fits = verify.mock.calls[0]?.[0].keyFits;
    expect([fits?.("fits"), fits?.("another")]).toEqual([true, false]);
    expect(keyFits.mock.calls).toEqual([
      ["fits", TENANT],
      ["another", TENANT],
    ]);
  });
});

describe("the issuer", () => {
  it("and the time of issue are returned after the check", () => {
    expect(checkIssuance(CLAIMS, EXPECTED, refused)).toEqual({
      issuer: "https://idp.example",
      iat: 1_000,
      doubts: [],
    });
  });

  it("of a provider with several tenants is that of the token's tenant", () => {
    const expected = { ...EXPECTED, tenants: tenants() };
    expect(checkIssuance({ ...CLAIMS, iss: TENANT }, expected, refused).issuer).toBe(TENANT);
    expect(checkIssuance(CLAIMS, expected, refused).doubts).toEqual([
      { reason: "iss", value: "https://idp.example" },
    ]);
  });
});

describe("what this machine's clock or the configuration can cause is a doubt, and not a refusal", () => {
  it.each<[string, Record<string, unknown>, Doubt[]]>([
    ["another issuer", { iss: "http://internal" }, [{ reason: "iss", value: "http://internal" }]],
    [
      "another client beside ours, as audience",
      { aud: ["c", "d"], azp: "c" },
      [{ reason: "aud", value: "d" }],
    ],
    [
      "several audiences without azp",
      { aud: ["c", "d"] },
      [{ reason: "aud", value: "d" }, { reason: "azp" }],
    ],
    ["exp just past", { exp: NOW - 5 }, [{ reason: "exp", seconds: 5 }]],
    ["exp within the tolerance", { exp: NOW - 4 }, []],
    ["iat ahead", { iat: NOW + 6 }, [{ reason: "iat", seconds: 6 }]],
    ["iat ahead within the tolerance", { iat: NOW + 5 }, []],
    ["nbf ahead", { nbf: NOW + 5.5 }, [{ reason: "nbf", seconds: 6 }]],
    ["nbf ahead within the tolerance", { nbf: NOW + 5 }, []],
  ])("%s", (_what, claims, doubts) => {
    expect(checkClaims({ ...CLAIMS, ...claims }, EXPECTED)).toEqual(doubts);
  });

  it.each([
    ["no issuer", { iss: undefined }, "id_token_iss"],
    ["an empty issuer", { iss: "" }, "id_token_iss"],
    ["an issuer in a list", { iss: [CLAIMS.iss] }, "id_token_iss"],
    ["another client alone, as audience", { aud: ["d"] }, "id_token_aud"],
    ["an audience that isn't a string", { aud: ["c", 7] }, "id_token_aud"],
    ["an empty audience", { aud: "" }, "id_token_aud"],
    ["another azp", { azp: "d" }, "id_token_azp"],
    ["an empty azp", { azp: "" }, "id_token_azp"],
    ["an empty sub", { sub: "" }, "id_token_sub"],
  ])("but %s is a refusal", (_what, claims, reason) => {
    expect(outcome(() => checkClaims({ ...CLAIMS, ...claims }, EXPECTED))).toBe(reason);
  });

  it("a doubt counts only for a token whose signature is right", async () => {
    const text = token({ alg: "RS256" }, { ...CLAIMS, iss: "http://internal" });
    await expect(verifyIdToken(text, EXPECTED, trusting(false))).rejects.toMatchObject({
      reason: "id_token_signature",
    });
    const { doubts } = await verifyIdToken(text, EXPECTED, trusting());
    expect(doubts).toEqual([{ reason: "iss", value: "http://internal" }]);
  });

  it("an algorithm that isn't advertised is one, after the discovery document was read again", async () => {
    const verified = (alg: string) => verifyIdToken(token({ alg }), EXPECTED, trusting());
    expect(await verified("PS256")).toMatchObject({ doubts: [] });
    expect(await verified("ES256")).toMatchObject({ doubts: [{ reason: "alg", value: "ES256" }] });
    for (const alg of ["none", "HS256"])
      await expect(verified(alg)).rejects.toMatchObject({ reason: "id_token_alg" });
  });

  it.each<[Doubt, RegExp]>([
    [{ reason: "iat", seconds: 10 }, /at least 10 s ahead of .* IDP_CLOCK_TOLERANCE is 5 s/],
    [{ reason: "nbf", seconds: 10 }, /at least 10 s ahead of/],
    [{ reason: "iat", seconds: 10, isOlder: true }, /10 s before .* IDP_CLOCK_TOLERANCE is 5 s/],
    [{ reason: "exp", seconds: 10 }, /at least 10 s behind/],
    [{ reason: "aud", value: "d" }, /"d" .* IDP_TRUSTED_AUDIENCES/],
    [{ reason: "aud", value: "d\nforged line" }, /another value/],
    [{ reason: "iss", value: "http://internal" }, /"http:\/\/internal" .* IDP_ISSUER/],
    [{ reason: "alg", value: "ES256" }, /"ES256".* id_token_signing_alg_values_supported/],
    [{ reason: "azp" }, /no azp/],
  ])("%j names its remedy", (doubt, words) => {
    expect(textWith(SETTING_NAMES, doubtInWords(doubt, 5))).toMatch(words);
  });

  it("a remedy names the provider's own settings, and leaves the token's text as it is", () => {
    const doubt: Doubt = { reason: "iss", value: "https://IDP_ISSUER.example" };
    const text = textWith(settingNamesOf("staff"), doubtInWords(doubt, 5));
    expect(text).toMatch(/"https:\/\/IDP_ISSUER.example" .* in IDP_PROVIDER_STAFF_ISSUER\./);
  });
});

describe("claims that count as absent", () => {
  it("are empty optional strings, and a time of sign-in that isn't after 1970; they are absent afterwards", async () => {
    const empty = { nonce: "", at_hash: "", sid: "", acr: "", auth_time: 0, name: "" };
    const text = token({ alg: "RS256" }, { ...CLAIMS, ...empty });
    const { claims } = await verifyIdToken(text, EXPECTED, trusting());
    expect(claims).toEqual({ ...CLAIMS, name: "" });
    expect(withoutAbsent({ auth_time: -1, sid: "s" })).toEqual({ sid: "s" });
    // Of a wrong type, it is present, and no time.
    for (const wrong of ["", "0", null, false])
      expect(withoutAbsent({ auth_time: wrong })).toEqual({ auth_time: wrong });
    expect(withoutAbsent({ auth_time: 1, acr: 0 })).toEqual({ auth_time: 1, acr: 0 });
  });

  it("so an empty nonce at a sign-in is refused as a missing one", () => {
    expect(outcome(() => checkNonce(withoutAbsent({ ...CLAIMS, nonce: "" }), "n"))).toBe(
      "id_token_nonce",
    );
  });
});

describe("the provider's session", () => {
  it.each<[string, unknown, boolean]>([
    ["with a letter", "s", true],
    ["of 1000 characters", "s".repeat(1_000), true],
    ["of 1001 characters", "s".repeat(1_001), false],
    ["that is empty", "", false],
    ["with a space and a tilde", " ~", true],
    ["with a line break at its start", "\ns", false],
    ["with a line break at its end", "s\n", false],
    ["with a letter outside ASCII", "é", false],
    ["that is a number", 7, false],
    ["that is missing", undefined, false],
    ["that is a list", ["s"], false],
  ])("has a `sid` %s: whether it can be used", (_what, sid, isUsable) => {
    expect(isSid(sid)).toBe(isUsable);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no limit and no `sid`", {}, "accepted"],
    ["a limit in the future", { session_expiry: NOW + 1 }, "accepted"],
    ["a limit that has just passed", { session_expiry: NOW }, "id_token_session_expiry"],
    ["a limit in the past", { session_expiry: NOW - 1 }, "id_token_session_expiry"],
    ["a limit that isn't a date", { session_expiry: null }, "accepted"],
    ["a `sid`", { sid: "s" }, "accepted"],
    ["a `sid` that no logout token can name", { sid: "s".repeat(1_001) }, "id_token_sid"],
    ["an empty `sid`, which counts as none", { sid: "" }, "accepted"],
    ["a `sid` that isn't a string, which counts as none", { sid: 7 }, "accepted"],
  ])("with %s: whether it can be stored", (_what, claims, result) => {
    expect(outcome(() => checkProviderSession({ ...CLAIMS, ...claims }, NOW))).toBe(result);
  });

  it.each<[string, unknown, string]>([
    ["a date", 2_000, "accepted"],
    ["a date in the past, which a refresh may see", 1, "accepted"],
    ["a string", "2000", "id_token_session_expiry"],
    ["null", null, "id_token_session_expiry"],
    ["a negative number", -1, "id_token_session_expiry"],
  ])("has %s as its limit: whether the claims are well-formed", (_what, limit, result) => {
    expect(outcome(() => checkClaims({ ...CLAIMS, session_expiry: limit }, EXPECTED))).toBe(result);
  });
});
