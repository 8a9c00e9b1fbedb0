import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { readSettings } from "../../src/config/read-settings.js";
import { clientTlsOf } from "../../src/keys/client-certificate.js";

const COMPLETE = {
  SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
  IDP_CLIENT_ID: "client",
  IDP_ISSUER: "https://provider.example",
  SCOPE: "openid offline_access",
  BASE_URL: "https://app.example",
};
const SECRET = { IDP_CLIENT_SECRET: "client-secret" };

const authority = createCertificate({ name: "authority", isAuthority: true });
const client = createCertificate({ name: "client", authority });
const other = createCertificate({ name: "other", authority });
const encrypted = createPrivateKey(client.key)
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "word" })
  .toString();
const encryptedPkcs1 = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem", cipher: "aes-256-cbc", passphrase: "word" },
}).privateKey;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-certificates-"));
  writeFileSync(path.join(folder, "both.pem"), `${client.cert}${authority.cert}${client.key}`);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

type Env = Readonly<Record<string, string>>;
const withEnv = (env: Env, now?: number) =>
  readSettings({}, { ...COMPLETE, ...env }, { ...(now !== undefined && { now }) });
const pair = (cert: string, key: string) => ({
  IDP_CLIENT_CERTIFICATE: cert,
  IDP_CLIENT_CERTIFICATE_KEY: key,
});
const texts = ({ findings }: ReturnType<typeof readSettings>) =>
  findings.map(({ code, message, remedy }) => `${code}: ${message} ${remedy}`);
const tlsOf = ({ providers: [one] }: ReturnType<typeof readSettings>) =>
  one && clientTlsOf(one.settings);
/** PEM as OpenSSL writes it, without the line break at its end. */
const trimmed = (pem: string | undefined) => pem?.trim();

