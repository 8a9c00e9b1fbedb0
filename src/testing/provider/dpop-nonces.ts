import { randomBytes } from "node:crypto";

/**
 * When a nonce is demanded. `none`: never. `always`: in each proof, and each nonce works once.
 * `rotates`: in each proof, and a nonce works until the next one replaces it. `refresh`: only to
 * refresh, and each nonce works once.
 */
export type NonceDemand = "none" | "always" | "rotates" | "refresh";

/** Unused nonces beyond this number are forgotten, the oldest first. */
const MOST_UNUSED = 10_000;

/** The nonces of a server that checks proofs (RFC 9449 sections 8 and 9). */
export class DpopNonces {
  readonly #unused = new Set<string>();
  #current: { readonly value: string; readonly since: number } | undefined;

  /** Returns a nonce that the next proof can have. @param now milliseconds */
  next(demand: NonceDemand, { now, seconds }: { now: number; seconds: number }): string {
    if (demand === "rotates") return this.#valid(now, seconds);
    const nonce = newNonce();
    this.#unused.add(nonce);
    for (const oldest of this.#unused) {
      if (this.#unused.size <= MOST_UNUSED) break;
      this.#unused.delete(oldest);
    }
    return nonce;
  }

  /** Returns whether a proof's nonce is right. One that works once is then spent. */
  takes(
    nonce: string | undefined,
    demand: NonceDemand,
    { now, seconds }: { now: number; seconds: number },
  ): boolean {
    if (nonce === undefined) return false;
    return demand === "rotates" ? nonce === this.#valid(now, seconds) : this.#unused.delete(nonce);
  }

  /** Ends every nonce of now. */
  rotate(): void {
    this.#current = undefined;
    this.#unused.clear();
  }

  #valid(now: number, seconds: number): string {
    if (this.#current === undefined || now >= this.#current.since + seconds * 1000)
      this.#current = { value: newNonce(), since: now };
    return this.#current.value;
  }
}

function newNonce(): string {
  return randomBytes(16).toString("base64url");
}
