import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MAX_LEVELS } from "../../src/record/json.js";
import { MAX_ID_TOKEN_LENGTH } from "../../src/provider/id-token.js";
import { createCertificate } from "../../scripts/certificate.mjs";
import type {
  IdTokenDraft,
  JsonPart,
  MutatedIdToken,
} from "../../src/testing/provider/test-provider.js";
import { byStranger, STRANGER } from "../support/foreign-signature.js";

/**
 * Changes an ID token on its way to us. `attacker` is the address of a listener that nobody may ask
 * for anything.
 */
export type Mutation = (draft: IdTokenDraft, attacker: string) => MutatedIdToken;

/**
 * What is done, and which `id_token_…` reason it has to be refused for: a refusal for another one
 * would prove nothing.
 */
export type Rejected = readonly [name: string, reason: string, mutation: Mutation];

const CLIENT = "test-client";

/** Keys that the provider has never published. */
const STRANGER_EC = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const STRANGER_JWK = createPublicKey(STRANGER).export({ format: "jwk" });
const STRANGER_CERTIFICATE = createCertificate({
  name: "evil.example",
  publicKey: createPublicKey(STRANGER),
});
/** RFC 7515 section 4.1.6: DER in base64, as a reader that trusted it would have it. */
const STRANGER_X5C = [STRANGER_CERTIFICATE.cert.replace(/-----[A-Z ]+-----|\s/g, "")];

export const claim =
  (name: string, value: unknown): Mutation =>
  ({ claims }) => ({ claims: { ...claims, [name]: value } });

export const claimsOf =
  (changes: Readonly<Record<string, unknown>>): Mutation =>
  ({ claims }) => ({ claims: { ...claims, ...changes } });

export const without =
  (name: string): Mutation =>
  ({ claims }) => ({
    claims: Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name)),
  });

/** A claim that is a date, in seconds after now. */
export const inSeconds =
  (name: string, seconds: number): Mutation =>
  ({ claims }) => ({ claims: { ...claims, [name]: (claims["iat"] as number) + seconds } });

const issuer =
  (change: (issuer: string) => unknown): Mutation =>
  ({ claims }) => ({ claims: { ...claims, iss: change(String(claims["iss"])) } });

export const header =
  (changes: Record<string, unknown>): Mutation =>
  (draft) => ({ header: { ...draft.header, ...changes } });

/** The claims as text, changed where JSON.stringify would not: the signature is right. */
const claimsText =
  (change: (text: string) => string): Mutation =>
  ({ claims }) => ({ claims: change(JSON.stringify(claims)) });

/** The finished token, changed as text: the signature is what it was. */
const token =
  (change: (token: string) => string): Mutation =>
  ({ sign, header, claims }) =>
    change(sign(header, claims));

const part = (text: string, index: number) => text.split(".")[index] ?? "";

const withPart = (index: number, change: (part: string) => string): Mutation =>
  token((text) =>
    text
      .split(".")
      .map((each, at) => (at === index ? change(each) : each))
      .join("."),
  );

const encoded = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

const hs256 =
  (key: (draft: IdTokenDraft) => string | Buffer): Mutation =>
  (draft) =>
    draft.sign({ ...draft.header, alg: "HS256" }, draft.claims, Buffer.from(key(draft)));

const publicKeyOf = (draft: IdTokenDraft, type: "spki" | "pkcs1") =>
  createPublicKey(draft.privateKey).export({ type, format: "der" }) as Buffer;

const wholeHash = (text: string) => createHash("sha256").update(text).digest();

