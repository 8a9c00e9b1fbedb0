import type { DemoAnswer } from "./answers.js";

/** An answer for hosts of the Fetch standard's style. */
export function responseOf({ status, headers, body }: DemoAnswer, method = "GET"): Response {
  return new Response(body === "" || method === "HEAD" ? null : body, { status, headers });
}
