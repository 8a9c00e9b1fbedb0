import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { readApis } from "../../src/config/read-apis.js";
import type { LoginScopes } from "../../src/config/check-apis.js";
import {
  readClientCertificate,
  readClientCertificateKey,
} from "../../src/keys/client-certificate.js";

const certificates = ["one", "two"].map((name) => createCertificate({ name }));
const [one, two] = certificates.map(({ cert, key }) => ({
  clientCertificate: readClientCertificate(cert),
  clientCertificateKey: readClientCertificateKey(key),
}));

const URL_OK = "https://orders.internal/";

function provider(key: string | undefined, certificate?: typeof one): LoginScopes {
  const settings = { issuer: "https://idp.example", scope: [], ...certificate };
  return { key, settings };
}

/** What is wrong with an API that has `certificate: true`. */
function mistakes(
  options: Readonly<Record<string, unknown>>,
  providers: readonly LoginScopes[],
  hasSource = false,
): string[] {
  const orders = { url: URL_OK, certificate: true, ...options };
  const { apis, findings } = readApis({ orders }, providers, { hasSource });
  // One that can't be used as it says isn't used at all.
  expect(apis.has("orders")).toBe(findings.length === 0);
  return findings.map(({ code, message, remedy }) => `${code} ${message} ${remedy}`);
}

describe("an API with `certificate: true`", () => {
  it("gets the certificate of its registration, which nobody prints by mistake", () => {
    const orders = { url: URL_OK, certificate: true, provider: "b" };
    const { apis } = readApis({ orders }, [provider("a", one), provider("b", two)]);
    const row = apis.get("orders");
    expect(row?.certificate?.().cert.trim()).toBe(certificates[1]?.cert.trim());
    expect(row?.certificate?.().key.trim()).toBe(certificates[1]?.key.trim());
    expect(inspect(row, { depth: null, showHidden: true })).not.toContain("PRIVATE");
  });

  it("may leave the provider out if all have the same certificate", () => {
    expect(mistakes({}, [provider(undefined, one)])).toEqual([]);
    expect(mistakes({}, [provider("a", one), provider("b", one)])).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, LoginScopes[], boolean, RegExp]>([
    [
      "without a certificate",
      {},
      [provider(undefined)],
      false,
      /^E039 `apis\.orders` has `certificate: true`, but IDP_CLIENT_CERTIFICATE \(option clientCertificate\) isn't set\./,
    ],
    [
      "with providers of which one has no certificate",
      {},
      [provider("a", one), provider("b")],
      false,
      /^E039 .* but the provider b has no `clientCertificate`\./,
    ],
    [
      "with a provider that has no certificate, beside one that does",
      { provider: "b" },
      [provider("a", one), provider("b")],
      false,
      /^E039 .* but the provider b has no `clientCertificate`\./,
    ],
    [
      "without a provider, where they have different certificates",
      {},
      [provider("a", one), provider("b", two)],
      false,
      /^E039 .* it doesn't name a `provider`, and the providers have different certificates\. Name in `provider`/,
    ],
    [
      "without a provider, where a source has others",
      {},
      [provider("a", one)],
      true,
      /^E039 .* it doesn't name a `provider`, and a source has further providers\./,
    ],
    [
      "at an http address",
      { url: "http://localhost:8080/" },
      [provider(undefined, one)],
      false,
      /^E039 .* its `url` is an http address, where no certificate is ever shown\./,
    ],
    [
      "with a dispatcher",
      { dispatcher: { dispatch: () => true } },
      [provider(undefined, one)],
      false,
      /^E039 .* but also a `dispatcher`, which opens the connections itself\./,
    ],
    [
      "that is no boolean",
      { certificate: "true" },
      [provider(undefined, one)],
      false,
      /^E006 .*`certificate` is a string; allowed: true or false/,
    ],
  ])("%s isn't accepted", (_what, options, providers, hasSource, expected) => {
    const found = mistakes(options, providers, hasSource);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it("may name a provider of the list beside a source", () => {
    expect(mistakes({ provider: "a" }, [provider("a", one)], true)).toEqual([]);
  });
});

describe("an API without it", () => {
  it.each([undefined, false])("gets no certificate: %s", (certificate) => {
    const { apis, findings } = readApis({ orders: { url: URL_OK, certificate } }, [
      provider(undefined, one),
    ]);
    expect(findings).toEqual([]);
    expect(apis.get("orders")?.certificate).toBeUndefined();
  });
});
