import { logLine } from "../events/log-lines.js";
import { refreshDoubt } from "./authorization-request.js";
import type { ProviderConnection } from "./provider-connection.js";
import type { ProviderMetadata } from "./provider-metadata.js";

/** Log lines about whether logins bring a refresh token. */
export interface RefreshTokenReports {
  /** The startup checks report the same of an explicit SCOPE. */
  warnOfScopes(metadata: ProviderMetadata): void;
  /** Takes back W004, and W103 of `idpauth check --live`. The default log shows only W004. */
  came(metadata: ProviderMetadata): void;
}

export function createRefreshTokenReports({
  settings,
  events,
}: ProviderConnection): RefreshTokenReports {
  /** The discovery document with which a login last brought a refresh token. */
  let cameWith: ProviderMetadata | undefined;

  function warnOfScopes(metadata: ProviderMetadata): void {
    if (!settings.scopeIsDefault || metadata.scopes_supported === undefined) return;
    if (refreshDoubt(settings, metadata) !== "scope") return;
    events.logOnce({
      level: "warn",
      code: "W004",
      message:
        "IDP_SESSION_AUTO_REFRESH is on, but the provider doesn't advertise the scope offline_access. You might not get a refresh token.",
    });
  }

  function came(metadata: ProviderMetadata): void {
    // A later discovery document may raise another doubt.
    if (metadata === cameWith) return;
    cameWith = metadata;
    const doubt = refreshDoubt(settings, metadata);
    if (doubt !== undefined)
      events.logOnce({
        ...logLine("refresh_token_given"),
        level: doubt === "scope" ? "warn" : "info",
      });
  }

  return { warnOfScopes, came };
}
