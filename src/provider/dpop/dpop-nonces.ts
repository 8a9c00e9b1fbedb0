/** The nonces that servers demand in proofs (RFC 9449 sections 8 and 9). */
import { isDpopNonce } from "../../record/dpop.js";

/** A provider has a handful of origins. */
const MAX_ORIGINS = 16;

/** The newest nonce of each origin of one provider, or of one API. */
export class DpopNonces {
  readonly #newest = new Map<string, string>();

  of(origin: string): string | undefined {
    return this.#newest.get(origin);
  }

  /**
   * Keeps the nonce of a response. Returns it; undefined if the response has none that could be
   * sent.
   *
   * @param value of the header `DPoP-Nonce`
   */
  keep(origin: string, value: string | null | undefined): string | undefined {
    if (!isDpopNonce(value)) return undefined;
    this.#newest.delete(origin);
    this.#newest.set(origin, value);
    const [oldest] = this.#newest.keys();
    if (this.#newest.size > MAX_ORIGINS && oldest !== undefined) this.#newest.delete(oldest);
    return value;
  }
}
