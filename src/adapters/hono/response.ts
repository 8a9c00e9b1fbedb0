import type { Context } from "hono";
import type { AnyReply } from "../../index.js";
import { toResponse } from "../fetch/fetch.js";

/** A reply as Hono sends it. Headers that were set with `c.header` before stay, in Vary and Set-Cookie beside those of the reply. */
export function respond(c: Context, reply: AnyReply): Response {
  const response = toResponse(reply, c.req.method);
  // Only a new response shows which headers were set before. Usually there are none, and a plain Response is written much faster.
  if (isEmpty(c.newResponse(null).headers)) return response;
  for (const [name, value] of response.headers) c.header(name, value, { append: name === "vary" || name === "set-cookie" });
  return c.newResponse(c.req.method === "HEAD" ? null : (reply.body ?? null), reply.status as Parameters<Context["status"]>[0]);
}

function isEmpty(headers: Headers): boolean {
  return headers.keys().next().done === true;
}
