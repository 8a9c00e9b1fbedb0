import { ProviderRefusedError } from "../../src/errors.js";
import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SignIn } from "../../src/record/credentials.js";
import {
  checkAccessTokenHash,
  checkClaims,
  checkContinuity,
  MAX_ID_TOKEN_LENGTH,
  readJwt,
} from "../../src/provider/id-token.js";
import { SIGNING_ALGORITHMS } from "../../src/config/signing-algorithms.js";
import type { IdTokenDraft, MutatedIdToken } from "../../src/testing/provider/test-provider.js";
import type { Doubt } from "../../src/provider/token-doubts.js";
import { refused, rejection, startRig, unavailable, type Rig } from "./rig.js";

const readIdToken = (token: string) =>
  readJwt(token, ["jwt", undefined], (what) => new ProviderRefusedError(`id_token_${what}`));

let rig: Rig;
let signedIn: SignIn;
let stranger: KeyObject;
let strangerEc: KeyObject;

beforeAll(async () => {
  rig = await startRig();
  const generate = promisify(generateKeyPair);
  stranger = (await generate("rsa", { modulusLength: 2048 })).privateKey;
  strangerEc = (await generate("ec", { namedCurve: "P-256" })).privateKey;
});
afterAll(() => rig.idp.stop());
beforeEach(async () => {
  rig.idp.mutateIdToken = undefined;
  // Beyond the longest wait of a session whose tokens couldn't be verified.
  rig.clock.advance(301_000);
  signedIn = await rig.exchange();
  rig.idp.requests.length = 0;
});

type Mutation = (draft: IdTokenDraft) => MutatedIdToken;
const claim =
  (name: string, value: unknown): Mutation =>
  ({ claims }) => ({ claims: { ...claims, [name]: value } });
const without =
  (name: string): Mutation =>
  ({ claims }) => ({
    claims: Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name)),
  });
const header =
  (changes: Record<string, unknown>): Mutation =>
  (draft) => ({ header: { ...draft.header, ...changes } });
const relative =
  (name: string, seconds: number): Mutation =>
  ({ claims }) => ({ claims: { ...claims, [name]: (claims["iat"] as number) + seconds } });
const rewritten =
  (change: (token: string) => string): Mutation =>
  ({ sign, header, claims }) =>
    change(sign(header, claims));

