import type { Context } from "hono";
import type { Reply } from "../../index.js";
import { toResponse } from "../fetch/fetch.js";

/** An answer as Hono sends it, with what was put into `c.header` before, and into Vary and Set-Cookie in particular. */
export function respond(c: Context, reply: Reply): Response {
  const response = toResponse(reply, c.req.method);
  // Only an answer shows what was set before. Mostly there is nothing, and a plain Response is written much faster.
  if (isEmpty(c.newResponse(null).headers)) return response;
  for (const [name, value] of response.headers) c.header(name, value, { append: name === "vary" || name === "set-cookie" });
  return c.newResponse(c.req.method === "HEAD" ? null : (reply.body ?? null), reply.status as Parameters<Context["status"]>[0]);
}

function isEmpty(headers: Headers): boolean {
  return headers.keys().next().done === true;
}
