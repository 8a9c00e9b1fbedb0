import type { ServerResponse } from "node:http";
import { isOutage } from "../../index.js";
import { writeReply, type AnyResponse } from "./message.js";

/**
 * What a listener answers whose handler failed, where the application does not say: 503 in an outage of provider or store, else
 * 500 with the error on stderr, as Node itself would print it before it ended the process. Nothing of an error is sent.
 */
export function answerError(error: unknown, _request: unknown, response: AnyResponse): void {
  const status = isOutage(error) ? 503 : 500;
  if (status === 500) process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  if (response.headersSent) {
    // Half an answer is out: only a broken connection says that it is not the whole one.
    response.destroy();
    return;
  }
  const either = response as ServerResponse;
  // What the handler said of an answer that it did not finish, such as its length, is not true of this one.
  for (const name of either.getHeaderNames()) either.removeHeader(name);
  const headers = {
    "Cache-Control": "no-store",
    "Content-Type": "text/plain; charset=utf-8",
    ...(status === 503 && { "Retry-After": retryAfter(error) }),
  };
  writeReply(response, { status, headers, body: status === 503 ? "Service Unavailable" : "Internal Server Error" });
}

function retryAfter(error: unknown): string {
  return String((error as { readonly retryAfter?: number }).retryAfter ?? 1);
}
