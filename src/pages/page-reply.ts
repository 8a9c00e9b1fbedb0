/** The replies with HTML, and their Content-Security-Policy. Pure. */
import { COMMON_HEADERS, type Reply } from "../http/reply.js";
import type { PageContent } from "./page-description.js";

/**
 * Where forms may lead. Browsers also apply it to the redirects that follow a form, and a provider
 * may redirect to further ones.
 */
const FORM_ACTIONS = { none: "'none'", own: "'self'", "to-provider": "http: https:" } as const;

/**
 * Returns an HTML page. Its policy allows its stylesheet and its images, and forms only with `forms`.
 *
 * @param options `images`: the sources of its images, as the policy writes them; `scripts`: the
 *   source of its scripts, default none
 */
export function page(
  status: number,
  html: string,
  options: {
    images?: readonly string[];
    forms?: PageContent["forms"] | undefined;
    scripts?: string | undefined;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Reply {
  const { images = [], forms, scripts, headers } = options;
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(scripts === undefined ? [] : [`script-src ${scripts}`]),
    ...(images.length === 0 ? [] : [`img-src ${[...new Set(images)].join(" ")}`]),
    "base-uri 'none'",
    `form-action ${FORM_ACTIONS[forms ?? "none"]}`,
    "frame-ancestors 'none'",
  ].join("; ");
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy,
      "X-Frame-Options": "DENY",
      "Cross-Origin-Resource-Policy": "same-origin",
      // With no-referrer, browsers send `Origin: null` with a form.
      ...(forms !== undefined && { "Referrer-Policy": "same-origin" }),
      ...headers,
    },
    body: html,
  };
}

/** Returns an empty page that only pages of this origin may show in a frame. */
export function framedPage(parent: string): Reply {
  const headers = {
    ...COMMON_HEADERS,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors ${parent}`,
  };
  return { status: 200, headers, body: "<!doctype html><title>Signed out</title>" };
}
