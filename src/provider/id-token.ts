import { createHash } from "node:crypto";
import type { CompactJWSHeaderParameters } from "jose";
import type { EpochSeconds } from "../clock.js";
import { isSigningAlgorithm } from "../config/signing-algorithms.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { IdInfo } from "../record/identity.js";
import { isObject, isTooDeep } from "../record/json.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { Tenants } from "./allowed-tenants.js";
import type { Jwks } from "./key-fetches.js";
import type { Doubt } from "./token-doubts.js";

/** Far more than a real token has, and few enough to process quickly. */
export const MAX_ID_TOKEN_LENGTH = 256 * 1024;

/** 31 December 9999. A later `exp` is refused. */
const LAST_DATE_SECONDS: EpochSeconds = 253_402_300_799;

/** The expected values of a token's claims. */
export interface ExpectedClaims {
  readonly issuer: string;
  /** If the provider has several tenants, each token's issuer is that of its tenant instead. */
  readonly tenants?: Tenants | undefined;
  readonly clientId: string;
  readonly trustedAudiences: readonly string[];
  readonly now: EpochSeconds;
  /** Seconds by which the provider's clock and this machine's clock may differ. */
  readonly clockTolerance: number;
}

/** The expected values of an ID token. */
export interface Expected extends ExpectedClaims {
  /** From the setting or from the discovery document, never from the token. */
  readonly algorithms: readonly string[];
  /** Reads the algorithms from a newer discovery document. */
  readonly newerAlgorithms: () => Promise<readonly string[]>;
  /** The access token of the same response, for `at_hash`. */
  readonly accessToken: string;
}

/**
 * Checks the claims that only a sign-in or only a refresh has.
 *
 * @param doubts what the token's other claims leave in doubt
 * @returns the doubts that these claims add
 */
export type CheckFlow = (claims: IdInfo, doubts: readonly Doubt[]) => readonly Doubt[];

/** An ID token with its provider's signature. */
export interface VerifiedIdToken {
  readonly claims: IdInfo;
  /** Of the signature: `alg` of the header. */
  readonly algorithm: string;
  /** With any of them, the token must not be accepted. */
  readonly doubts: readonly Doubt[];
}

