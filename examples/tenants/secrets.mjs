// @ts-check
// The customers' client secrets are encrypted in the database, so that a copy of the file isn't
// enough to use them. The key is this application's own, SETTINGS_KEY, and not idpauth's SECRET_KEY:
// in production, it comes from your secret manager.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;

export class Secrets {
  #key;

  /** @param {string | undefined} key 32 bytes as base64url */
  constructor(key) {
    this.#key = Buffer.from(key ?? "", "base64url");
    if (this.#key.length !== 32) throw new Error("SETTINGS_KEY must be 32 bytes as base64url.");
  }

  /**
   * @param {string} secret
   * @param {string} customer is authenticated, too: copied to another customer's row, the result
   *   can't be decrypted
   */
  encrypt(secret, customer) {
    const iv = randomBytes(IV_BYTES); // a new one each time: GCM breaks if one repeats
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(customer));
    const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]);
  }

  /**
   * @param {Uint8Array} encrypted
   * @param {string} customer
   * @throws Error another key or customer, or a changed row
   */
  decrypt(encrypted, customer) {
    const [iv, rest] = [encrypted.subarray(0, IV_BYTES), encrypted.subarray(IV_BYTES)];
    const decipher = createDecipheriv("aes-256-gcm", this.#key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(customer)).setAuthTag(rest.subarray(0, TAG_BYTES));
    return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString();
  }
}
