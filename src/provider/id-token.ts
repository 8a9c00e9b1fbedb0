import { createHash } from "node:crypto";
import type { CompactJWSHeaderParameters } from "jose";
import { ProviderRefusedError, ProviderUnavailableError } from "../errors.js";
import type { IdInfo } from "../record/identity.js";
import { isObject, isTooDeep } from "../record/json.js";
import type { EpochSeconds } from "../clock.js";
import type { Jwks } from "./jwks.js";

/** Signature algorithms that an ID token may have at all: asymmetric ones (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
export const SIGNING_ALGORITHMS: readonly string[] = [
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
];

/** Characters; far beyond any honest token, far below what would hold up the process. */
export const MAX_ID_TOKEN_LENGTH = 256 * 1024;

/** 31 December 9999: a later `exp` is no date. */
const LAST_DATE: EpochSeconds = 253_402_300_799;

/** What an ID token has to fit. */
export interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly trustedAudiences: readonly string[];
  /** From the discovery document, never from the token. */
  readonly algorithms: readonly string[];
  /** The access token that came with it; `at_hash` is checked against it. */
  readonly accessToken: string;
  readonly now: EpochSeconds;
  /** Seconds by which the provider's clock and ours may differ. */
  readonly clockTolerance: number;
}

/**
 * Verifies an ID token (OpenID Connect Core section 3.1.3.7) and gives its claims. What the token itself shows to be wrong
 * is found before its keys are asked for, so that a bad token is refused even while they cannot be had.
 *
 * @param checkFlow what only a sign-in or only a refresh asks of the claims
 * @throws ProviderRefusedError `id_token_…`, named after what is wrong
 * @throws ProviderUnavailableError `jwks`: the keys for the signature cannot be fetched; `id_token_encrypted`: a misconfiguration
 */
export async function verifyIdToken(
  token: string,
  expected: Expected,
  jwks: Jwks,
  checkFlow: (claims: IdInfo) => void,
  signal?: AbortSignal,
): Promise<IdInfo> {
  const { header, claims } = readIdToken(token, expected.algorithms);
  checkClaims(claims, expected);
  checkAccessTokenHash(claims, header.alg, expected.accessToken);
  checkFlow(claims);
  if (!(await jwks.verify(token, header, signal))) throw refused("signature");
  return claims;
}

function refused(what: string): ProviderRefusedError {
  return new ProviderRefusedError(`id_token_${what}`);
}

/** Takes the token apart. Keys and addresses of keys in its header are never looked at: they would be the sender's own. */
export function readIdToken(token: string, algorithms: readonly string[]): { header: CompactJWSHeaderParameters; claims: IdInfo } {
  if (token.length > MAX_ID_TOKEN_LENGTH) throw refused("size");
  if (isEncrypted(token)) throw new ProviderUnavailableError("id_token_encrypted", { misconfigured: true });
  const parts = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/.exec(token);
  const header = decoded(parts?.[1]);
  const claims = decoded(parts?.[2]);
  if (header === undefined || claims === undefined) throw refused("format");
  const { alg, kid, typ } = header;
  if (typeof alg !== "string" || !algorithms.includes(alg) || !SIGNING_ALGORITHMS.includes(alg)) throw refused("alg");
  if (parts?.[3] === "") throw refused("signature");
  // No extension is understood here, and a critical one must be (RFC 7515 section 4.1.11); `b64` is one (RFC 7797).
  if ("crit" in header || "b64" in header) throw refused("crit");
  // Another kind of JWT from the same issuer must not pass for an ID token (RFC 8725 section 3.11).
  if (typ !== undefined && (typeof typ !== "string" || typ.toLowerCase() !== "jwt")) throw refused("typ");
  if (kid !== undefined && typeof kid !== "string") throw refused("kid");
  return { header: { alg, ...(kid !== undefined && { kid }) }, claims };
}

/** A JWE: five parts, and a header that names the encryption (RFC 7516 sections 3.1 and 4.1.2). */
function isEncrypted(token: string): boolean {
  const header = /^([A-Za-z0-9_-]+)(?:\.[A-Za-z0-9_-]*){4}$/.exec(token)?.[1];
  return typeof decoded(header)?.["enc"] === "string";
}

function decoded(part: string | undefined): Record<string, unknown> | undefined {
  if (part === undefined) return undefined;
  try {
    // Of members with one name the last one counts (RFC 7519 section 4).
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(part, "base64url")));
    return isObject(value) && !isTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The checks of sections 2 and 3.1.3.7 that every ID token has to pass. Pure. */
export function checkClaims(
  claims: IdInfo,
  expected: Pick<Expected, "issuer" | "clientId" | "trustedAudiences" | "now" | "clockTolerance">,
): void {
  const { issuer, clientId, trustedAudiences, now, clockTolerance } = expected;
  const { iss, sub, aud, azp, exp, iat } = claims;
  const nbf = claims["nbf"];
  if (iss !== issuer) throw refused("iss");
  if (typeof sub !== "string" || !/^[\x20-\x7e]{1,255}$/.test(sub)) throw refused("sub");
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId)) throw refused("aud");
  if (!audiences.every((audience) => audience === clientId || trustedAudiences.includes(audience as string))) throw refused("aud");
  if (azp === undefined ? audiences.length > 1 : azp !== clientId) throw refused("azp");
  if (!isDate(exp) || exp <= now - clockTolerance) throw refused("exp");
  if (!isDate(iat) || iat > now + clockTolerance) throw refused("iat");
  if (nbf !== undefined && (!isDate(nbf) || nbf > now + clockTolerance)) throw refused("nbf");
}

function isDate(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LAST_DATE;
}

/** The nonce of the login that asked for this token (section 3.1.3.7, step 11). Pure. */
export function checkNonce(claims: IdInfo, nonce: string): void {
  if (claims["nonce"] !== nonce) throw refused("nonce");
}

/** `at_hash`, when present, binds the access token to the ID token (section 3.1.3.6). Pure. */
export function checkAccessTokenHash(claims: IdInfo, alg: string, accessToken: string): void {
  const hash = claims["at_hash"];
  if (hash === undefined) return;
  const digest = createHash(alg.startsWith("Ed") ? "sha512" : `sha${alg.slice(-3)}`)
    .update(accessToken)
    .digest();
  if (hash !== digest.subarray(0, digest.length / 2).toString("base64url")) throw refused("at_hash");
}

/** What a refreshed ID token owes to its predecessor (section 12.2): nobody is ever switched to another account. Pure. */
export function checkContinuity(claims: IdInfo, previous: IdInfo, clockTolerance: number): void {
  if (claims.iss !== previous.iss) throw refused("iss");
  if (claims.sub !== previous.sub) throw refused("sub");
  // Absent stays absent.
  if (claims.azp !== previous.azp) throw refused("azp");
  if (typeof previous["iat"] === "number" && (claims["iat"] as number) < previous["iat"] - clockTolerance) throw refused("iat");
  const nonce = claims["nonce"];
  if (nonce !== undefined && nonce !== previous["nonce"]) throw refused("nonce");
}

/** Whether only userinfo can tell who this is (section 5.4). Pure. */
export function lacksIdentity({ email, name, picture }: IdInfo): boolean {
  return email === undefined && name === undefined && picture === undefined;
}
