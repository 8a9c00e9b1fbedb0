import { randomBytes } from "node:crypto";

const URI_PREFIX = "urn:ietf:params:oauth:request_uri:";

/** An authorization request that waits for its browser. */
interface PushedRequest {
  readonly params: URLSearchParams;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The pushed authorization requests that no browser has used yet. */
export class PushedRequests {
  readonly #waiting = new Map<string, PushedRequest>();

  /** Keeps a request and returns its `request_uri`. @param now milliseconds since the epoch */
  add(params: URLSearchParams, seconds: number, now: number): string {
    const uri = URI_PREFIX + randomBytes(24).toString("base64url");
    this.#waiting.set(uri, { params, expiresAt: now + seconds * 1000 });
    return uri;
  }

  /**
   * Returns the parameters that this client pushed; undefined if they expired, were used, or are
   * another client's.
   */
  find(uri: string, clientId: string | null, now: number): URLSearchParams | undefined {
    const request = this.#waiting.get(uri);
    return request !== undefined &&
      now < request.expiresAt &&
      request.params.get("client_id") === clientId
      ? request.params
      : undefined;
  }

  /** Ends a request, which is used once (section 4). */
  spend(uri: string): void {
    this.#waiting.delete(uri);
  }
}
