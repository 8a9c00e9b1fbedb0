import { queryOf, redirect, type IdpRequest, type Reply } from "../http/request-reply.js";
import { isAuthority, parseUrl } from "../http/redirects.js";
import type { EndpointContext } from "./context.js";
import type { Visit } from "./visit.js";
import { failureReply } from "./failure.js";

/** In the query of a login that we have sent to BASE_URL. Ignored where the Host is BASE_URL's. */
const HOP = "idp_hop";

const CAUSES =
  "Something between the browser and the application rewrites Host. Usual causes: `changeOrigin` in Vite's proxy, an Astro " +
  "`security.allowedDomains` that does not list this host, a proxy that names the host in X-Forwarded-Host while IDP_TRUST_PROXY is off, " +
  "or a BASE_URL with another host or port than browsers use.";

/**
 * Sends a login whose Host differs from BASE_URL's to the same address there, once: the cookie and the callback live there, so a
 * login that starts elsewhere could never finish. When it comes back, Host is rewritten, and to send it again would never end.
 *
 * @returns undefined: the Host is BASE_URL's, or there is none
 */
export function loginHop({ request, host }: Visit, query: URLSearchParams, context: EndpointContext): Reply | undefined {
  const { publicPath, baseUrl } = context.settings;
  if (baseUrl === null || isHostOf(baseUrl, host)) return undefined;
  if (query.getAll(HOP).includes("1")) return loopReply(request, host, baseUrl, context);
  return redirect(`${baseUrl}${publicPath}login/?${hoppedQuery(request)}`);
}

function isHostOf(baseUrl: string, host: string | undefined): boolean {
  const base = new URL(baseUrl);
  // Only hosts are compared: behind a proxy that ends TLS the schemes differ, and that must not loop.
  return parseUrl(`${base.protocol}//${host ?? ""}`)?.host === base.host;
}

function hoppedQuery(request: IdpRequest): string {
  const query = queryOf(request.target);
  // As it came, where a header can carry it: encoded anew it could be three times as long, and too long to be sent.
  const sendable = /^[\x21-\x7e]*$/.test(query) ? query : new URLSearchParams(query).toString();
  return `${sendable}${sendable === "" ? "" : "&"}${HOP}=1`;
}

function loopReply(request: IdpRequest, host: string | undefined, baseUrl: string, { settings, events }: EndpointContext): Reply {
  // A hostile Host is not repeated, neither to the user nor in the log.
  const seen = host !== undefined && isAuthority(host) ? `the Host header "${host}"` : "a Host header that is missing or no host name";
  const detail = `The login was sent to BASE_URL (${baseUrl}) and came back with ${seen}. ${CAUSES}`;
  const line = { level: "error", code: "login_loop", message: detail } as const;
  events.emit("failure", { during: "login", kind: "refusal", reason: "login_loop" }, line);
  return failureReply({ code: "login_loop", detail }, request, settings.publicPath, "json");
}
