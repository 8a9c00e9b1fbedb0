import type { DemoAnswer } from "./answers.js";

/** Returns a response for frameworks that use the Fetch standard. */
export function responseOf({ status, headers, body }: DemoAnswer, method = "GET"): Response {
  return new Response(body === "" || method === "HEAD" ? null : body, { status, headers });
}
