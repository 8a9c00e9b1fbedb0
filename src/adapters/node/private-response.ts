import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { GUARDED_CACHE_CONTROL, varyByCookie } from "../../index.js";
import type { AnyResponse } from "./message.js";
import { headerText } from "./reply.js";

type WriteHead = (status: number, ...rest: readonly unknown[]) => ServerResponse;

/**
 * Keeps a guarded response out of every cache: it sets `Cache-Control: private, no-store`, unless the application sets its own, and
 * adds Cookie to Vary. For adapters: call it when the user may pass.
 */
export function keepPrivate(response: AnyResponse): void {
  if (response.headersSent) return;
  const either = response as ServerResponse;
  // Set early, because libraries that send files (`send`, serve-static, koa-send) set a Cache-Control only if there is none.
  if (!either.hasHeader("Cache-Control")) either.setHeader("Cache-Control", GUARDED_CACHE_CONTROL);
  keepHeadPrivate(response);
}

/** As `keepPrivate`, for frameworks that hold the headers themselves until they write the head. */
export function keepHeadPrivate(response: AnyResponse): void {
  const either = response as ServerResponse;
  const { writeHead } = either as unknown as { writeHead: WriteHead };
  // Node has no event before the head is written; express-session and compression replace this method for the same reason.
  either.writeHead = ((status, ...rest) => {
    if (either.headersSent) return writeHead.call(either, status, ...rest);
    const [reason, given] = typeof rest[0] === "string" ? [rest[0], rest[1]] : [undefined, rest[0] ?? rest[1]];
    const headers = privateHead(either, given as OutgoingHttpHeaders | readonly unknown[] | undefined);
    return reason === undefined ? writeHead.call(either, status, headers) : writeHead.call(either, status, reason, headers);
  }) satisfies WriteHead;
}

/**
 * Adds the two headers. The headers that `writeHead` was given replace those that the response has.
 *
 * @returns the headers to give to `writeHead`
 */
function privateHead(response: ServerResponse, given: OutgoingHttpHeaders | readonly unknown[] | undefined) {
  const named = Array.isArray(given) ? undefined : (given as OutgoingHttpHeaders | undefined);
  if (Array.isArray(given)) setLines(response, given);
  let hasCacheControl = false;
  let vary: string | undefined;
  for (const name in named) {
    const lower = name.toLowerCase();
    if (lower === "cache-control") hasCacheControl = true;
    else if (lower === "vary") vary = name;
  }
  if (!hasCacheControl && !response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", GUARDED_CACHE_CONTROL);
  const before = headerText(vary === undefined ? response.getHeader("Vary") : named?.[vary]);
  const after = varyByCookie(before);
  if (after === before) return named;
  if (vary !== undefined) return { ...named, [vary]: after };
  response.setHeader("Vary", after);
  return named;
}

/** Sets header lines, which replace headers of the same names. On Node 20 `writeHead` keeps only the last Set-Cookie line. */
function setLines(response: ServerResponse, given: readonly unknown[]): void {
  const lines = given.flat() as OutgoingHttpHeader[];
  for (let at = 0; at < lines.length; at += 2) response.removeHeader(String(lines[at]));
  for (let at = 0; at + 1 < lines.length; at += 2) response.appendHeader(String(lines[at]), lines[at + 1] as string | string[]);
}