const NOT_ONLY_AT_REFRESH: [string, string, Mutation][] = [
  ["[IDT-1] iss missing", "iss", without("iss")],
  [
    "[IDT-1] iss as a list",
    "iss",
    (draft) => ({ claims: { ...draft.claims, iss: [draft.claims["iss"]] } }),
  ],
  ["[IDT-2] aud of another client", "aud", claim("aud", "other")],
  ["[IDT-2] aud missing", "aud", without("aud")],
  ["[IDT-2] aud an empty list", "aud", claim("aud", [])],
  ["[IDT-2] aud a part of the client id", "aud", claim("aud", "test")],
  ["[IDT-2] aud longer than the client id", "aud", claim("aud", "test-client2")],
  ["[IDT-2] aud a number", "aud", claim("aud", 1)],
  ["[IDT-2] aud a list of others", "aud", claim("aud", ["other"])],
  ["[IDT-4] azp of another client", "azp", claim("azp", "other")],
  ["[IDT-4] azp a list", "azp", claim("azp", ["test-client"])],
  [
    "[IDT-5] a flipped bit in the signature",
    "signature",
    rewritten((token) => token.replace(/.{10}$/, (end) => [...end].reverse().join(""))),
  ],
  [
    "[IDT-5] a flipped claim",
    "signature",
    rewritten((token) => {
      const [head, , signature] = token.split(".");
      const claims = JSON.parse(
        Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
      ) as object;
      return `${String(head)}.${Buffer.from(JSON.stringify({ ...claims, email: "eve@example.com" })).toString("base64url")}.${String(signature)}`;
    }),
  ],
  [
    "[IDT-5] another key under the right kid",
    "signature",
    (draft) => draft.sign(draft.header, draft.claims, stranger),
  ],
  ["[IDT-5] a truncated signature", "signature", rewritten((token) => token.slice(0, -20))],
  [
    "[IDT-5] an empty third part",
    "signature",
    rewritten((token) => `${token.split(".").slice(0, 2).join(".")}.`),
  ],
  ["[IDT-6] alg none", "alg", header({ alg: "none" })],
  ["[IDT-6] alg None", "alg", header({ alg: "None" })],
  ["[IDT-6] alg nOnE", "alg", header({ alg: "nOnE" })],
  ["[IDT-6] alg missing", "alg", (draft) => draft.sign({ typ: "JWT" }, draft.claims)],
  [
    "[IDT-6] HS256 keyed with the public key",
    "alg",
    (draft) =>
      draft.sign({ ...draft.header, alg: "HS256" }, draft.claims, Buffer.from(draft.publicKeyPem)),
  ],
  [
    "[IDT-6] HS256 keyed with the client secret",
    "alg",
    (draft) =>
      draft.sign(
        { ...draft.header, alg: "HS256" },
        draft.claims,
        Buffer.from(rig.idp.clientSecret),
      ),
  ],
  [
    "[IDT-6] ES256 by a stranger's key, although only RS256 is advertised",
    "signature",
    (draft) => draft.sign({ ...draft.header, alg: "ES256" }, draft.claims, strangerEc),
  ],
  [
    "[IDT-7] a key embedded in the header",
    "signature",
    (draft) =>
      draft.sign(
        { ...draft.header, jwk: stranger.export({ format: "jwk" }) },
        draft.claims,
        stranger,
      ),
  ],
  [
    "[IDT-7] addresses of keys in the header",
    "signature",
    (draft) =>
      draft.sign(
        { ...draft.header, jku: `${rig.idp.issuer}/evil`, x5u: `${rig.idp.issuer}/evil` },
        draft.claims,
        stranger,
      ),
  ],
  ["[IDT-8] an unknown critical extension", "crit", header({ crit: ["x"], x: 1 })],
  ["[IDT-8] an empty list of critical extensions", "crit", header({ crit: [] })],
  ["[IDT-8] b64 false", "crit", header({ b64: false, crit: ["b64"] })],
  ["[IDT-9] an access token", "typ", header({ typ: "at+jwt" })],
  ["[IDT-9] a logout token", "typ", header({ typ: "logout+jwt" })],
  ["[IDT-10] exp missing", "exp", without("exp")],
  ["[IDT-10] exp a string", "exp", claim("exp", "4102444800")],
  ["[IDT-10] exp null", "exp", claim("exp", null)],
  ["[IDT-10] exp negative", "exp", claim("exp", -1)],
  ["[IDT-10] exp 1e300", "exp", claim("exp", 1e300)],
  ["[IDT-11] iat missing", "iat", without("iat")],
  ["[IDT-11] iat a string", "iat", claim("iat", "1")],
  ["[IDT-12] nbf a string", "nbf", claim("nbf", "1")],
  ["[IDT-14] sub missing", "sub", without("sub")],
  ["[IDT-14] sub empty", "sub", claim("sub", "")],
  ["[IDT-14] sub a number", "sub", claim("sub", 7)],
  ["[IDT-14] sub an object", "sub", claim("sub", {})],
  ["[IDT-14] sub of 256 characters", "sub", claim("sub", "x".repeat(256))],
  ["[IDT-14] sub outside ASCII", "sub", claim("sub", "j\u00fcrgen")],
  ["[IDT-15] at_hash of another token", "at_hash", claim("at_hash", "AAAAAAAAAAAAAAAAAAAAAA")],
  ["[IDT-15] at_hash a number", "at_hash", claim("at_hash", 1)],
  ["[IDT-17] two parts", "format", rewritten((token) => token.split(".").slice(0, 2).join("."))],
  ["[IDT-17] four parts", "format", rewritten((token) => `${token}.x`)],
  ["[IDT-17] five parts, as an encrypted token", "format", rewritten((token) => `${token}.x.y`)],
  ["[IDT-17] padding", "format", rewritten((token) => token.replace(".", "=."))],
  ["[IDT-17] the other base64 alphabet", "format", rewritten((token) => `${token}+/`)],
  ["[IDT-17] a line break", "format", rewritten((token) => `${token}\n`)],
  [
    "[IDT-17] a nested token",
    "format",
    (draft) => draft.sign(draft.header, `"${draft.sign(draft.header, draft.claims)}"`),
  ],
  ["[IDT-17] a list of claims", "format", (draft) => draft.sign(draft.header, "[]")],
  ["[IDT-17] claims that are no JSON", "format", (draft) => draft.sign(draft.header, "{")],
  ["[IDT-17] a header that is no object", "format", (draft) => draft.sign("null", draft.claims)],
  ["a kid that is no string", "kid", header({ kid: 1 })],
  [
    "a token beyond the size limit",
    "size",
    ({ claims }) => ({ claims: { ...claims, filler: "x".repeat(MAX_ID_TOKEN_LENGTH) } }),
  ],
];

