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
  /** The keyed hash under which the sessions of one person are listed. */
  subjectHash(issuer: string, subject: string): string;
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
 * @param fallbacks earlier keys; they still open what they sealed
 */
export function createSealer(secretKey: string, fallbacks: readonly string[]): Sealer {
  const masters = [secretKey, ...fallbacks].map((secret) => derive(secret, "idpauth record 1"));
  const [current = Buffer.alloc(0)] = masters;
  const subjectKey = derive(secretKey, "idpauth subject 1");
  return {
    seal(plain, cookieValue, storeKey) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sessionKey(current, cookieValue), iv);
      cipher.setAAD(associated(storeKey));
      return Buffer.concat([Buffer.of(SEAL_VERSION), iv, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, cookieValue, storeKey) {
      if (sealed.length < 1 + IV_BYTES + TAG_BYTES || sealed[0] !== SEAL_VERSION) return undefined;
      const iv = sealed.subarray(1, 1 + IV_BYTES);
      const text = sealed.subarray(1 + IV_BYTES, sealed.length - TAG_BYTES);
      const tag = sealed.subarray(sealed.length - TAG_BYTES);
      for (const master of masters) {
        const decipher = createDecipheriv("aes-256-gcm", sessionKey(master, cookieValue), iv, { authTagLength: TAG_BYTES });
        decipher.setAAD(associated(storeKey));
        decipher.setAuthTag(tag);
        try {
          return decipher.update(text, undefined, "utf8") + decipher.final("utf8");
        } catch {
          // Not this key's; perhaps the next one's.
        }
      }
      return undefined;
    },
    subjectHash(issuer, subject) {
      const hmac = createHmac("sha256", subjectKey);
      // Length-prefixed, so that no two pairs run together.
      for (const field of [issuer, subject]) hmac.update(`${String(Buffer.byteLength(field))}:${field}`);
      return hmac.digest("base64url");
    },
  };
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
}

function sessionKey(master: Buffer, cookieValue: string): Buffer {
  return createHmac("sha256", master).update(cookieValue).digest();
}

function associated(storeKey: string): Buffer {
  return Buffer.from(`${String(SEAL_VERSION)}:${storeKey}`);
}
