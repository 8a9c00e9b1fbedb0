import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { calculateJwkThumbprint } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { readSettings } from "../../src/config/read-settings.js";

const COMPLETE = {
  SECRET_KEY: "an-example-of-a-key-with-32-bytes!",
  IDP_CLIENT_ID: "client.apps.googleusercontent.com",
  SCOPE: "openid",
  BASE_URL: "https://app.example",
};

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const edwards = generateKeyPairSync("ed25519");
const pem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();
const jwk = (key: KeyObject) => key.export({ format: "jwk" });

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-keys-"));
  writeFileSync(path.join(folder, "rsa.pem"), pem(rsa.privateKey));
  writeFileSync(
    path.join(folder, "keys.json"),
    JSON.stringify({ keys: [jwk(ec.privateKey), jwk(edwards.privateKey)] }),
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const withEnv = (env: Record<string, string>) => readSettings({}, { ...COMPLETE, ...env });
const withKey = (privateKey: unknown) => readSettings({ privateKey } as object, COMPLETE);
const errors = ({ findings }: ReturnType<typeof readSettings>) =>
  findings.filter(({ severity }) => severity === "error");
const settingsOf = ({ providers: [one] }: ReturnType<typeof readSettings>) => one?.settings;
const algorithms = (result: ReturnType<typeof readSettings>) =>
  settingsOf(result)?.privateKey?.map((key) => key.algorithms.join());

describe("the client's private key", () => {
  it.each<[string, () => string, string[]]>([
    ["an RSA key as PEM", () => pem(rsa.privateKey), ["RS256,PS256"]],
    [
      "a PEM of PKCS #1",
      () => rsa.privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      ["RS256,PS256"],
    ],
    ["a PEM on one line, with \\n", () => pem(ec.privateKey).replaceAll("\n", "\\n"), ["ES256"]],
    ["a JWK", () => JSON.stringify(jwk(edwards.privateKey)), ["EdDSA"]],
    [
      "a JWK set",
      () => JSON.stringify({ keys: [jwk(ec.privateKey), jwk(rsa.privateKey)] }),
      ["ES256", "RS256,PS256"],
    ],
    ["the path of a PEM", () => `file:${path.join(folder, "rsa.pem")}`, ["RS256,PS256"]],
    [
      "two paths, one of them a URL",
      () =>
        `file:${path.join(folder, "keys.json")} ${pathToFileURL(path.join(folder, "rsa.pem")).href}`,
      ["ES256", "EdDSA", "RS256,PS256"],
    ],
  ])("in the environment, %s replaces the secret", (_name, text, expected) => {
    const result = withEnv({ IDP_PRIVATE_KEY: text() });
    expect(errors(result)).toEqual([]);
    expect(algorithms(result)).toEqual(expected);
    expect(settingsOf(result)?.clientSecret).toBe("");
  });

  it.each<[string, () => unknown, string[]]>([
    ["a key of node:crypto", () => ec.privateKey, ["ES256"]],
    ["a JWK", () => jwk(rsa.privateKey), ["RS256,PS256"]],
    ["a list of both", () => [ec.privateKey, jwk(rsa.privateKey)], ["ES256", "RS256,PS256"]],
    ["a function that signs", () => () => Promise.resolve(new Uint8Array(1)), ["RS256,PS256"]],
    [
      "a function with a key's name",
      () => ({ sign: () => Promise.resolve(new Uint8Array(1)), kid: "k", alg: "ES256" }),
      ["ES256"],
    ],
  ])("in code, %s", (_name, value, expected) => {
    const result = withKey(value());
    expect(errors(result)).toEqual([]);
    expect(algorithms(result)).toEqual(expected);
  });

  it("has the thumbprint of RFC 7638 as its identifier, or its own", async () => {
    const [key] = settingsOf(withKey(ec.privateKey))?.privateKey ?? [];
    expect(key?.kid).toBe(
      await calculateJwkThumbprint(
        jwk(ec.publicKey) as { kty: "EC"; crv: string; x: string; y: string },
      ),
    );
    expect(key?.publicJwk).toEqual({ ...jwk(ec.publicKey), kid: key?.kid, use: "sig" });
    expect(
      settingsOf(withKey({ ...jwk(ec.privateKey), kid: "of-2026" }))?.privateKey?.[0]?.kid,
    ).toBe("of-2026");
  });

  it("no private part is printed with the settings", () => {
    const { settings } = withKey([rsa.privateKey, ec.privateKey]);
    const printed =
      inspect(settings, { depth: Infinity, showHidden: true }) + JSON.stringify(settings);
    for (const key of [rsa.privateKey, ec.privateKey]) {
      const { d = "no d" } = jwk(key);
      expect(printed).not.toContain(d.slice(0, 20));
    }
    expect(printed).not.toContain("PRIVATE KEY");
  });

  it.each([
    ["a JWK", () => `file:${JSON.stringify(jwk(ec.privateKey))}`],
    [
      "a bare PEM body",
      () =>
        `file:${edwards.privateKey.export({ type: "pkcs8", format: "der" }).toString("base64")}`,
    ],
  ])("%s in place of a path isn't repeated", (_name, text) => {
    const result = withEnv({ IDP_PRIVATE_KEY: text() });
    expect(errors(result).map(({ code }) => code)).toContain("E006");
    expect(JSON.stringify(result.findings)).not.toContain(text().slice(30, 50));
  });

  it("that is a JWK with `alg` signs with that algorithm alone", () => {
    expect(algorithms(withKey({ ...jwk(rsa.privateKey), alg: "RS256" }))).toEqual(["RS256"]);
  });

  it("that a service keeps is called as a method of its object", async () => {
    class Signer {
      readonly kid = "k";
      readonly #signature = new Uint8Array(3);
      sign() {
        return Promise.resolve(this.#signature);
      }
    }
    const [key] = settingsOf(withKey(new Signer()))?.privateKey ?? [];
    expect(await key?.sign(new Uint8Array(1), { alg: "RS256" })).toHaveLength(3);
  });

  it.each<[string, () => unknown, string]>([
    ["a public JWK", () => jwk(ec.publicKey), "is a public key"],
    [
      "a public PEM",
      () => ec.publicKey.export({ type: "spki", format: "pem" }).toString(),
      "contains no private key",
    ],
    [
      "an encrypted PEM",
      () =>
        ec.privateKey
          .export({ type: "pkcs8", format: "pem", cipher: "aes-128-cbc", passphrase: "p" })
          .toString(),
      "encrypted",
    ],
    [
      "a PEM that is none",
      () => "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----",
      "can't be read as a private key",
    ],
    ["JSON that is none", () => '{"kty"', "isn't valid JSON"],
    [
      "a short RSA key",
      () => generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey,
      "fewer than 2048 bits",
    ],
    [
      "another curve",
      () => generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey,
      "isn't P-256",
    ],
    ["another kind of key", () => generateKeyPairSync("x25519").privateKey, "neither RSA"],
    [
      "a file that isn't there",
      () => "file:/nowhere/key.pem",
      "/nowhere/key.pem\" can't be read (ENOENT)",
    ],
    ["an empty set", () => ({ keys: [] }), "contains no key"],
    ["an empty list", () => [], "contains no key"],
    ["an unknown algorithm", () => ({ sign: () => Promise.resolve(), alg: "HS256" }), "algorithm"],
    ["a number", () => 5, "KeyObject"],
    ["a list with a hole", () => new Array(1), "KeyObject"],
    [
      "a JWK for encryption",
      () => ({ ...jwk(rsa.privateKey), use: "enc" }),
      "isn't for signatures",
    ],
    [
      "a JWK with another key's algorithm",
      () => ({ ...jwk(ec.privateKey), alg: "PS256" }),
      "must be ES256",
    ],
    ["two keys in one PEM", () => pem(ec.privateKey) + pem(rsa.privateKey), "several private keys"],
    ["a kid that isn't a string", () => ({ sign: () => Promise.resolve(), kid: 5n }), "kid"],
    [
      "an algorithm in a list",
      () => ({ sign: () => Promise.resolve(), alg: ["PS256"] }),
      "algorithm",
    ],
  ])("%s is E006, whose remedy says what is wrong and repeats no key", (_name, value, words) => {
    const result = withKey(value());
    expect(result.settings).toBeUndefined();
    const finding = result.findings.find(({ code }) => code === "E006");
    expect(`${finding?.message ?? ""} ${finding?.remedy ?? ""}`).toContain(words);
    expect(JSON.stringify(finding)).not.toMatch(/BEGIN|MII/);
  });
});

describe("a client has a secret or a key", () => {
  const IDP_PRIVATE_KEY = pem(ec.privateKey);

  it.each<[string, Record<string, string>, string[]]>([
    ["neither", {}, ["E003"]],
    ["a secret", { IDP_CLIENT_SECRET: "secret" }, []],
    ["a key", { IDP_PRIVATE_KEY }, []],
    ["both", { IDP_PRIVATE_KEY, IDP_CLIENT_SECRET: "secret" }, ["E023"]],
    ["a blank secret and a key", { IDP_PRIVATE_KEY, IDP_CLIENT_SECRET: " " }, []],
    [
      "a way to send the secret, and a key",
      { IDP_PRIVATE_KEY, IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic" },
      ["E023"],
    ],
  ])("%s", (_name, env, codes) => {
    expect(errors(withEnv(env)).map(({ code }) => code)).toEqual(codes);
  });

  it("a certificate must be the first key's", () => {
    const { cert } = createCertificate({ name: "client", publicKey: ec.publicKey });
    writeFileSync(path.join(folder, "cert.pem"), cert);
    const codes = (env: Record<string, string>) => errors(withEnv(env)).map(({ code }) => code);
    expect(codes({ IDP_PRIVATE_KEY, IDP_CERTIFICATE: cert })).toEqual([]);
    expect(
      codes({ IDP_PRIVATE_KEY, IDP_CERTIFICATE: `file:${path.join(folder, "cert.pem")}` }),
    ).toEqual([]);
    expect(codes({ IDP_PRIVATE_KEY: pem(rsa.privateKey), IDP_CERTIFICATE: cert })).toEqual([
      "E025",
    ]);
    expect(codes({ IDP_CLIENT_SECRET: "secret", IDP_CERTIFICATE: cert })).toEqual(["E025"]);
    expect(codes({ IDP_PRIVATE_KEY, IDP_CERTIFICATE: "no certificate" })).toEqual(["E006"]);
  });
});