/**
 * A verified token that this machine's clock or the configuration doesn't fit: never accepted, and
 * never a refusal.
 */
const DOUBTED: [string, string, Mutation][] = [
  [
    "[IDT-1] iss with a trailing slash",
    "iss",
    (draft) => ({ claims: { ...draft.claims, iss: `${String(draft.claims["iss"])}/` } }),
  ],
  [
    "[IDT-1] iss in another letter case",
    "iss",
    (draft) => ({ claims: { ...draft.claims, iss: String(draft.claims["iss"]).toUpperCase() } }),
  ],
  [
    "[IDT-1] iss over https",
    "iss",
    (draft) => ({
      claims: { ...draft.claims, iss: String(draft.claims["iss"]).replace("http:", "https:") },
    }),
  ],
  ["[IDT-3] an additional audience", "aud", claim("aud", ["test-client", "other"])],
  [
    "[IDT-4] several audiences without azp",
    "azp",
    ({ claims }) => ({
      claims: { ...claims, aud: ["test-client", "test-client"], azp: undefined },
    }),
  ],
  ["[IDT-11] iat in the future", "iat", relative("iat", 6)],
  ["[IDT-12] nbf in the future", "nbf", relative("nbf", 6)],
];

describe("[ASVS-9.1.1] an ID token is refused at the callback", () => {
  it.each([
    ...NOT_ONLY_AT_REFRESH,
    ["[IDT-13] nonce missing", "nonce", without("nonce")],
    ["[IDT-13] nonce of another login", "nonce", claim("nonce", "another")],
    ["[IDT-13] nonce empty", "nonce", claim("nonce", "")],
    ["[IDT-13] nonce a list", "nonce", claim("nonce", ["the-nonce"])],
  ] satisfies [string, string, Mutation][])("%s", async (_name, what, mutation) => {
    rig.idp.mutateIdToken = mutation;
    expect(await rejection(rig.exchange())).toBe(refused(`id_token_${what}`));
    expect(rig.idp.requestsTo("token")).toHaveLength(1);
    expect(rig.idp.requestsTo("unknown")).toHaveLength(0);
    expect(rig.idp.requestsTo("userinfo")).toHaveLength(0);
  });
});

describe("a verified ID token that is in doubt is not accepted, and an operator must act", () => {
  it.each([
    ...DOUBTED,
    ["[IDT-10] exp passed by the tolerance", "exp", relative("exp", -5)],
    ["[IDT-10] exp passed by more", "exp", relative("exp", -6)],
  ] satisfies [string, string, Mutation][])(
    "at the callback: %s",
    async (_name, what, mutation) => {
      rig.idp.mutateIdToken = mutation;
      expect(await rejection(rig.exchange())).toBe(unavailable(`id_token_${what}`));
      expect(rig.logged.at(-1)).toMatchObject({ code: "provider_misconfigured" });
    },
  );

  it.each(DOUBTED)("at a refresh: %s", async (_name, what, mutation) => {
    rig.idp.mutateIdToken = mutation;
    expect(await rejection(rig.renew(signedIn))).toBe(unavailable(`id_token_${what}`));
    expect(rig.idp.requestsTo("token")).toHaveLength(1);
  });

  it("[IDT-10] at a refresh: exp passed, and iat later than before", async () => {
    rig.clock.advance(10_000);
    rig.idp.mutateIdToken = relative("exp", -5);
    expect(await rejection(rig.renew(signedIn))).toBe(unavailable("id_token_exp"));
  });

  it("[IDT-6] by a key of the provider for an algorithm that it doesn't advertise", async () => {
    rig.idp.jwks.publish({
      keys: rig.idp.jwks.document().keys.map(({ alg: _alg, ...key }) => key),
    });
    const provider = rig.settingsWith({});
    rig.idp.mutateIdToken = header({ alg: "PS256" });
    expect(await rejection(rig.exchange(provider))).toBe(unavailable("id_token_alg"));
    rig.idp.jwks.reset();
  });
});

