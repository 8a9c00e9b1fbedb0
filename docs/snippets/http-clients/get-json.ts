import { auth } from "./auth.js";

/** A response that isn't a success. */
export class HttpError extends Error {
  readonly status: number;
  /** Milliseconds until it makes sense to try again. */
  readonly retryAfter: number;

  constructor({ status, headers }: Response) {
    super(`The server responded with ${status}.`);
    this.status = status;
    this.retryAfter = 1000 * Number(headers.get("Retry-After") ?? 1);
  }
}

export async function getJson(url: string, signal?: AbortSignal) {
  const response = await auth.fetch(url, { signal: signal ?? null });
  if (!response.ok) throw new HttpError(response);
  return response.json();
}

/** Whether the network failed, or the server or a proxy in front of it reported an outage. */
export function isOutage(error: unknown): boolean {
  const isUnavailable = error instanceof HttpError && [502, 503, 504].includes(error.status);
  return error instanceof TypeError || isUnavailable;
}
