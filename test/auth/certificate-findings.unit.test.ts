import { describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { idpAuth } from "../../src/adapters/node/node.js";
import { ConfigurationError } from "../../src/errors.js";

const { cert, key } = createCertificate({ name: "client", until: Date.now() + 1e10 });
const ENV = {
  SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
  IDP_ISSUER: "https://provider.example",
  IDP_CLIENT_ID: "client",
  IDP_TOKEN_ENDPOINT_AUTH_METHOD: "tls_client_auth",
  IDP_CLIENT_CERTIFICATE: cert,
  IDP_CLIENT_CERTIFICATE_KEY: key,
  BASE_URL: "https://app.example",
};
const log = () => undefined;

function errors(start: () => unknown): string[] {
  try {
    start();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.findings
      .filter(({ severity }) => severity === "error")
      .map(({ code, message, remedy }) => `${code} ${message} ${remedy}`);
  }
}

describe("a client's certificate at startup", () => {
  it("needs idpauth's own connections, which the option `fetch` would replace", () => {
    const auth = idpAuth({ env: ENV, log, fetch });
    expect(errors(() => auth.start())).toEqual([
      expect.stringMatching(
        /^E039 Both IDP_CLIENT_CERTIFICATE \(option clientCertificate\) and the option `fetch` are set/,
      ),
    ]);
  });

  it("can't be shown through a proxy of the environment", () => {
    const env = { ...ENV, NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "http://proxy.example" };
    expect(errors(() => idpAuth({ env, log }).start())).toEqual([
      expect.stringMatching(/^E039 .* has Node\.js use the proxy in HTTPS_PROXY, which/),
    ]);
  });

  it("is named with its provider if there are several", () => {
    const own = { clientId: "client", clientSecret: "secret" };
    const providers = {
      staff: { ...own, issuer: "https://staff.example" },
      partners: {
        ...own,
        issuer: "https://partners.example",
        clientCertificate: cert,
        clientCertificateKey: key,
      },
    };
    const { SECRET_KEY, BASE_URL } = ENV;
    const auth = idpAuth({ env: { SECRET_KEY, BASE_URL }, log, fetch, providers });
    expect(errors(() => auth.start())).toEqual([
      expect.stringMatching(/^E039 .*IDP_PROVIDER_PARTNERS_CLIENT_CERTIFICATE /),
    ]);
  });
});
