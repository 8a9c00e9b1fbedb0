/** The certificate with which the client identifies itself in TLS (RFC 8705). */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
import { contentOf, KeyProblem, readable } from "./client-keys.js";
import { isTooSmall } from "./rsa-key-size.js";

/** A certificate, and those of the authorities between it and the one that the provider trusts. */
export interface ClientCertificate {
  /** PEM, the client's own certificate first. */
  readonly pem: string;
  /** A digest of the public key, for a comparison. */
  readonly publicKey: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** The private key of a client's certificate. It shows no private part, whoever prints it. */
export interface ClientCertificateKey {
  /** A digest of the public half, for a comparison. Undefined: the key has a passphrase. */
  readonly publicKey: string | undefined;
  /** Returns the key as PEM. */
  readonly pem: () => string;
}

/** What a TLS connection of the client needs. */
export interface ClientTls {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const KEY_BLOCK = /-----BEGIN ((?:[A-Z]+ )*PRIVATE KEY)-----[^-]*?-----END \1-----/g;
/** In PKCS #1, the block itself is named as if it weren't encrypted. */
const ENCRYPTED = /-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m;

/** @param text PEM, or `file:` and its path @throws KeyProblem */
export function readClientCertificate(text: string): ClientCertificate {
  const blocks = contentOf(text).match(CERTIFICATE_BLOCK) ?? [];
  const [own, ...others] = blocks.map((block) =>
    readable(
      () => new X509Certificate(block),
      "The value contains a certificate that can't be read.",
    ),
  );
  if (own === undefined)
    throw new KeyProblem("The value contains no certificate in PEM form (BEGIN CERTIFICATE).");
  return {
    pem: [own, ...others].map((certificate) => certificate.toString()).join(""),
    publicKey: digestOf(own.publicKey),
    expiresAt: Date.parse(own.validTo) / 1000,
  };
}

/** @param text PEM, or `file:` and its path @throws KeyProblem */
export function readClientCertificateKey(text: string): ClientCertificateKey {
  const content = contentOf(text);
  if (ENCRYPTED.test(content)) return { publicKey: undefined, pem: () => "" };
  const [block, further] = content.match(KEY_BLOCK) ?? [];
  if (block === undefined)
    throw new KeyProblem("The value contains no private key in PEM form (BEGIN PRIVATE KEY).");
  if (further !== undefined) throw new KeyProblem("The value contains several private keys.");
  const key = readable(
    () => createPrivateKey(block),
    "The value can't be read as a private key in PEM form.",
  );
  if (isTooSmall(key)) throw new KeyProblem("The RSA key has fewer than 2048 bits.");
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  return { publicKey: digestOf(createPublicKey(key)), pem: () => pem };
}

/** Whether a key is the certificate's. One with a passphrase isn't read, so it's taken as given. */
export function isKeyOf(
  { publicKey: ofKey }: ClientCertificateKey,
  { publicKey }: ClientCertificate,
): boolean {
  return ofKey === undefined || ofKey === publicKey;
}

/** The settings of a client that may have a certificate. */
export interface CertificateSettings {
  readonly clientCertificate: ClientCertificate | null;
  readonly clientCertificateKey: ClientCertificateKey | null;
}

/** Returns what connections of the client need; undefined: it has no certificate. */
export function clientTlsOf({
  clientCertificate,
  clientCertificateKey,
}: CertificateSettings): ClientTls | undefined {
  if (clientCertificate === null || clientCertificateKey === null) return undefined;
  return { cert: clientCertificate.pem, key: clientCertificateKey.pem() };
}

function digestOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}