describe("the client's certificate", () => {
  it("is read with those of its authorities, and its key with it", () => {
    const result = withEnv({ ...SECRET, ...pair(`${client.cert}${authority.cert}`, client.key) });
    expect(result.findings).toEqual([]);
    expect(trimmed(tlsOf(result)?.cert)).toBe(`${client.cert}${authority.cert}`.trim());
    expect(trimmed(tlsOf(result)?.key)).toBe(client.key.trim());
  });

  it.each(["one line with \\n", "a file of both"])("may be %s", (form) => {
    const file = `file:${path.join(folder, "both.pem")}`;
    const [cert, key] =
      form === "a file of both"
        ? [file, file]
        : [client.cert.replaceAll("\n", "\\n"), client.key.replaceAll("\n", "\\n")];
    const result = withEnv({ ...SECRET, ...pair(cert, key) });
    expect(result.findings).toEqual([]);
    expect(trimmed(tlsOf(result)?.key)).toBe(client.key.trim());
    // The key of the file doesn't become a part of the certificate, which isn't kept secret.
    expect(tlsOf(result)?.cert).not.toContain("PRIVATE");
  });

  it("shows no private part, whoever prints the settings", () => {
    const { providers } = withEnv({ ...SECRET, ...pair(client.cert, client.key) });
    const printed =
      inspect(providers, { depth: null, showHidden: true }) + JSON.stringify(providers);
    const [, line = ""] = client.key.split("\n");
    expect(line.length).toBeGreaterThan(40);
    expect(printed).not.toContain(line);
  });

  it.each<[string, Env, RegExp]>([
    [
      "a certificate without its key",
      { IDP_CLIENT_CERTIFICATE: client.cert },
      /^E039: IDP_CLIENT_CERTIFICATE \(option clientCertificate\) is set, but IDP_CLIENT_CERTIFICATE_KEY \(option clientCertificateKey\) isn't\. Set IDP_CLIENT_CERTIFICATE_KEY/,
    ],
    [
      "a key without its certificate",
      { IDP_CLIENT_CERTIFICATE_KEY: client.key },
      /^E039: IDP_CLIENT_CERTIFICATE_KEY \(option clientCertificateKey\) is set, but IDP_CLIENT_CERTIFICATE \(/,
    ],
    [
      "the key of another certificate",
      pair(client.cert, other.key),
      /^E039: IDP_CLIENT_CERTIFICATE_KEY \(.*\) isn't the key of the first certificate/,
    ],
    [
      "a chain that begins with the authority",
      pair(`${authority.cert}${client.cert}`, client.key),
      /^E039: .* isn't the key of the first certificate .* Put the client's own certificate first/,
    ],
    [
      "a key with a passphrase",
      pair(client.cert, encrypted),
      /^E039: .* is encrypted with a passphrase\. Use it without one/,
    ],
    [
      "a PKCS #1 key with a passphrase",
      pair(client.cert, encryptedPkcs1),
      /^E039: .* is encrypted with a passphrase\. Use it without one/,
    ],
    [
      "an issuer without TLS",
      { ...pair(client.cert, client.key), IDP_ISSUER: "http://localhost:8080" },
      /^E039: .* IDP_ISSUER \(option issuer\) is an http address, where no certificate is ever shown/,
    ],
    ["no certificate in the text", pair("x", client.key), /^E006: .* contains no certificate/],
    [
      "a damaged certificate in the chain",
      pair(
        `${client.cert}${authority.cert.replace(/\n[A-Za-z0-9+/]{9}/, "\n!!!!!!!!!")}`,
        client.key,
      ),
      /^E006: .*contains a certificate that can't be read/,
    ],
    ["no key in the text", pair(client.cert, client.cert), /^E006: .* contains no private key/],
    [
      "two keys",
      pair(client.cert, `${client.key}${other.key}`),
      /^E006: .* contains several private keys/,
    ],
  ])("can't be used with %s", (_what, env, expected) => {
    const found = texts(withEnv({ ...SECRET, ...env }));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
    expect(found[0]).not.toContain("-----");
  });

  it("of a source can't be a file of this machine", () => {
    const { readSourced } = readSettings({}, COMPLETE, { hasSource: true });
    const file = `file:${path.join(folder, "both.pem")}`;
    const { provider, findings } = readSourced!("acme", {
      issuer: "https://acme.example",
      clientId: "acme",
      clientCertificate: file,
      clientCertificateKey: ` ${file}`,
    });
    expect(provider).toBeUndefined();
    expect(findings.map(({ code, message }) => `${code} ${message}`)).toEqual([
      expect.stringMatching(/^E006 .*clientCertificate\b.* can't be the path of a file/),
      expect.stringMatching(/^E006 .*clientCertificateKey\b.* can't be the path of a file/),
    ]);
  });
});

describe("a client that authenticates with its certificate", () => {
  const tls = { IDP_TOKEN_ENDPOINT_AUTH_METHOD: "tls_client_auth" };
  const certified = { ...tls, ...pair(client.cert, client.key) };
  const key = { IDP_PRIVATE_KEY: other.key };

  it.each(["tls_client_auth", "self_signed_tls_client_auth"])("needs no secret: %s", (method) => {
    const result = withEnv({ ...certified, IDP_TOKEN_ENDPOINT_AUTH_METHOD: method });
    expect(result.findings).toEqual([]);
  });

  it("needs the certificate", () => {
    expect(texts(withEnv(tls))).toEqual([
      expect.stringMatching(
        /^E039: IDP_TOKEN_ENDPOINT_AUTH_METHOD \(.*\) is `tls_client_auth`, but IDP_CLIENT_CERTIFICATE/,
      ),
    ]);
  });

  it("has neither a secret nor a private key besides", () => {
    expect(texts(withEnv({ ...certified, ...SECRET }))).toEqual([
      expect.stringMatching(/^E023: IDP_CLIENT_SECRET \(.*\) is set, but .* with its certificate/),
    ]);
    expect(texts(withEnv({ ...certified, ...key }))).toEqual([
      expect.stringMatching(/^E023: IDP_PRIVATE_KEY \(.*\) is set, but .* with its certificate/),
    ]);
  });

  it("may have a private key that signs login requests", () => {
    expect(withEnv({ ...certified, ...key, IDP_SIGNED_REQUESTS: "always" }).findings).toEqual([]);
  });

  it("differs from one whose key authenticates and whose certificate only binds", () => {
    expect(withEnv({ ...key, ...pair(client.cert, client.key) }).findings).toEqual([]);
  });
});

describe("a certificate that ends", () => {
  const ended = Math.floor(Date.now() / 1000) + 3600;
  const DAY = 86_400;

  it.each([
    [ended - 31 * DAY, []],
    [ended - 29 * DAY - 100, [expect.stringContaining("expires in 29 days.")]],
    [ended - DAY - 100, [expect.stringContaining("expires in 1 day.")]],
    [ended - 10_000, [expect.stringContaining("expires in less than a day.")]],
    [ended + 10, [expect.stringContaining("has expired.")]],
  ])("is warned of for 30 days before (%#)", (now, expected) => {
    const soon = createCertificate({ name: "client", until: ended * 1000 });
    const result = withEnv({ ...SECRET, ...pair(soon.cert, soon.key) }, now);
    expect(result.findings.map(({ code }) => code)).toEqual(expected.map(() => "W027"));
    expect(texts(result)).toEqual(expected);
    // The application still starts.
    expect(result.settings).toBeDefined();
  });
});
