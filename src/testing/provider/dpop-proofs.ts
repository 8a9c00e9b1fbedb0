import { createHash } from "node:crypto";
import {
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  type ProtectedHeaderParameters,
} from "jose";
import { isPublicKey } from "./client-keys.js";
import { DpopNonces, type NonceDemand } from "./dpop-nonces.js";
import { printable } from "./replies.js";

/** The algorithms of proofs that a test provider and a test API accept by default. */
export const PROOF_ALGORITHMS: readonly string[] = ["ES256", "PS256", "EdDSA"];

/** A request with a proof. */
export interface ProvenRequest {
  /** The header `DPoP`. */
  readonly proof: string;
  readonly method: string;
  /** Absolute; query and fragment don't count. */
  readonly url: string;
  /** The access token that the request has. Undefined: it has none, so the proof needs no `ath`. */
  readonly accessToken?: string | undefined;
}

/** What a right proof tells. */
export interface Proof {
  /** The thumbprint of its key. */
  readonly jkt: string;
  readonly nonce: string | undefined;
}

export interface ProofRules {
  readonly algorithms: readonly string[];
  /** By how much `iat` may differ from the server's time. */
  readonly seconds: number;
  readonly nonce: NonceDemand;
  /** How long a nonce works that rotates. */
  readonly nonceSeconds: number;
}

/** What a server remembers to check proofs (RFC 9449 section 4.3). */
export class ProofCheck {
  readonly #nonces = new DpopNonces();
  /** Each `jti`, and when it can be forgotten, in milliseconds. */
  readonly #used = new Map<string, number>();
  readonly #rules: () => ProofRules;
  readonly #now: () => number;

  /** @param rules asked anew for each request */
  constructor(rules: () => ProofRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
  }

  /** Returns what the proof tells, or why it is wrong. The nonce is not checked. */
  async read(request: ProvenRequest): Promise<Proof | { readonly mistake: string }> {
    const rules = this.#rules();
    const verified = await verifiedProof(request.proof, rules.algorithms);
    if ("mistake" in verified) return verified;
    const { claims } = verified;
    const mistake = claimMistake(claims, request, { now: this.#now(), seconds: rules.seconds });
    if (mistake !== undefined) return { mistake };
    const { jti, nonce } = claims as { readonly jti: string; readonly nonce?: unknown };
    if (this.#used.has(jti)) return { mistake: "the proof was used before: its jti is known" };
    this.#remember(jti, rules.seconds);
    return { jkt: verified.jkt, nonce: typeof nonce === "string" ? nonce : undefined };
  }

  /** Returns whether a proof has the nonce that it must have. @param isRefresh of the request */
  hasNonce({ nonce }: Proof, isRefresh = false): boolean {
    const rules = this.#rules();
    if (rules.nonce === "none" || (rules.nonce === "refresh" && !isRefresh)) return true;
    return this.#nonces.takes(nonce, rules.nonce, this.#time(rules));
  }

  /** Returns the header `DPoP-Nonce` of a response that demands one. */
  demanded(): Readonly<Record<string, string>> {
    const rules = this.#rules();
    return { "DPoP-Nonce": this.#nonces.next(rules.nonce, this.#time(rules)) };
  }

  /**
   * Returns the header `DPoP-Nonce` of any other response to a proof (section 8.2). With `refresh`
   * there is none, so that each refresh meets the demand.
   */
  offered(): Readonly<Record<string, string>> {
    const { nonce } = this.#rules();
    return nonce === "always" || nonce === "rotates" ? this.demanded() : {};
  }

  rotate(): void {
    this.#nonces.rotate();
  }

  #time({ nonceSeconds }: ProofRules): { now: number; seconds: number } {
    return { now: this.#now(), seconds: nonceSeconds };
  }

  #remember(jti: string, seconds: number): void {
    const now = this.#now();
    for (const [known, until] of this.#used) {
      if (until > now) break;
      this.#used.delete(known);
    }
    // Its iat may be in the future by the same time.
    this.#used.set(jti, now + 2 * seconds * 1000 + 1000);
  }
}

type Claims = Readonly<Record<string, unknown>>;

async function verifiedProof(
  proof: string,
  algorithms: readonly string[],
): Promise<{ readonly jkt: string; readonly claims: Claims } | { readonly mistake: string }> {
  let header: ProtectedHeaderParameters;
  try {
    header = decodeProtectedHeader(proof);
  } catch {
    return { mistake: "the header DPoP isn't one signed JWT" };
  }
  const { typ, alg = "", jwk } = header;
  if (typ !== "dpop+jwt")
    return { mistake: `the proof's typ is ${printable(typ)}, and must be dpop+jwt` };
  if (!algorithms.includes(alg))
    return {
      mistake: `the proof's alg is ${printable(alg)}, and must be one of ${algorithms.join(", ")}`,
    };
  if (jwk === undefined || !isPublicKey(jwk))
    return { mistake: "the proof's jwk isn't a public key" };
  try {
    const { payload } = await compactVerify(proof, await importJWK(jwk as JWK, alg), {
      algorithms: [alg],
    });
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    return { jkt: await calculateJwkThumbprint(jwk), claims: Object(claims) as Claims };
  } catch {
    return { mistake: "the proof's signature isn't that of its jwk" };
  }
}

function claimMistake(
  { jti, htm, htu, iat, ath }: Claims,
  { method, url, accessToken }: ProvenRequest,
  { now, seconds }: { readonly now: number; readonly seconds: number },
): string | undefined {
  if (typeof jti !== "string" || jti === "") return "the proof has no jti";
  if (htm !== method) return `the proof's htm is ${printable(htm)}, and the request is a ${method}`;
  const target = withoutQuery(url);
  if (typeof htu !== "string" || !URL.canParse(htu) || new URL(htu).href !== target)
    return `the proof's htu is ${printable(htu)}, and the request is for ${target}`;
  if (typeof iat !== "number") return "the proof has no iat";
  const age = Math.floor(now / 1000) - iat;
  if (age > seconds) return `the proof is ${String(age)} seconds old by this server's clock`;
  if (-age > seconds)
    return `the proof's iat is ${String(-age)} seconds ahead of this server's clock`;
  if (accessToken === undefined) return undefined;
  if (ath === undefined) return "the proof has no ath";
  return ath === createHash("sha256").update(accessToken).digest("base64url")
    ? undefined
    : "the proof's ath is of another access token";
}

function withoutQuery(url: string): string {
  const target = new URL(url);
  target.search = "";
  target.hash = "";
  return target.href;
}
