/**
 * Requests of the application to an API over undici: those whose body is a stream, which the
 * `fetch` of Node.js would keep in memory, and those to an API with a `dispatcher` or a certificate.
 */
import type { Readable } from "node:stream";
import type { Clock } from "../clock.js";
import { IdpAuthError } from "../errors.js";
import type { Shutdown } from "../work/shutdown.js";
import { transportTo } from "./api-connections.js";
import { isStreamBody, type StreamRequest } from "./fetch-api.js";
import { exactly } from "./request-bodies.js";
import { BODILESS, type ApiResponse } from "./transport.js";
import { decoded, webStream } from "./web-responses.js";

/** About the connection, or about the body, which are ours. */
const OWN_HEADERS =
  /^(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Sends a request as `fetch` does, and follows no redirect.
 *
 * @throws IdpAuthError `api_unreachable`, `api_timeout`, `api_response_invalid`; the reason of the
 *   caller's signal
 */
export async function sendStream(
  { api, url, init }: StreamRequest,
  clock: Clock,
  shutdown?: Shutdown,
): Promise<Response> {
  const request = new Request(url, Object.assign({}, init, { duplex: "half" }));
  const { method, headers, body, signal } = request;
  // The length of what is no stream is known.
  const whole =
    body === null || isStreamBody(init.body)
      ? undefined
      : new Uint8Array(await request.arrayBuffer());
  // Afterwards, because the caller may abort while a file is read.
  signal.throwIfAborted();
  const sent = new Map([...headers].filter(([name]) => !OWN_HEADERS.test(name)));
  if (!sent.has("accept-encoding")) sent.set("accept-encoding", "identity");
  if (!sent.has("accept")) sent.set("accept", "*/*");
  const told = headers.get("content-length");
  const length = told === null ? undefined : Number(told);
  let abort: (reason: Error) => void = () => undefined;
  const aborted = () => {
    abort(signal.reason as Error);
  };
  signal.addEventListener("abort", aborted, { once: true });
  try {
    const response = await transportTo(
      api,
      clock,
      shutdown,
    )({
      method,
      url,
      headers: sent,
      body: whole ?? (body === null ? undefined : exactly(body, length, wrongLength)),
      length,
      timesHeadOnly: true,
      onAbort: (given) => (abort = given),
    });
    response.body.once("close", () => {
      signal.removeEventListener("abort", aborted);
    });
    return responseOf(response, url, method);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function wrongLength(): Error {
  return new TypeError("The body has another length than its Content-Length says.");
}

function responseOf(received: ApiResponse<Readable>, url: URL, method: string): Response {
  const { status, lines } = received;
  const headers = new Headers();
  for (let at = 0; at < lines.length; at += 2) headers.append(lines[at] ?? "", lines[at + 1] ?? "");
  const isBodiless = method === "HEAD" || BODILESS.includes(status);
  if (isBodiless || status < 200 || status > 599) received.discard();
  if (status < 200 || status > 599)
    throw new IdpAuthError("api_response_invalid", "The API sent a status that doesn't exist.");
  // APIs may compress it without being asked.
  const plain = () => webStream(decoded(received.body, headers.get("content-encoding") ?? ""));
  const response = new Response(isBodiless ? null : plain(), {
    status,
    headers,
  });
  return Object.defineProperty(response, "url", { value: url.href });
}
