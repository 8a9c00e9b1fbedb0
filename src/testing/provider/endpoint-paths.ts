import { MISSING_AT_APPLE } from "./apple.js";
import type { Endpoint } from "./received-requests.js";
import type { ProviderSettings } from "./test-provider-settings.js";

/** The path of each endpoint, after the issuer. */
export const ENDPOINT_PATHS: Readonly<Record<Endpoint, string>> = {
  discovery: "/.well-known/openid-configuration",
  authorize: "/authorize",
  token: "/token",
  jwks: "/jwks",
  userinfo: "/userinfo",
  revoke: "/revoke",
  endSession: "/end-session",
  par: "/par",
  introspect: "/introspect",
};

/** Returns whether the provider has this endpoint. */
export function isOffered(endpoint: Endpoint, settings: ProviderSettings): boolean {
  if (settings.apple !== undefined && MISSING_AT_APPLE.includes(endpoint)) return false;
  if (endpoint === "par") return settings.pushedRequests || settings.requirePushedRequests;
  return endpoint !== "endSession" || settings.endSession === "supported";
}
