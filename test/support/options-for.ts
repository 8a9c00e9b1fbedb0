import type { TestProvider } from "../../src/testing/provider/test-provider.js";

const SECRET_KEY = "a secret key of at least 32 bytes";

/** The options of an application whose provider nobody reaches. */
export const UNREACHED = {
  env: {},
  secretKey: SECRET_KEY,
  clientId: "client",
  clientSecret: "a client's secret",
  issuer: "https://login.example.com",
};

/** The same by the environment. */
export const UNREACHED_BY_ENV = {
  env: {
    BASE_URL: "https://app.example",
    IDP_ISSUER: UNREACHED.issuer,
    IDP_CLIENT_ID: UNREACHED.clientId,
    IDP_CLIENT_SECRET: UNREACHED.clientSecret,
  },
  secretKey: SECRET_KEY,
  log: false,
} as const;

/** The options of an application that the provider knows, and that reads no environment. */
export function optionsFor({
  clientId,
  clientSecret,
  issuer,
}: Pick<TestProvider, "clientId" | "clientSecret" | "issuer">) {
  const scope = ["openid", "email", "profile", "offline_access"];
  return { env: {}, secretKey: SECRET_KEY, clientId, clientSecret, issuer, scope };
}
