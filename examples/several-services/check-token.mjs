// @ts-check
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

/** Errors of jose that say nothing about the token: the provider's keys couldn't be read. */
const NO_KEYS = ["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"];

/**
 * Returns a function that checks a request's access token (RFC 9068): its signature, its issuer,
 * its lifetime, and whether it's for this service.
 * @param {string} name of the service: its scope, and a part of its audience
 */
export function tokenCheck(name) {
  const keys = createRemoteJWKSet(new URL(process.env["JWKS_URI"] ?? ""));
  const rules = {
    issuer: process.env["IDP_ISSUER"] ?? "",
    audience: `https://${name}.example.com`, // without it, tokens for other services would pass
    typ: "at+jwt", // an ID token isn't an access token
    algorithms: ["RS256", "PS256", "ES256"],
    requiredClaims: ["exp", "sub"],
  };

  /**
   * @param {string | undefined} authorization the header
   * @returns {Promise<{ status: number, error?: string, sub?: string }>}
   */
  return async (authorization) => {
    const [, token] = /^Bearer (\S+)$/i.exec(authorization ?? "") ?? [];
    if (token === undefined) return { status: 401, error: "invalid_token" };
    try {
      const { payload } = await jwtVerify(token, keys, rules);
      const scopes = String(payload.scope ?? "").split(" ");
      if (!scopes.includes(name)) return { status: 403, error: "insufficient_scope" };
      return { status: 200, sub: payload.sub ?? "" };
    } catch (error) {
      // 401 would make the gateway get a new token, which doesn't help if the keys are missing.
      if (!(error instanceof errors.JOSEError) || NO_KEYS.includes(error.code))
        return { status: 503, error: "keys_unavailable" };
      return { status: 401, error: "invalid_token" };
    }
  };
}
