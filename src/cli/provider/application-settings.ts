import { variableOf } from "../../config/provider-keys.js";
import { tlsMethod } from "../../testing/provider/certificate-checks.js";
import type { DevelopmentProvider } from "./development-provider.js";

/** The environment variables of an application whose provider this is. */
export type ApplicationSettings = Readonly<Record<string, string>>;

interface Application {
  readonly secretKey: string;
  readonly baseUrl: string | undefined;
  readonly providers: readonly DevelopmentProvider[];
}

/** Returns the settings of an application with these providers. */
export function settingsFor({ secretKey, baseUrl, providers }: Application): ApplicationSettings {
  const keys = providers.flatMap(({ key }) => key ?? []);
  return {
    SECRET_KEY: secretKey,
    ...(keys.length > 0 && { IDP_PROVIDERS: keys.join(",") }),
    ...Object.fromEntries(providers.flatMap(clientSettings)),
    SCOPE: "openid,email,profile,offline_access", // without spaces, it needs no quotes
    BASE_URL: baseUrl ?? "http://localhost:3000",
  };
}

function clientSettings({
  key,
  issuer,
  settings,
  clientKey,
  clientFiles,
  fapi,
}: DevelopmentProvider): (readonly [string, string])[] {
  const { clientId, clientSecret, clientJwks, tlsClientAuth, tenant } = settings;
  // FAPI 2.0 demands the setting, whatever the provider requires.
  const isPushedByChoice = fapi || (settings.pushedRequests && !settings.requirePushedRequests);
  const own = {
    IDP_ISSUER: issuer,
    IDP_ALLOWED_TENANTS: tenant,
    IDP_CLIENT_ID: clientId,
    IDP_CLIENT_SECRET:
      clientJwks === undefined && tlsClientAuth === undefined ? clientSecret : undefined,
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: tlsMethod(settings),
    IDP_CLIENT_CERTIFICATE: clientFiles && `file:${clientFiles.cert}`,
    IDP_CLIENT_CERTIFICATE_KEY: clientFiles && `file:${clientFiles.key}`,
    // On one line: not every reader of `.env` files knows another form.
    IDP_PRIVATE_KEY: clientKey?.trim().replaceAll("\n", "\\n"),
    // An application pushes by itself only if the provider requires it.
    IDP_PUSHED_REQUESTS: isPushedByChoice ? "always" : undefined,
    IDP_DPOP: settings.dpop === "required" ? "true" : undefined,
    IDP_FAPI: fapi ? "2" : undefined,
  };
  return Object.entries(own).flatMap(([name, value]) =>
    value === undefined ? [] : [[key === undefined ? name : variableOf(key, name), value] as const],
  );
}

/**
 * Returns what an administrator enters on the settings page of an application whose customers have
 * providers of their own.
 */
export function enteredSettings(providers: readonly DevelopmentProvider[]): string {
  return providers
    .map(({ key, issuer, settings: { clientId, clientSecret, clientJwks, tlsClientAuth } }) => {
      const hasSecret = clientJwks === undefined && tlsClientAuth === undefined;
      const secret = hasSecret ? `\n  Client secret  ${clientSecret}` : "";
      return `${key ?? ""}\n  Issuer         ${issuer}\n  Client ID      ${clientId}${secret}\n`;
    })
    .join("");
}
