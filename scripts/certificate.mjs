// Makes an X.509 certificate (RFC 5280) for test servers, also expired or for another name. Never
// use it elsewhere.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/**
 * @typedef {object} Certificate
 * @property {string} name of the subject
 * @property {string} cert PEM
 * @property {string} key PEM
 */

const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const BASIC_CONSTRAINTS = "551d13";
const SUBJECT_ALT_NAME = "551d11";

/**
 * @param {object} options
 * @param {string} options.name the subject's, and the one DNS name that it is for
 * @param {Certificate} [options.authority] who signs it; default itself
 * @param {boolean} [options.isAuthority] whether it may sign others
 * @param {import("node:crypto").KeyObject} [options.publicKey] the subject's; default a fresh one,
 *   whose private key is `key`
 * @param {number} [options.from] milliseconds since the epoch; default an hour ago
 * @param {number} [options.until] default in an hour
 * @returns {Certificate}
 */
export function createCertificate({
  name,
  authority,
  isAuthority = false,
  publicKey: given,
  from = Date.now() - 3_600_000,
  until = Date.now() + 3_600_000,
}) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const extensions = sequence(
    sequence(
      oid(BASIC_CONSTRAINTS),
      der(0x01, Buffer.of(0xff)),
      octets(isAuthority ? sequence(der(0x01, Buffer.of(0xff))) : sequence()),
    ),
    sequence(oid(SUBJECT_ALT_NAME), octets(sequence(der(0x82, Buffer.from(name))))),
  );
  const content = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(0x01), randomBytes(15)])),
    algorithm,
    distinguishedName(authority?.name ?? name),
    sequence(time(from), time(until)),
    distinguishedName(name),
    (given ?? publicKey).export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = sign("sha256", content, authority?.key ?? key);
  const whole = sequence(content, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n").trim();
  return { name, key, cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n` };
}

/**
 * @param {number} tag
 * @param {Buffer} content
 */
function der(tag, content) {
  const { length } = content;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

/** @param {readonly Buffer[]} parts */
function sequence(...parts) {
  return der(0x30, Buffer.concat(parts));
}

/** @param {Buffer} value positive */
function integer(value) {
  return der(0x02, value);
}

/** @param {string} hex its encoding */
function oid(hex) {
  return der(0x06, Buffer.from(hex, "hex"));
}

/** @param {Buffer} content */
function octets(content) {
  return der(0x04, content);
}

/** @param {string} name */
function distinguishedName(name) {
  return sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(name)))));
}

/** @param {number} at milliseconds since the epoch */
function time(at) {
  return der(
    0x17,
    Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`),
  );
}
