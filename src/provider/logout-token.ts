import { ProviderRefusedError } from "../errors.js";
import type { LogoutToken } from "../ports/provider.js";
import type { IdInfo } from "../record/identity.js";
import { isObject } from "../record/json.js";
import { isDate, readJwt, type Expected } from "./id-token.js";
import type { Jwks } from "./jwks.js";

/** The member of `events` by which a token is a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). */
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Characters. A logout token has few claims, and anyone can send one. */
const MAX_LENGTH = 16 * 1024;

export interface ExpectedLogout extends Omit<Expected, "accessToken"> {
  /** Whether a token without `typ` is accepted, as older providers send it. */
  readonly allowUntyped: boolean;
}

/**
 * Verifies a logout token (Back-Channel Logout 1.0 section 2.6). Checks the claims first, so that most forged tokens cost no signature check.
 *
 * @throws ProviderRefusedError `logout_token_…`, with the failed check
 * @throws ProviderUnavailableError `jwks`: the keys for the signature cannot be fetched
 */
export async function verifyLogoutToken(token: string, expected: ExpectedLogout, jwks: Jwks): Promise<LogoutToken> {
  if (token.length > MAX_LENGTH) throw refused("size");
  const types = expected.allowUntyped ? ["logout+jwt", "jwt", undefined] : ["logout+jwt"];
  const { header, claims } = readJwt(token, expected.algorithms, types, refused);
  const logout = checkLogoutClaims(claims, expected);
  const { tenants } = expected;
  const keyFits = tenants && ((own: unknown) => tenants.keyFits(own, claims.iss));
  if (!(await jwks.verifyUnasked(token, header, keyFits))) throw refused("signature");
  return logout;
}

function refused(what: string): ProviderRefusedError {
  return new ProviderRefusedError(`logout_token_${what}`);
}

/** Checks the claims of a logout token (sections 2.4 and 2.6). Pure. */
export function checkLogoutClaims(claims: IdInfo, expected: Omit<ExpectedLogout, "algorithms" | "allowUntyped">): LogoutToken {
  const { tenants, clientId, now, clockTolerance } = expected;
  const { iss, aud, exp, iat, sub, sid } = claims;
  const issuer = tenants === undefined ? expected.issuer : tenants.issuerFor(claims);
  if (iss !== issuer) throw refused("iss");
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId)) throw refused("aud");
  if (!isDate(iat) || iat > now + clockTolerance) throw refused("iat");
  if (!isDate(exp) || exp <= now - clockTolerance) throw refused("exp");
  const events = claims["events"];
  if (!isObject(events) || !Object.hasOwn(events, LOGOUT_EVENT) || !isObject(events[LOGOUT_EVENT])) throw refused("events");
  // A token with a nonce may be an ID token, which browsers receive.
  if ("nonce" in claims) throw refused("nonce");
  if (sub === undefined && sid === undefined) throw refused("sub");
  if (sub !== undefined && !isName(sub)) throw refused("sub");
  if (sid !== undefined && !isName(sid)) throw refused("sid");
  return { iat, issuer, ...(sub !== undefined && { sub }), ...(sid !== undefined && { sid }) };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value);
}