describe("an ID token is refused at a refresh", () => {
  it.each([
    ...NOT_ONLY_AT_REFRESH,
    ["[RFR-2] another person's sub", "sub", claim("sub", "somebody-else")],
    ["[RFR-4] azp taken away", "azp", without("azp")],
    ["[RFR-7] another nonce", "nonce", claim("nonce", "another")],
    ["[RFR-8] already expired", "exp", relative("exp", -3600)],
  ] satisfies [string, string, Mutation][])("%s", async (_name, what, mutation) => {
    rig.idp.mutateIdToken = mutation;
    expect(await rejection(rig.renew(signedIn))).toBe(refused(`id_token_${what}`));
    expect(rig.idp.requestsTo("token")).toHaveLength(1);
    expect(rig.idp.requestsTo("unknown")).toHaveLength(0);
  });

  it("[RFR-1] the session was opened by another issuer", async () => {
    const idInfo = { ...signedIn.idInfo, iss: "https://other.example" };
    expect(await rejection(rig.renew({ ...signedIn, idInfo }))).toBe(refused("id_token_iss"));
  });

  it("[RFR-4] but not if azp is this client and was absent before", async () => {
    const { azp: _absent, ...idInfo } = signedIn.idInfo;
    rig.idp.mutateIdToken = claim("azp", "test-client");
    expect(await rig.renew({ ...signedIn, idInfo })).toMatchObject({ azp: "test-client" });
  });

  it("[RFR-5] or, if its iat is older than before, not accepted, which ends nothing", async () => {
    rig.idp.mutateIdToken = relative("iat", -60);
    expect(await rejection(rig.renew(signedIn))).toBe(unavailable("id_token_iat"));
  });

  it("[RFR-6] another auth_time: the sign-in's stays", async () => {
    rig.idp.mutateIdToken = claim("auth_time", 2);
    const previous = { ...signedIn, idInfo: { ...signedIn.idInfo, auth_time: 1 } };
    expect(await rig.renew(previous)).toMatchObject({ auth_time: 1 });
  });
});