/** How an ID token is verified. */
interface Verification {
  readonly jwks: Jwks;
  /** Checks the claims that only a sign-in or only a refresh has. */
  readonly checkFlow: CheckFlow;
  /** Ends the wait for the keys. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Verifies an ID token (OpenID Connect Core section 3.1.3.7) and returns its claims. The claims are
 * checked before the keys are fetched, so that a wrong token is refused even if the keys cannot be
 * fetched. `jwtVerify` of jose needs the keys first.
 *
 * @throws ProviderRefusedError `id_token_…`, with the failed check
 * @throws ProviderUnavailableError `jwks`: the keys for the signature cannot be fetched;
 *   `id_token_encrypted`: a misconfiguration
 */
export async function verifyIdToken(
  token: string,
  expected: Expected,
  { jwks, checkFlow, signal }: Verification,
): Promise<VerifiedIdToken> {
  // Another kind of JWT from the same issuer is not an ID token (RFC 8725 section 3.11).
  const read = readJwt(token, ["jwt", undefined], refused);
  const { header } = read;
  const claims = withoutAbsent(read.claims);
  const general = checkClaims(claims, expected);
  checkAccessTokenHash(claims, header.alg, expected.accessToken);
  const doubts = [...general, ...checkFlow(claims, general)];
  const isAdvertised =
    expected.algorithms.includes(header.alg) ||
    (await expected.newerAlgorithms()).includes(header.alg);
  const { tenants } = expected;
  const keyFits = tenants && ((own: unknown) => tenants.keyFits(own, claims.iss));
  if (!(await jwks.verify({ token, header, keyFits }, signal))) throw refused("signature");
  const algorithm = header.alg;
  if (isAdvertised) return { claims, algorithm, doubts };
  return { claims, algorithm, doubts: [...doubts, { reason: "alg", value: algorithm }] };
}

/** The optional claims that providers written in Go send as an empty string. */
const OPTIONAL_CLAIMS = ["nonce", "at_hash", "sid", "acr"];

/** The claims without those that count as absent: empty optional ones, and no time of sign-in. */
export function withoutAbsent(claims: IdInfo): IdInfo {
  const isAbsent = ([name, value]: [string, unknown]) =>
    (value === "" && OPTIONAL_CLAIMS.includes(name)) ||
    (name === "auth_time" && typeof value === "number" && value <= 0);
  const entries = Object.entries(claims);
  return entries.some(isAbsent)
    ? Object.fromEntries(entries.filter((entry) => !isAbsent(entry)))
    : claims;
}

type Refused = (what: string) => ProviderRefusedError | ProviderUnavailableError;

function refused(what: string): ProviderRefusedError | ProviderUnavailableError {
  // The provider encrypts all of its ID tokens, so this is no single token's fault.
  if (what === "encrypted")
    return new ProviderUnavailableError("id_token_encrypted", { misconfigured: true });
  return new ProviderRefusedError(`id_token_${what}`);
}

/**
 * Decodes a token. Keys and key addresses in its header are ignored, since the sender could choose
 * them.
 *
 * @param types the allowed values of `typ`, in lower case; undefined: `typ` may be absent
 * @param refused returns the error for a failed check
 */
export function readJwt(
  token: string,
  types: readonly (string | undefined)[],
  refused: Refused,
): { header: CompactJWSHeaderParameters; type: string | undefined; claims: IdInfo } {
  if (token.length > MAX_ID_TOKEN_LENGTH) throw refused("size");
  if (isEncrypted(token)) throw refused("encrypted");
  const parts = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/.exec(token);
  const header = decoded(parts?.[1]);
  const claims = decoded(parts?.[2]);
  if (header === undefined || claims === undefined) throw refused("format");
  const { alg, kid, typ } = header;
  if (!isSigningAlgorithm(alg)) throw refused("alg");
  if (parts?.[3] === "") throw refused("signature");
  // No critical extension is supported (RFC 7515 section 4.1.11). `b64` is one (RFC 7797).
  if ("crit" in header || "b64" in header) throw refused("crit");
  if (typ !== undefined && typeof typ !== "string") throw refused("typ");
  const type = typ?.toLowerCase().replace(/^application\//, "");
  if (!types.includes(type)) throw refused("typ");
  if (kid !== undefined && typeof kid !== "string") throw refused("kid");
  return { header: withoutUndefined({ alg, kid }), type, claims };
}

/**
 * Whether a token is a JWE: five parts, and a header with `enc` (RFC 7516 sections 3.1 and 4.1.2).
 */
function isEncrypted(token: string): boolean {
  const header = /^([A-Za-z0-9_-]+)(?:\.[A-Za-z0-9_-]*){4}$/.exec(token)?.[1];
  return typeof decoded(header)?.["enc"] === "string";
}

function decoded(part: string | undefined): Record<string, unknown> | undefined {
  if (part === undefined) return undefined;
  try {
    // Of duplicate members, the last one counts (RFC 7519 section 4).
    const value: unknown = JSON.parse(
      new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        Buffer.from(part, "base64url"),
      ),
    );
    return isObject(value) && !isTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks for whom a token is and when it is valid, as ID tokens and logout tokens have it
 * (section 3.1.3.7). Pure.
 *
 * @returns the issuer that was expected, and the doubts
 */
export function checkIssuance(
  claims: IdInfo,
  expected: ExpectedClaims,
  refused: Refused,
): { issuer: string; iat: EpochSeconds; doubts: readonly Doubt[] } {
  const { tenants, clientId, trustedAudiences, now, clockTolerance } = expected;
  const { iss, aud, exp, iat } = claims;
  const nbf = claims["nbf"];
  const issuer = tenants === undefined ? expected.issuer : tenants.issuerFor(claims);
  if (typeof iss !== "string" || iss === "") throw refused("iss");
  const audiences = audiencesOf(aud);
  if (!audiences.includes(clientId) || !audiences.every((one) => typeof one === "string"))
    throw refused("aud");
  const untrusted = audiences.find((one) => one !== clientId && !trustedAudiences.includes(one));
  if (!isDate(exp)) throw refused("exp");
  if (!isDate(iat)) throw refused("iat");
  if (nbf !== undefined && !isDate(nbf)) throw refused("nbf");
  const doubts: Doubt[] = [];
  if (iss !== issuer) doubts.push({ reason: "iss", value: iss });
  if (untrusted !== undefined) doubts.push({ reason: "aud", value: untrusted });
  if (exp <= now - clockTolerance) doubts.push({ reason: "exp", seconds: Math.ceil(now - exp) });
  if (iat > now + clockTolerance) doubts.push({ reason: "iat", seconds: Math.ceil(iat - now) });
  if (nbf !== undefined && nbf > now + clockTolerance)
    doubts.push({ reason: "nbf", seconds: Math.ceil(nbf - now) });
  return { issuer, iat, doubts };
}

function audiencesOf(aud: unknown): readonly unknown[] {
  return Array.isArray(aud) ? aud : [aud];
}

/** Whether a `sub` may be used (section 2). */
export function isSubject(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value);
}

/**
 * Whether a `sid` may be used. No standard limits it; this bound applies to sign-ins and logout
 * tokens.
 */
export function isSid(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]{1,1000}$/.test(value);
}

/** Checks the claims that every ID token has (sections 2 and 3.1.3.7). Returns the doubts. Pure. */
export function checkClaims(claims: IdInfo, expected: ExpectedClaims): readonly Doubt[] {
  const { sub, aud, azp } = claims;
  const { doubts } = checkIssuance(claims, expected, refused);
  if (!isSubject(sub)) throw refused("sub");
  if (azp !== undefined && azp !== expected.clientId) throw refused("azp");
  if (claims["session_expiry"] !== undefined && !isDate(claims["session_expiry"]))
    throw refused("session_expiry");
  return azp === undefined && isForSeveral(aud) ? [...doubts, { reason: "azp" }] : doubts;
}

function isForSeveral(aud: unknown): boolean {
  return audiencesOf(aud).length > 1;
}

/**
 * Checks that the provider's session can be stored: its time limit has not passed, because such a
 * session would end at once, and its `sid` can be named by a logout token. Pure.
 */
export function checkProviderSession(claims: IdInfo, now: EpochSeconds): void {
  const { session_expiry: expiry, sid } = claims as {
    readonly session_expiry?: unknown;
    readonly sid?: unknown;
  };
  if (isDate(expiry) && expiry <= now) throw refused("session_expiry");
  // Another value counts as none.
  if (typeof sid === "string" && sid !== "" && !isSid(sid)) throw refused("sid");
}

/** Whether a claim is a time in epoch seconds, until the year 9999. */
export function isDate(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LAST_DATE_SECONDS;
}

/** Checks the nonce of the login that requested this token (section 3.1.3.7, step 11). Pure. */
export function checkNonce(claims: IdInfo, nonce: string): void {
  if (claims["nonce"] !== nonce) throw refused("nonce");
}

/**
 * Checks `at_hash`, if present: it binds the access token to the ID token (section 3.1.3.6). Pure.
 */
export function checkAccessTokenHash(claims: IdInfo, alg: string, accessToken: string): void {
  const hash = claims["at_hash"];
  if (hash === undefined) return;
  const digest = createHash(alg.startsWith("Ed") ? "sha512" : `sha${alg.slice(-3)}`)
    .update(accessToken)
    .digest();
  if (hash !== digest.subarray(0, digest.length / 2).toString("base64url"))
    throw refused("at_hash");
}

/** How strictly a refreshed ID token is compared. */
interface Continuity {
  /** Seconds by which the clocks may differ. */
  readonly clockTolerance: number;
  /** What the token's own claims leave in doubt. */
  readonly doubts: readonly Doubt[];
}

/**
 * Checks a refreshed ID token against the previous one, so that a session never changes its user
 * (section 12.2). Returns the doubts. Pure.
 */
export function checkContinuity(
  claims: IdInfo,
  previous: IdInfo,
  { clockTolerance, doubts }: Continuity,
): readonly Doubt[] {
  const isDoubted = (reason: Doubt["reason"]) => doubts.some((doubt) => doubt.reason === reason);
  if (claims.iss !== previous.iss && !isDoubted("iss")) throw refused("iss");
  if (claims.sub !== previous.sub) throw refused("sub");
  // An azp that comes later is our own client, as the other checks require.
  const hasLostAzp = claims.azp === undefined && previous.azp !== undefined;
  if (hasLostAzp && !isForSeveral(claims.aud)) throw refused("azp");
  const { iat: before } = previous;
  const iat = claims["iat"] as number;
  // The provider repeats the old token. Each refresh would spend another refresh token, for ever.
  if (isDoubted("exp") && iat <= (typeof before === "number" ? before : Infinity))
    throw refused("exp");
  const nonce = claims["nonce"];
  if (nonce !== undefined && nonce !== previous["nonce"]) throw refused("nonce");
  const older = typeof before === "number" ? before - iat : 0;
  return older > clockTolerance
    ? [{ reason: "iat", seconds: Math.ceil(older), isOlder: true }]
    : [];
}
