import { describe, expect, it } from "vitest";
import { createIdpAuth } from "../../src/adapter.js";
import { ConfigurationError, type IdpRequest } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";

it("the framework's own sessions together with a store keep the application from starting", () => {
  const auth = createIdpAuth(
    { env: {}, session: "host", store: memoryStore() },
    { name: "plain", request: () => null as never },
  );
  expect(() => auth.start()).toThrow(/\bE009\b/);
});

describe("a component that was never started", () => {
  const host = { name: "plain", request: (raw: IdpRequest) => raw };
  const visit: IdpRequest = {
    method: "GET",
    target: "/reports",
    scheme: "http",
    host: "app.example",
    header: () => undefined,
  };

  it("is checked at its first use: a configuration error is never taken for signed out", async () => {
    const auth = createIdpAuth({ env: {}, log: false }, host);
    await expect(auth.getCredentials(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.getSession(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.getSession(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.readSessionRecord(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.checkIdpAuthentication(visit)).rejects.toBeInstanceOf(ConfigurationError);
    await expect(auth.guard(visit)).rejects.toBeInstanceOf(ConfigurationError);
  });

  it("works when its settings are correct", async () => {
    const env = {
      SECRET_KEY: "a secret key of at least 32 bytes",
      IDP_CLIENT_ID: "c",
      IDP_CLIENT_SECRET: "s",
      BASE_URL: "https://app.example",
    };
    expect(await createIdpAuth({ env, log: false }, host).getCredentials(visit)).toBeNull();
  });
});
