import { decodeJwt } from "jose";
import type { ReceivedRequest, TestProvider } from "../../src/testing/provider/test-provider.js";

/**
 * Tells the requests that a provider refuses for want of a nonce from those that it looks at, where
 * each nonce works once.
 */
export class DemandedNonces {
  readonly #provider: TestProvider;
  /** The first request with each nonce. */
  readonly #first = new Map<string, ReceivedRequest>();
  #read = 0;

  constructor(provider: TestProvider) {
    this.#provider = provider;
  }

  /** Whether the provider looks at this request: it has a nonce that none had before it. */
  passes(request: ReceivedRequest): boolean {
    if (this.#provider.settings.dpopNonce === "none") return true;
    const { requests } = this.#provider;
    for (; this.#read < requests.length; this.#read += 1) this.#note(requests[this.#read]!);
    this.#note(request);
    const nonce = nonceOf(request);
    return nonce !== undefined && this.#first.get(nonce) === request;
  }

  #note(request: ReceivedRequest): void {
    const nonce = nonceOf(request);
    if (nonce !== undefined && !this.#first.has(nonce)) this.#first.set(nonce, request);
  }
}

function nonceOf({ headers: { dpop } }: ReceivedRequest): string | undefined {
  const nonce = dpop === undefined ? undefined : decodeJwt(String(dpop))["nonce"];
  return typeof nonce === "string" ? nonce : undefined;
}