describe("an ID token is accepted, at callback and refresh,", () => {
  it.each([
    [
      "[IDT-2] with aud as a list",
      ({ claims }) => ({ claims: { ...claims, aud: [claims["aud"]] } }),
    ],
    ["[IDT-5] as the provider makes it", (draft) => draft],
    [
      "[IDT-9] without typ",
      ({ header, claims, sign }) => sign({ alg: header["alg"], kid: header["kid"] }, claims),
    ],
    ["[IDT-9] with typ in lower case", header({ typ: "jwt" })],
    [
      "[IDT-7] with a key of the sender's in the header that did not sign it",
      header({ jwk: { kty: "RSA" }, jku: "http://127.0.0.1:1/" }),
    ],
    ["[IDT-10] with an exp within the tolerance", relative("exp", -4)],
    ["[IDT-10] with a fractional exp", relative("exp", 10.5)],
    ["[IDT-11] with an iat within the tolerance", relative("iat", 5)],
    ["[IDT-12] with an nbf within the tolerance", relative("nbf", 5)],
    ["[IDT-14] with a sub of 255 characters", claim("sub", "x".repeat(255))],
    ["[IDT-15] without at_hash", without("at_hash")],
    [
      "[IDT-17] with duplicate members, of which the last one counts",
      ({ header, claims, sign }) => sign(header, `{"sub":"x",${JSON.stringify(claims).slice(1)}`),
    ],
    [
      "[IDT-18] with claims of unexpected types",
      ({ claims }) => ({
        claims: { ...claims, name: { __proto__: 1 }, picture: 7, email: ["<b>"] },
      }),
    ],
  ] satisfies [string, Mutation][])("%s", async (_name, mutation) => {
    rig.idp.mutateIdToken = mutation;
    const fresh = await rig.exchange();
    await expect(rig.renew(fresh)).resolves.toMatchObject({ iss: rig.idp.issuer });
  });

  it("[RFR-7] a refreshed one without nonce, and one with the nonce of the sign-in", async () => {
    await expect(rig.renew(signedIn)).resolves.not.toHaveProperty("nonce");
    rig.idp.mutateIdToken = claim("nonce", "the-nonce");
    await expect(rig.renew(await rig.exchange())).resolves.toHaveProperty("nonce", "the-nonce");
  });

  it("[IDT-3] with an additional audience that is trusted by configuration", async () => {
    rig.idp.mutateIdToken = claim("aud", ["test-client", "partner"]);
    await expect(
      rig.exchange(rig.settingsWith({ trustedAudiences: ["partner"] })),
    ).resolves.toBeDefined();
  });

  it("[IDT-6] with any asymmetric algorithm that the discovery document advertises", async () => {
    rig.idp.discoveryDocument = (document) => ({
      ...document,
      id_token_signing_alg_values_supported: ["HS256", "none", "RS256", "PS256"],
    });
    rig.idp.jwks.publish({
      keys: rig.idp.jwks.document().keys.map(({ alg: _alg, ...key }) => key),
    });
    const provider = rig.settingsWith({});
    rig.idp.mutateIdToken = header({ alg: "PS256" });
    await expect(rig.exchange(provider)).resolves.toBeDefined();
    rig.idp.mutateIdToken = header({ alg: "none" });
    expect(await rejection(rig.exchange(provider))).toBe(refused("id_token_alg"));
    rig.idp.jwks.reset();
    rig.idp.discoveryDocument = undefined;
  });
});

