import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
import { isIPv4 } from "node:net";
import { bits, der, integer, octets, oid, sequence, set, truth, utcTime, utf8 } from "./der.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Browsers refuse a server's certificate that is valid for longer. */
const LEAF_DAYS = 397;
const AUTHORITY_DAYS = 3650;

/** The encodings of the object identifiers (RFC 5280, RFC 5758). */
const OID = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  organization: "55040a",
  subjectKeyIdentifier: "551d0e",
  keyUsage: "551d0f",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
  authorityKeyIdentifier: "551d23",
  extendedKeyUsage: "551d25",
  serverAuth: "2b06010505070301",
  clientAuth: "2b06010505070302",
} as const;

/** A certificate and its private key. */
export interface KeyAndCertificate {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

/** The names in a certificate. */
export interface CertificateNames {
  readonly commonName: string;
  readonly organization?: string | undefined;
  readonly dns?: readonly string[] | undefined;
  /** IPv4 addresses. */
  readonly ip?: readonly string[] | undefined;
  readonly uri?: readonly string[] | undefined;
  readonly email?: readonly string[] | undefined;
}

interface Issuing extends CertificateNames {
  /** Who signs it; undefined: it signs itself. */
  readonly authority?: KeyAndCertificate | undefined;
  /** What the key may do. */
  readonly use: "authority" | "server" | "client";
  /** Of the subject, as PEM; default a fresh P-256 key. */
  readonly key?: string | undefined;
  /** Milliseconds since the epoch; default an hour ago. */
  readonly from?: number | undefined;
  /** Default 397 days, and ten years of an authority. */
  readonly until?: number | undefined;
}

/** Returns a fresh private key on the curve P-256, as PEM. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Issues an X.509 certificate (RFC 5280), for tests and development alone. */
export function issueCertificate(issuing: Issuing): KeyAndCertificate {
  const { authority, use, key = newKey() } = issuing;
  const { from = Date.now() - HOUR_MS } = issuing;
  const days = use === "authority" ? AUTHORITY_DAYS : LEAF_DAYS;
  const { until = Date.now() + days * DAY_MS } = issuing;
  const publicKey = createPublicKey(key);
  const subject = distinguishedName(issuing);
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const content = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(0x01), randomBytes(15)])),
    algorithm,
    authority === undefined ? subject : subjectOf(authority),
    sequence(utcTime(from), utcTime(until)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions(issuing, publicKey)),
  );
  const signature = sign("sha256", content, authority?.key ?? key);
  return { key, cert: pem(sequence(content, algorithm, bits(signature))) };
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString("base64").replace(/.{64}/g, "$&\n").trim();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function extensions(issuing: Issuing, publicKey: KeyObject): Buffer {
  const { use, authority } = issuing;
  const isAuthority = use === "authority";
  const issuerKey = authority === undefined ? publicKey : createPublicKey(authority.cert);
  const names = alternativeNames(issuing);
  return sequence(
    extension(OID.basicConstraints, isAuthority ? sequence(truth()) : sequence(), "critical"),
    // keyCertSign, or digitalSignature.
    extension(
      OID.keyUsage,
      isAuthority ? bits(Buffer.of(0x04), 2) : bits(Buffer.of(0x80), 7),
      "critical",
    ),
    extension(OID.subjectKeyIdentifier, octets(keyIdentifier(publicKey))),
    extension(OID.authorityKeyIdentifier, sequence(der(0x80, keyIdentifier(issuerKey)))),
    ...(isAuthority
      ? []
      : [
          extension(
            OID.extendedKeyUsage,
            sequence(oid(use === "server" ? OID.serverAuth : OID.clientAuth)),
          ),
        ]),
    ...(names.length > 0 ? [extension(OID.subjectAltName, sequence(...names))] : []),
  );
}

function extension(id: string, value: Buffer, critical?: "critical"): Buffer {
  return sequence(oid(id), ...(critical === undefined ? [] : [truth()]), octets(value));
}

/** RFC 5280 section 4.2.1.2, with the whole structure instead of the key's bits. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20);
}

/** RFC 5280 section 4.2.1.6. */
function alternativeNames({ dns = [], ip = [], uri = [], email = [] }: CertificateNames): Buffer[] {
  const named = (tag: number, names: readonly string[]) =>
    names.map((name) => der(tag, Buffer.from(name)));
  const addresses = ip.map((address) => {
    if (!isIPv4(address)) throw new TypeError("`ip` must be an IPv4 address.");
    return der(0x87, Buffer.from(address.split(".").map(Number)));
  });
  return [...named(0x81, email), ...named(0x82, dns), ...named(0x86, uri), ...addresses];
}

function distinguishedName({ commonName, organization }: CertificateNames): Buffer {
  const part = (id: string, value: string) => set(sequence(oid(id), utf8(value)));
  return sequence(
    ...(organization === undefined ? [] : [part(OID.organization, organization)]),
    part(OID.commonName, commonName),
  );
}

/** Returns the encoded subject of an authority that this file has issued. */
function subjectOf({ cert }: KeyAndCertificate): Buffer {
  const lines = new Map(
    new X509Certificate(cert).subject.split("\n").map((line) => {
      const [name = "", value = ""] = line.split(/=(.*)/s);
      return [name, value] as const;
    }),
  );
  return distinguishedName({ commonName: lines.get("CN") ?? "", organization: lines.get("O") });
}

/** Returns the thumbprint of a certificate, `x5t#S256` (RFC 8705 section 3.1). */
export function certificateThumbprint(certificate: X509Certificate): string {
  return createHash("sha256").update(certificate.raw).digest("base64url");
}
