import { tlsMethod } from "./certificate-checks.js";
import type { TestProvider } from "./test-provider-api.js";

/** Returns the settings of a client of this provider. */
export function applicationEnv({
  issuer,
  settings,
}: Pick<TestProvider, "issuer" | "settings">): TestProvider["env"] {
  const hasSecret = settings.clientJwks === undefined && settings.tlsClientAuth === undefined;
  return {
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: settings.clientId,
    IDP_CLIENT_SECRET: hasSecret ? settings.clientSecret : "",
    SECRET_KEY: "a fixed key, for tests and nowhere else",
    SCOPE: settings.scopesSupported.join(" "),
    // Empty means unset, and overrides a developer's .env.
    BASE_URL: "",
    IDP_DEBUG: "off",
    IDP_ALLOWED_TENANTS: settings.tenant ?? "",
    IDP_TOKEN_ENDPOINT_AUTH_METHOD: tlsMethod(settings) ?? "",
    IDP_DPOP: settings.dpop === "required" ? "true" : "",
    IDP_RESPONSE_MODE: settings.signedResponses === "required" ? "jwt" : "",
    // Those that `idpauth provider` writes besides.
    IDP_PRIVATE_KEY: "",
    IDP_CLIENT_CERTIFICATE: "",
    IDP_CLIENT_CERTIFICATE_KEY: "",
    IDP_PUSHED_REQUESTS: "",
    IDP_SIGNED_REQUESTS: "",
    IDP_FAPI: "",
    IDP_PROVIDERS: "",
  };
}
