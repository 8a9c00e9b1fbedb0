import type { AnyReply, Reply } from "../../src/adapter.js";

/** The reply of an endpoint that sends no stream. */
export function textReply({ body, ...reply }: AnyReply): Reply {
  if (typeof body === "object") throw new TypeError("This endpoint sends a stream.");
  return { ...reply, ...(body !== undefined && { body }) };
}