it("[IDT-5] [IDT-6] an ID token signed with ES256 is accepted by the published key, and refused by another one", async () => {
  const own = await startRig();
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  own.idp.discoveryDocument = (document) => ({
    ...document,
    id_token_signing_alg_values_supported: ["ES256"],
  });
  own.idp.jwks.publish({
    keys: [{ ...publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" }],
  });
  const signedBy = (key: KeyObject) => {
    own.idp.mutateIdToken = ({ sign, claims }) => sign({ alg: "ES256", kid: "ec" }, claims, key);
  };
  signedBy(privateKey);
  expect((await own.exchange()).idTokenAlg).toBe("ES256");
  signedBy(strangerEc);
  expect(await rejection(own.exchange())).toBe(refused("id_token_signature"));
  await own.idp.stop();
});

describe("pure parts", () => {
  const expected = {
    issuer: "https://idp.example",
    clientId: "c",
    trustedAudiences: [],
    now: 1000,
    clockTolerance: 5,
  };
  const claims = { iss: "https://idp.example", aud: "c", sub: "s", exp: 2000, iat: 1000 };
  const outcome = (check: () => unknown) => {
    try {
      check();
      return "accepted";
    } catch (error) {
      return (error as { reason?: string }).reason ?? String(error);
    }
  };
  const checked = (...parameters: Parameters<typeof checkClaims>) =>
    outcome(() => checkClaims(...parameters));

  it.each([[NaN], [Infinity], [{}], [true]])("exp %j is no date", (exp) => {
    expect(() => {
      checkClaims({ ...claims, exp }, expected);
    }).toThrow("id_token_exp");
  });

  it.each<[string, Record<string, unknown>]>([
    ["the last second of the year 9999 as exp", { exp: 253_402_300_799 }],
    ["an iat and an nbf of 1970", { iat: 0, nbf: 0 }],
    ["no azp with one audience in a list", { aud: ["c"] }],
    ["an azp that names this client", { azp: "c" }],
    [
      "every visible ASCII character and the blank in sub",
      { sub: String.fromCharCode(...Array.from({ length: 95 }, (_, at) => 32 + at)) },
    ],
  ])("%s is accepted", (_name, changes) => {
    expect(checked({ ...claims, ...changes }, expected)).toBe("accepted");
  });

  it.each<[string, string, Record<string, unknown>]>([
    ["the first second of the year 10000 as exp", "exp", { exp: 253_402_300_800 }],
    ["an iat before 1970", "iat", { iat: -1 }],
    ["an nbf before 1970", "nbf", { nbf: -1 }],
    ["an nbf of null", "nbf", { nbf: null }],
    ["a control character at the beginning of sub", "sub", { sub: "\ns" }],
    ["a control character at the end of sub", "sub", { sub: "s\n" }],
    ["a trusted audience alone", "aud", { aud: ["partner"] }],
  ])("%s is refused", (_name, what, changes) => {
    expect(checked({ ...claims, ...changes }, { ...expected, trustedAudiences: ["partner"] })).toBe(
      `id_token_${what}`,
    );
  });

  it.each([
    ["RS256", "ca978112ca1bbdcafac231b39a23dc4d"],
    ["ES384", "54a59b9f22b0b80880d8427e548b7c23abd873486e1f035d"],
    ["PS512", "1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f53"],
    ["EdDSA", "1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f53"],
  ])("at_hash by %s is the left half of the algorithm's own hash", (alg, half) => {
    const at_hash = Buffer.from(half, "hex").toString("base64url");
    checkAccessTokenHash({ at_hash }, alg, "a");
    expect(() => {
      checkAccessTokenHash({ at_hash }, alg, "b");
    }).toThrow("id_token_at_hash");
  });

  describe("a token that was taken apart", () => {
    const part = (json: string | Buffer) => Buffer.from(json).toString("base64url");
    const token = (header: object | string, claims: string | Buffer = "{}") =>
      `${part(typeof header === "string" ? header : JSON.stringify(header))}.${part(claims)}.c2ln`;
    const read = (text: string) => outcome(() => readIdToken(text));

    it("gives its algorithm, its kid when there is one, and nothing else of its header", () => {
      const header = { alg: "RS256", typ: "JWT", jku: "https://evil.example", x5c: ["MII"] };
      expect(readIdToken(token(header, '{"sub":"s"}'))).toStrictEqual({
        header: { alg: "RS256" },
        type: "jwt",
        claims: { sub: "s" },
      });
      expect(readIdToken(token({ ...header, kid: "k" })).header).toStrictEqual({
        alg: "RS256",
        kid: "k",
      });
    });

    it.each([
      "RS256",
      "RS384",
      "RS512",
      "PS256",
      "PS384",
      "PS512",
      "ES256",
      "ES384",
      "ES512",
      "EdDSA",
      "Ed25519",
    ])("%s is accepted", (alg) => {
      expect(SIGNING_ALGORITHMS).toContain(alg);
      expect(read(token({ alg }))).toBe("accepted");
    });

    it.each(["none", "HS256", "HS384", "HS512", "RS1", "dir", ""])(
      "%j is never accepted",
      (alg) => {
        expect(read(token({ alg }))).toBe("id_token_alg");
      },
    );

    it("of exactly the longest length is read, of one character more is not", () => {
      const short = token({ alg: "RS256" });
      const longest = short + "A".repeat(MAX_ID_TOKEN_LENGTH - short.length);
      expect(longest).toHaveLength(262_144);
      expect(read(longest)).toBe("accepted");
      expect(read(`${longest}A`)).toBe("id_token_size");
    });

    it.each<[string, string]>([
      ["text before it", ` ${token({ alg: "RS256" })}`],
      [
        "claims in UTF-8 that is broken",
        token({ alg: "RS256" }, Buffer.from('{"sub":"\xff"}', "latin1")),
      ],
      ["a byte order mark before its claims", token({ alg: "RS256" }, '\ufeff{"sub":"s"}')],
      ["a header that is no JSON", token("alg")],
      ["a header that is a list", token("[]")],
      ["nothing in it", ""],
    ])("with %s is none", (_name, text) => {
      expect(read(text)).toBe("id_token_format");
    });

    it("without a signature is refused before the keys are fetched", () => {
      expect(read(token({ alg: "RS256" }).replace(/[^.]*$/, ""))).toBe("id_token_signature");
    });

    it.each<[string, string, object]>([
      ["an algorithm in a list", "alg", { alg: ["RS256"] }],
      ["a typ that is no text", "typ", { alg: "RS256", typ: ["JWT"] }],
      ["a typ of null", "typ", { alg: "RS256", typ: null }],
      ["a kid of null", "kid", { alg: "RS256", kid: null }],
      ["b64 without crit", "crit", { alg: "RS256", b64: true }],
      ["crit without b64", "crit", { alg: "RS256", crit: null }],
    ])("with %s in its header is refused", (_name, what, header) => {
      expect(read(token(header))).toBe(`id_token_${what}`);
    });
  });

  describe("a refreshed token against its predecessor", () => {
    const previous = { iss: "i", sub: "s", iat: 1000, nonce: "n" };
    const EXPIRED: Doubt[] = [{ reason: "exp", seconds: 10 }];
    const OTHER_ISSUER: Doubt[] = [{ reason: "iss", value: "other" }];
    it.each<[string, Record<string, unknown>, Record<string, unknown>, string, Doubt[]?]>([
      ["an iat earlier by the tolerance", { iat: 995 }, {}, "accepted"],
      ["an iat earlier by more", { iat: 994 }, {}, "in doubt: iat"],
      ["a predecessor without iat", { iat: 1 }, { iat: undefined }, "accepted"],
      ["a predecessor whose iat is no number", { iat: 1 }, { iat: "1000" }, "accepted"],
      ["the same auth_time", { auth_time: 7 }, { auth_time: 7 }, "accepted"],
      ["another auth_time", { auth_time: 8 }, { auth_time: 7 }, "accepted"],
      ["an auth_time that is new", { auth_time: 7 }, {}, "accepted"],
      ["an auth_time that is gone", {}, { auth_time: 7 }, "accepted"],
      ["no nonce", { nonce: undefined }, {}, "accepted"],
      ["another nonce", { nonce: "other" }, {}, "id_token_nonce"],
      ["a nonce where there was none", {}, { nonce: undefined }, "id_token_nonce"],
      ["the same azp", { azp: "c" }, { azp: "c" }, "accepted"],
      ["an azp that is new, for one audience", { azp: "c", aud: "c" }, {}, "accepted"],
      ["an azp that is gone", { aud: ["c"] }, { azp: "c" }, "id_token_azp"],
      ["an azp that a second audience requires", { azp: "c", aud: ["c", "d"] }, {}, "accepted"],
      ["an exp past, and a later iat", { iat: 1001 }, {}, "accepted", EXPIRED],
      ["an exp past, and the same iat: a repeated token", {}, {}, "id_token_exp", EXPIRED],
      ["an exp past, after a token without iat", {}, { iat: undefined }, "id_token_exp", EXPIRED],
      ["another issuer", { iss: "other" }, {}, "id_token_iss"],
      ["another issuer, which is in doubt", { iss: "other" }, {}, "accepted", OTHER_ISSUER],
      ["another sub", { sub: "t" }, {}, "id_token_sub", OTHER_ISSUER],
    ])("with %s", (_name, changes, before, expected, doubts = []) => {
      let added: readonly Doubt[] = [];
      const found = outcome(() => {
        added = checkContinuity(
          { ...previous, ...changes },
          { ...previous, ...before },
          { clockTolerance: 5, doubts },
        );
      });
      const [doubt] = added;
      expect(doubt === undefined ? found : `in doubt: ${doubt.reason}`).toBe(expected);
    });
  });
});

describe("IDP_CLOCK_TOLERANCE", () => {
  it.each([
    [0, 1, true],
    [0, 0, true],
    [60, 59, false],
    [60, 60, true],
    [300, 299, false],
  ])(
    "of %i s: an ID token that expired %i s ago is in doubt: %s",
    (clockTolerance, secondsAgo, isDoubted) => {
      const claims = {
        iss: "https://idp.example",
        aud: "c",
        sub: "s",
        exp: 2000 - secondsAgo,
        iat: 1000,
      };
      const doubts = checkClaims(claims, {
        issuer: "https://idp.example",
        clientId: "c",
        trustedAudiences: [],
        now: 2000,
        clockTolerance,
      });
      expect(doubts.map(({ reason }) => reason)).toEqual(isDoubted ? ["exp"] : []);
    },
  );
});
