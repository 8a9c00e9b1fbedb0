import type { Duplex } from "node:stream";
import { IdpAuthError } from "../errors.js";
import type { HeaderLines } from "./request-headers.js";

/** The body of a request, which nothing has read yet. `Body` is what the transport sends. */
export interface IncomingBody<Body> {
  readonly stream: Body;
  /** Other code has read the body, or is reading it. */
  readonly isUsed: boolean;
  /** Whether all of it has arrived, so that `bytes` waits for nothing. False: that isn't known. */
  readonly hasArrived: boolean;
  /** Reads the body whole. Rejects if the browser breaks it off. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** A request to an API. */
export interface ApiRequest<Body> {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case, without those about the connection and the length of the body. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array<ArrayBuffer> | Body | undefined;
  /** The length of a stream in bytes; undefined if it isn't known. */
  readonly length: number | undefined;
  /** Whether the API's time limit ends with the head: its body may take as long as it likes. */
  readonly timesHeadOnly?: boolean;
  /**
   * Gets the function that breaks off the request and its response. The reason is an error of ours,
   * or the caller's.
   */
  onAbort(abort: (reason: Error) => void): void;
  /**
   * Gets the function that ends an event stream in order before the API does. Absent: it isn't
   * ended.
   */
  readonly endsBy?: ((end: () => void) => void) | undefined;
  /** The protocol that the connection is to change to. */
  readonly upgrade?: "websocket";
}

/** The statuses of responses that never have a body (RFC 9110 section 6.4.1). */
export const BODILESS: readonly number[] = [204, 205, 304];

/** A response of an API. */
export interface ApiResponse<Stream> {
  readonly status: number;
  readonly lines: HeaderLines;
  readonly body: Stream;
  /** Returns the body if it has arrived whole with the head. */
  whole?(): Uint8Array | undefined;
  /** The connection, if the API has upgraded it to a WebSocket: both ends may send. */
  readonly upgraded?: Duplex;
  /** Reads no body. Every response whose body isn't sent on needs it. */
  discard(): void;
}

/**
 * Sends a request to an API, and follows no redirect. Only a request without a body that changes
 * nothing can be sent twice: if its connection closes before any byte of a response.
 *
 * @throws IdpAuthError `api_unreachable`, `api_timeout`, or the reason for which it was broken off
 */
export type Transport<Stream, Body = Stream> = (
  request: ApiRequest<Body>,
) => Promise<ApiResponse<Stream>>;

/**
 * Returns the error itself if it is one of ours, such as the reason of a signal; otherwise it is
 * the connection's.
 */
export function asApiError(error: unknown): IdpAuthError {
  if (error instanceof IdpAuthError) return error;
  return new IdpAuthError("api_unreachable", "The connection to the API failed.", { cause: error });
}

export function apiTimeout(): IdpAuthError {
  return new IdpAuthError("api_timeout", "The API sent nothing for too long.");
}
