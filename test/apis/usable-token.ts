import type { AccessToken } from "../../src/record/dpop.js";
import type { Reply } from "../../src/http/reply.js";

/** Returns what an exchange gives of a bearer token; a reply stays as it is. */
export function usable(token: string | Reply): AccessToken | Reply {
  return typeof token === "string" ? { value: token } : token;
}
