/** The response to a request whose host isn't the application's. It doesn't repeat the host. */
import { ERRORS } from "../errors.js";
import { wantsPage } from "../http/accept.js";
import { problem, type Reply } from "../http/reply.js";
import type { IdpRequest } from "../http/request.js";
import { page } from "./page-reply.js";

const { status, title } = ERRORS.origin_unknown;

/**
 * Returns the response 421 (RFC 9110 section 15.5.20). The page has neither links nor the
 * application's name and style, because someone else's host shows it.
 */
export function unknownHostReply(request: IdpRequest): Reply {
  if (!wantsPage(request)) return problem("origin_unknown", `${title}.`);
  return page(
    status,
    `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1></html>\n`,
  );
}
