import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from "node:crypto";

/** The first byte of sealed data. Another value cannot be opened. */
const SEAL_VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals session records at rest: AES-256-GCM under a key made of SECRET_KEY and the cookie's own value. The store knows
 * only the cookie's hash, so neither a stolen store nor that together with SECRET_KEY opens a record.
 */
export interface Sealer {
  /**
   * @param storeKey bound in as associated data, so that a record cannot be moved to another session
   */
  seal(plain: string, cookieValue: string, storeKey: string): Uint8Array;
  /** Undefined: made with an unknown key, for another session, or tampered with. */
  open(sealed: Uint8Array, cookieValue: string, storeKey: string): string | undefined;
  /** As `seal`, but SECRET_KEY alone opens it: for what a device list shows, where no cookie is at hand. Never a token. */
  sealSummary(plain: string, storeKey: string): Uint8Array;
  openSummary(sealed: Uint8Array, storeKey: string): string | undefined;
  /**
   * The keyed hashes under which the sessions of one person are listed: under SECRET_KEY first, then under each fallback,
   * since a session that was not written since a rotation still lies under the earlier one.
   */
  subjectHashes(issuer: string, subject: string): readonly [current: string, ...earlier: string[]];
}

/** A fresh cookie value: 256 random bits, base64url. */
export function newCookieValue(): string {
  return randomBytes(32).toString("base64url");
}

/** The key under which a store keeps the session of a cookie. */
export function storeKeyOf(cookieValue: string): string {
  return hash("sha256", cookieValue, "base64url");
}

/**
 * @param secretKey seals, and opens what it sealed
 * @param fallbacks earlier keys, or the next one; they only open
 */
export function createSealer(secretKey: string, fallbacks: readonly string[]): Sealer {
  // Derived once for each purpose: deriving costs more than all the rest.
  const records = keyring(secretKey, fallbacks, "idpauth record 1");
  const summaries = keyring(secretKey, fallbacks, "idpauth summary 1");
  const subjects = keyring(secretKey, fallbacks, "idpauth subject 1");
  return {
    seal: (plain, cookieValue, storeKey) => encrypt(sessionKey(records[0], cookieValue), storeKey, plain),
    open(sealed, cookieValue, storeKey) {
      for (const master of records) {
        const plain = decrypt(sessionKey(master, cookieValue), storeKey, sealed);
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
    sealSummary: (plain, storeKey) => encrypt(summaries[0], storeKey, plain),
    openSummary(sealed, storeKey) {
      for (const key of summaries) {
        const plain = decrypt(key, storeKey, sealed);
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
    subjectHashes(issuer, subject) {
      const [current, ...earlier] = subjects;
      return [subjectHash(current, issuer, subject), ...earlier.map((key) => subjectHash(key, issuer, subject))];
    },
  };
}

type Keyring = readonly [current: Buffer, ...others: Buffer[]];

function keyring(secretKey: string, fallbacks: readonly string[], purpose: string): Keyring {
  return [derive(secretKey, purpose), ...fallbacks.map((secret) => derive(secret, purpose))];
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
}

function sessionKey(master: Buffer, cookieValue: string): Buffer {
  return createHmac("sha256", master).update(cookieValue).digest();
}

function subjectHash(key: Buffer, issuer: string, subject: string): string {
  const hmac = createHmac("sha256", key);
  // Length-prefixed, so that no two pairs run together.
  for (const field of [issuer, subject]) hmac.update(`${String(Buffer.byteLength(field))}:${field}`);
  return hmac.digest("base64url");
}

function encrypt(key: Buffer, storeKey: string, plain: string): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(associated(storeKey));
  return Buffer.concat([Buffer.of(SEAL_VERSION), iv, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, storeKey: string, sealed: Uint8Array): string | undefined {
  if (sealed.length < 1 + IV_BYTES + TAG_BYTES || sealed[0] !== SEAL_VERSION) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(associated(storeKey));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return decipher.update(sealed.subarray(1 + IV_BYTES, sealed.length - TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch {
    // Not this key's, or not what was sealed.
    return undefined;
  }
}

function associated(storeKey: string): Buffer {
  return Buffer.from(`${String(SEAL_VERSION)}:${storeKey}`);
}
