import { isOutage } from "../core/errors.js";
import { identityOf } from "../core/events.js";
import { isPrefetch, json, queryOf, redirect, type Reply } from "../core/http.js";
import type { Credentials } from "../core/record.js";
import { LOGOUT_RESPONSES } from "../core/redirects.js";
import type { EndpointContext, Visit } from "./context.js";
import { failureReply, outageReply } from "./failure.js";
import { badParameters, choice } from "./parameters.js";

/** GET {mountPath}logout/: ends the session, then gives the token back to the provider. */
export async function logout(visit: Visit, context: EndpointContext): Promise<Reply> {
  const { request, session } = visit;
  const { settings, events } = context;
  const { publicPath } = settings;
  if (isPrefetch(request)) return failureReply({ code: "prefetch_refused" }, request, publicPath, "json");
  const response = choice(new URLSearchParams(queryOf(request.target)), "response", LOGOUT_RESPONSES, "redirect");
  if (typeof response !== "string") {
    events.refused("logout", "invalid_parameter");
    return badParameters([response], request, publicPath);
  }
  try {
    // Destroyed first: a provider that hangs must not keep a session alive.
    const record = await session.destroy();
    const started = context.clock.monotonic();
    const revoked = record?.credentials === undefined ? null : await revoke(record.credentials, context);
    if (record?.credentials !== undefined) {
      // Of the revocation alone, where there was one.
      const duration = revoked === null ? undefined : context.clock.monotonic() - started;
      events.emit("logout", { ...identityOf(record.id_info), revoked, ...(duration !== undefined && { duration }) });
    }
  } catch (error) {
    if (isOutage(error)) events.failed("logout", error);
    return outageReply(error, request, publicPath, { label: "Try again", href: `${publicPath}logout/` });
  }
  const reply = response === "json" ? json({ status: "logged_out" }) : redirect(settings.authLogoutRedirectUrl ?? publicPath);
  return { ...reply, setCookies: session.setCookies };
}

/** The refresh token where there is one: with it the provider also drops the access tokens made from it (RFC 7009). */
async function revoke(credentials: Credentials, { settings, provider }: EndpointContext): Promise<boolean | null> {
  if (!settings.tokenRevokeOnLogout) return null;
  return credentials.refresh_token === undefined
    ? provider.revoke(credentials.token, "access_token")
    : provider.revoke(credentials.refresh_token, "refresh_token");
}