/** What has to be refused at a callback and at a refresh alike. */
export const REJECTED: readonly Rejected[] = [
  ["[IDT-1] iss missing", "iss", without("iss")],
  ["[IDT-1] iss null", "iss", claim("iss", null)],
  ["[IDT-1] iss empty", "iss", claim("iss", "")],
  ["[IDT-1] iss as a list", "iss", issuer((iss) => [iss])],
  ["[IDT-1] iss as an object", "iss", issuer((iss) => ({ [iss]: iss }))],

  ["[IDT-2] aud of another client", "aud", claim("aud", "other")],
  ["[IDT-2] aud missing", "aud", without("aud")],
  ["[IDT-2] aud null", "aud", claim("aud", null)],
  ["[IDT-2] aud empty", "aud", claim("aud", "")],
  ["[IDT-2] aud an empty list", "aud", claim("aud", [])],
  ["[IDT-2] aud a part of the client id", "aud", claim("aud", "test")],
  ["[IDT-2] aud longer than the client id", "aud", claim("aud", `${CLIENT}2`)],
  ["[IDT-2] aud in another letter case", "aud", claim("aud", "Test-Client")],
  ["[IDT-2] aud several in one text", "aud", claim("aud", `other ${CLIENT}`)],
  ["[IDT-2] aud a number", "aud", claim("aud", 1)],
  ["[IDT-2] aud an object", "aud", claim("aud", { [CLIENT]: true })],
  ["[IDT-2] aud a list of others", "aud", claim("aud", ["other"])],
  ["[IDT-2] aud a list in a list", "aud", claim("aud", [[CLIENT]])],

  ["[IDT-3] an additional audience that is no text", "aud", claim("aud", [CLIENT, null])],

  ["[IDT-4] azp of another client", "azp", claim("azp", "other")],
  ["[IDT-4] azp empty", "azp", claim("azp", "")],
  ["[IDT-4] azp null", "azp", claim("azp", null)],
  ["[IDT-4] azp a list", "azp", claim("azp", [CLIENT])],

  ["[IDT-5] [IDT-19] a flipped bit", "signature", withPart(2, (sig) => flippedBit(sig))],
  ["[IDT-5] a truncated signature", "signature", withPart(2, (sig) => sig.slice(0, -20))],
  ["[IDT-5] a longer signature", "signature", withPart(2, (sig) => `${sig}AAAA`)],
  ["[IDT-5] an empty third part", "signature", withPart(2, () => "")],
  [
    "[IDT-5] a signature of zeros",
    "signature",
    withPart(2, () => Buffer.alloc(256).toString("base64url")),
  ],
  [
    "[IDT-5] the signature of another token",
    "signature",
    ({ sign, header, claims }) => {
      const [first, second] = [
        sign(header, claims),
        sign(header, { ...claims, email: "eve@example.com" }),
      ];
      return `${part(second, 0)}.${part(second, 1)}.${part(first, 2)}`;
    },
  ],
  [
    "[IDT-5] a header that was not signed",
    "signature",
    ({ sign, header, claims }) => {
      const signed = sign(header, claims);
      return [encoded({ ...header, cty: "x" }), part(signed, 1), part(signed, 2)].join(".");
    },
  ],
  ["[IDT-5] another key under the right kid", "signature", byStranger()],
  ["[IDT-5] another key without a kid", "signature", byStranger({ kid: undefined })],

  ["[IDT-6] alg none", "alg", header({ alg: "none" })],
  ["[IDT-6] alg None", "alg", header({ alg: "None" })],
  ["[IDT-6] alg nOnE", "alg", header({ alg: "nOnE" })],
  [
    "[IDT-6] alg none over a right signature",
    "alg",
    withPart(0, () => encoded({ alg: "none", typ: "JWT" })),
  ],
  ["[IDT-6] alg empty", "alg", withPart(0, () => encoded({ alg: "", typ: "JWT" }))],
  ["[IDT-6] alg missing", "alg", header({ alg: undefined })],
  ["[IDT-6] alg a list", "alg", header({ alg: ["RS256"] })],
  [
    "[IDT-6] alg in another letter case",
    "alg",
    withPart(0, () => encoded({ alg: "rs256", typ: "JWT" })),
  ],
  [
    "[IDT-6] HS256 keyed with the public key as PEM",
    "alg",
    hs256(({ publicKeyPem }) => publicKeyPem),
  ],
  [
    "[IDT-6] HS256 keyed with the public key as PEM, trimmed",
    "alg",
    hs256(({ publicKeyPem }) => publicKeyPem.trim()),
  ],
  [
    "[IDT-6] HS256 keyed with the public key as DER",
    "alg",
    hs256((draft) => publicKeyOf(draft, "spki")),
  ],
  [
    "[IDT-6] HS256 keyed with the public key as PKCS #1",
    "alg",
    hs256((draft) => publicKeyOf(draft, "pkcs1")),
  ],
  [
    "[IDT-6] HS256 keyed with the public key as JWK",
    "alg",
    hs256(({ publicJwk }) => JSON.stringify(publicJwk)),
  ],
  [
    "[IDT-6] HS256 keyed with the modulus",
    "alg",
    hs256(({ publicJwk }) => Buffer.from(publicJwk["n"] as string, "base64url")),
  ],
  ["[IDT-6] HS256 keyed with the client secret", "alg", hs256(() => "test secret:+%/é")],
  ["[IDT-6] HS256 keyed with nothing", "alg", hs256(() => "")],
  [
    "[IDT-6] ES256 when RS256 is expected",
    "signature",
    (draft) => draft.sign({ ...draft.header, alg: "ES256" }, draft.claims, STRANGER_EC),
  ],
  ["[IDT-6] PS256 by a key for RS256", "signature", header({ alg: "PS256" })],
  ["[IDT-6] RS512 by a key for RS256", "at_hash", header({ alg: "RS512" })],

  ["[IDT-7] a key embedded in the header", "signature", byStranger({ jwk: STRANGER_JWK })],
  [
    "[IDT-7] jku of the attacker",
    "signature",
    (draft, attacker) => byStranger({ jku: `${attacker}/jwks` })(draft),
  ],
  [
    "[IDT-7] x5u of the attacker",
    "signature",
    (draft, attacker) => byStranger({ x5u: `${attacker}/x5u` })(draft),
  ],
  ["[IDT-7] x5c of the attacker", "signature", byStranger({ x5c: STRANGER_X5C })],
  [
    "[IDT-7] all of them, without a kid",
    "signature",
    (draft, attacker) =>
      byStranger({
        kid: undefined,
        jwk: STRANGER_JWK,
        jku: `${attacker}/jwks`,
        x5u: `${attacker}/x5u`,
        x5c: STRANGER_X5C,
      })(draft),
  ],

  ["[IDT-8] an unknown critical extension", "crit", header({ crit: ["x"], x: 1 })],
  ["[IDT-8] an empty list of critical extensions", "crit", header({ crit: [] })],
  ["[IDT-8] critical extensions that are no list", "crit", header({ crit: "x" })],
  ["[IDT-8] a critical extension that every reader knows", "crit", header({ crit: ["alg"] })],
  ["[IDT-8] b64 false", "crit", header({ b64: false, crit: ["b64"] })],
  ["[IDT-8] b64 false without crit", "crit", header({ b64: false })],

  ["[IDT-9] an access token", "typ", header({ typ: "at+jwt" })],
  ["[IDT-9] an access token by its whole media type", "typ", header({ typ: "application/at+jwt" })],
  ["[IDT-9] a logout token", "typ", header({ typ: "logout+jwt" })],
  ["[IDT-9] a security event", "typ", header({ typ: "secevent+jwt" })],
  ["[IDT-9] a typ that is no text", "typ", header({ typ: 1 })],

  ["[IDT-10] exp missing", "exp", without("exp")],
  ["[IDT-10] exp a string", "exp", claim("exp", "4102444800")],
  ["[IDT-10] exp null", "exp", claim("exp", null)],
  ["[IDT-10] exp a list", "exp", claim("exp", [4_102_444_800])],
  ["[IDT-10] exp negative", "exp", claim("exp", -1)],
  ["[IDT-10] exp NaN", "format", claimsText((text) => text.replace(/"exp":\d+/, '"exp":NaN'))],
  [
    "[IDT-10] exp beyond every number",
    "exp",
    claimsText((text) => text.replace(/"exp":\d+/, '"exp":1e999')),
  ],
  ["[IDT-10] exp 1e300", "exp", claim("exp", 1e300)],

  ["[IDT-11] iat missing", "iat", without("iat")],
  ["[IDT-11] iat a string", "iat", claim("iat", "1")],
  ["[IDT-11] iat null", "iat", claim("iat", null)],
  ["[IDT-11] iat negative", "iat", claim("iat", -1)],
  ["[IDT-11] iat 1e300", "iat", claim("iat", 1e300)],

  ["[IDT-12] nbf a string", "nbf", claim("nbf", "1")],
  ["[IDT-12] nbf null", "nbf", claim("nbf", null)],
  ["[IDT-12] nbf 1e300", "nbf", claim("nbf", 1e300)],

  ["[IDT-13] nonce of another login", "nonce", claim("nonce", "another")],
  ["[IDT-13] nonce null", "nonce", claim("nonce", null)],
  [
    "[IDT-13] nonce a list",
    "nonce",
    ({ claims }) => ({ claims: { ...claims, nonce: [claims["nonce"]] } }),
  ],

  ["[IDT-14] sub missing", "sub", without("sub")],
  ["[IDT-14] sub empty", "sub", claim("sub", "")],
  ["[IDT-14] sub null", "sub", claim("sub", null)],
  ["[IDT-14] sub a number", "sub", claim("sub", 7)],
  ["[IDT-14] sub an object", "sub", claim("sub", {})],
  ["[IDT-14] sub a list", "sub", claim("sub", ["ada-1815"])],
  ["[IDT-14] sub of 256 characters", "sub", claim("sub", "x".repeat(256))],
  ["[IDT-14] sub outside ASCII", "sub", claim("sub", "j\u00fcrgen")],
  ["[IDT-14] sub with a control character", "sub", claim("sub", "ada-1815\u0000")],

  [
    "[IDT-15] at_hash of another token",
    "at_hash",
    claim("at_hash", wholeHash("another").subarray(0, 16).toString("base64url")),
  ],
  [
    "[IDT-15] at_hash of the right token, whole",
    "at_hash",
    ({ claims }) => ({ claims: { ...claims, at_hash: `${String(claims["at_hash"])}AAAA` } }),
  ],
  ["[IDT-15] at_hash null", "at_hash", claim("at_hash", null)],
  ["[IDT-15] at_hash a number", "at_hash", claim("at_hash", 1)],

  ["[IDT-17] one part", "format", token((text) => part(text, 1))],
  ["[IDT-17] two parts", "format", token((text) => text.slice(0, text.lastIndexOf(".")))],
  ["[IDT-17] four parts", "format", token((text) => `${text}.x`)],
  ["[IDT-17] five parts, as an encrypted token", "format", token((text) => `${text}.x.y`)],
  ["[IDT-17] empty parts", "format", () => ".."],
  ["[IDT-17] padding", "format", withPart(1, (claims) => `${claims}=`)],
  ["[IDT-17] padding of the signature", "format", withPart(2, (sig) => `${sig}==`)],
  ["[IDT-17] the other base64 alphabet", "format", withPart(2, (sig) => `+/${sig.slice(2)}`)],
  ["[IDT-17] a line break at the end", "format", token((text) => `${text}\n`)],
  ["[IDT-17] a line break inside", "format", token((text) => text.replace(".", "\r\n."))],
  ["[IDT-17] white space before it", "format", token((text) => ` ${text}`)],
  ["[IDT-17] claims behind a byte order mark", "format", claimsText((text) => `\ufeff${text}`)],
  [
    "[IDT-17] claims that are no UTF-8",
    "format",
    withPart(1, () => Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")),
  ],
  ["[IDT-17] claims that are no JSON", "format", claimsText(() => "{")],
  ["[IDT-17] claims with something behind them", "format", claimsText((text) => `${text}x`)],
  ...(["[]", "null", "1", '"x"', "true"].map((text) => [
    `[IDT-17] claims that are ${text}`,
    "format",
    claimsText(() => text),
  ]) as Rejected[]),
  [
    "[IDT-17] a nested token",
    "format",
    (draft) => draft.sign(draft.header, `"${draft.sign(draft.header, draft.claims)}"`),
  ],
  ...(["[]", "null", "1", "{"].map((text) => [
    `[IDT-17] a header that is ${text}`,
    "format",
    (draft: IdTokenDraft) => draft.sign(text, draft.claims),
  ]) as Rejected[]),
  [
    "[IDT-17] a duplicate alg whose last is none",
    "alg",
    (draft) =>
      draft.sign(
        `${JSON.stringify(draft.header).slice(0, -1)},"alg":"none"}` as JsonPart,
        draft.claims,
      ),
  ],
  ["[IDT-17] a kid that is no text", "kid", header({ kid: 1 })],
  [
    "[IDT-17] a token beyond the size limit",
    "size",
    claim("filler", "x".repeat(MAX_ID_TOKEN_LENGTH)),
  ],
  ["[IDT-17] claims nested one level too deep", "format", claimsText(nested(MAX_LEVELS))],
  ["[IDT-17] claims nested deep enough to exhaust the stack", "format", claimsText(nested(80_000))],
  [
    "[IDT-17] a header nested deep enough to exhaust the stack",
    "format",
    (draft) =>
      draft.sign(nested(80_000)(JSON.stringify(draft.header)), draft.claims, draft.privateKey),
  ],
];

/**
 * What this machine's clock or the configuration can cause: never accepted, an outage that an
 * operator must end, and never the end of a session. At a callback and at a refresh alike.
 */
export const DOUBTED: readonly Rejected[] = [
  ["[IDT-1] iss with a trailing slash", "iss", issuer((iss) => `${iss}/`)],
  ["[IDT-1] iss in another letter case", "iss", issuer((iss) => iss.toUpperCase())],
  ["[IDT-1] iss over https", "iss", issuer((iss) => iss.replace("http:", "https:"))],
  ["[IDT-1] iss with a Unicode look-alike", "iss", issuer((iss) => iss.replace("h", "\u04bb"))],
  ["[IDT-1] iss with digits of full width", "iss", issuer((iss) => iss.replace("1", "\uff11"))],
  ["[IDT-1] iss with white space around it", "iss", issuer((iss) => ` ${iss} `)],
  ["[IDT-1] iss that only begins like ours", "iss", issuer((iss) => `${iss}.evil.example`)],
  ["[IDT-1] iss with a default path", "iss", issuer((iss) => `${iss}/.`)],
  ["[IDT-3] an additional audience", "aud", claim("aud", [CLIENT, "other"])],
  ["[IDT-3] an additional audience that comes first", "aud", claim("aud", ["other", CLIENT])],
  ["[IDT-10] exp zero", "exp", claim("exp", 0)],
  ["[IDT-10] exp passed by the tolerance", "exp", inSeconds("exp", -5)],
  ["[IDT-10] exp passed by the tolerance and a second", "exp", inSeconds("exp", -6)],
  ["[IDT-10] exp passed by the tolerance and a fraction", "exp", inSeconds("exp", -5.5)],
  ["[IDT-11] iat beyond the tolerance in the future", "iat", inSeconds("iat", 6)],
  ["[IDT-12] nbf beyond the tolerance in the future", "nbf", inSeconds("nbf", 6)],
  [
    "[IDT-4] several audiences without azp",
    "azp",
    ({ claims: { azp: _azp, ...claims } }) => ({ claims: { ...claims, aud: [CLIENT, CLIENT] } }),
  ],
  [
    "[IDT-17] a duplicate member whose last is wrong",
    "iss",
    claimsText((text) => `${text.slice(0, -1)},"iss":"https://evil.example"}`),
  ],
];

/** What has to be accepted at a callback and at a refresh alike. */
export const ACCEPTED: readonly (readonly [name: string, mutation: Mutation])[] = [
  ["[IDT-2] aud as text", claim("aud", CLIENT)],
  ["[IDT-2] aud as a list", claim("aud", [CLIENT])],
  ["[IDT-5] a token as the provider makes it", (draft) => draft],
  [
    "[IDT-7] a key in the header that did not sign it",
    (draft, attacker) => header({ jwk: STRANGER_JWK, jku: `${attacker}/jwks` })(draft, attacker),
  ],
  ["[IDT-9] no typ", header({ typ: undefined })],
  ["[IDT-9] typ in another letter case", header({ typ: "jwt" })],
  ["[IDT-10] exp of this second", inSeconds("exp", 0)],
  ["[IDT-10] exp passed by less than the tolerance", inSeconds("exp", -4)],
  ["[IDT-10] exp with a fraction", inSeconds("exp", 1800.5)],
  ["[IDT-11] iat at the end of the tolerance", inSeconds("iat", 5)],
  ["[IDT-12] nbf at the end of the tolerance", inSeconds("nbf", 5)],
  ["[IDT-12] nbf that has passed", inSeconds("nbf", -60)],
  ["[IDT-15] no at_hash", without("at_hash")],
  ["[IDT-15] at_hash empty, as providers written in Go send it", claim("at_hash", "")],
  [
    "[IDT-17] a duplicate member whose last is right",
    claimsText((text) => `{"iss":"https://evil.example",${text.slice(1)}`),
  ],
  ["[IDT-17] claims nested as deep as may be", claimsText(nested(MAX_LEVELS - 1))],
];

function flippedBit(signature: string): string {
  const bytes = Buffer.from(signature, "base64url");
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  return bytes.toString("base64url");
}

/** Adds a member that is a list in a list in a list. */
function nested(levels: number): (object: string) => string {
  return (object) => `${object.slice(0, -1)},"deep":${"[".repeat(levels)}${"]".repeat(levels)}}`;
}

export interface Attacker {
  readonly origin: string;
  readonly requests: string[];
  stop(): Promise<void>;
}

/** Serves keys that would make the stranger's tokens good, and counts who asks. */
export async function startAttacker(): Promise<Attacker> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ keys: [{ ...STRANGER_JWK, use: "sig", alg: "RS256" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
