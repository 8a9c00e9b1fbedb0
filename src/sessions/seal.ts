import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { ClientIdentity } from "../record/record.js";

/** The first byte of encrypted data. Data with another value cannot be decrypted. */
const SEAL_VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Each kind of sealed parameter has a key of its own. */
export type ParameterPurpose = "form" | "response" | "callback";

/**
 * Encrypts session records at rest with AES-256-GCM. The key is derived from SECRET_KEY and the
 * cookie's value. The store has only the cookie's hash, so a stolen store cannot be decrypted, even
 * with SECRET_KEY.
 */
export interface Sealer {
  /**
   * @param storeKey associated data, so that a record cannot be moved to another session
   */
  seal(plain: string, cookieValue: string, storeKey: string): Uint8Array;
  /** Undefined: encrypted with an unknown key, for another session, or modified. */
  open(sealed: Uint8Array, cookieValue: string, storeKey: string): string | undefined;
  /**
   * As `seal`, but SECRET_KEY alone decrypts it: for a device list, which has no cookies. Never
   * used for a token.
   */
  sealSummary(plain: string, storeKey: string): Uint8Array;
  openSummary(sealed: Uint8Array, storeKey: string): string | undefined;
  /** As `seal`, for the trace of a sign-in, which never opens as a record. */
  sealTrace(plain: string, cookieValue: string, storeKey: string): Uint8Array;
  openTrace(sealed: Uint8Array, cookieValue: string, storeKey: string): string | undefined;
  /**
   * As `sealSummary`, for a value that the browser passes on. Its key is that of the purpose alone.
   *
   * @param bound associated data: where and until when the value counts
   */
  sealParameter(plain: string, purpose: ParameterPurpose, bound: string): Uint8Array;
  openParameter(sealed: Uint8Array, purpose: ParameterPurpose, bound: string): string | undefined;
  /**
   * The keyed hashes under which a user's sessions at one client are listed: with SECRET_KEY first,
   * then with each fallback. A session that was not written since a key rotation is still stored
   * under the earlier hash.
   */
  subjectHashes(client: ClientIdentity, subject: string): KeyedHashes;
  /**
   * As `subjectHashes`, for the sessions of one client that belong to one session of the provider
   * (`sid`).
   */
  sidHashes(client: ClientIdentity, sid: string): KeyedHashes;
  /**
   * The keys under which a logout by the provider is stored: of one of its sessions (`sid`), or of
   * a user (`sub`).
   */
  logoutKeys(client: ClientIdentity, claim: "sid" | "sub", value: string): KeyedHashes;
  /** The hash with SECRET_KEY that tells one user from another in the browser. */
  account(issuer: string, subject: string, sourceKey?: string): string;
}

/** With SECRET_KEY first, then with each fallback. */
export type KeyedHashes = readonly [current: string, ...earlier: string[]];

/**
 * @param secretKey encrypts and decrypts
 * @param fallbacks earlier keys, or the next one; they only decrypt
 */
export function createSealer(secretKey: string, fallbacks: readonly string[]): Sealer {
  const keyring = (purpose: string): Keyring => [
    derive(secretKey, purpose),
    ...fallbacks.map((secret) => derive(secret, purpose)),
  ];
  // Derived once for each purpose: the derivation costs more than everything else.
  const records = keyring("idpauth record 1");
  const summaries = keyring("idpauth summary 1");
  const traces = keyring("idpauth trace 1");
  const subjects = keyring("idpauth subject 1");
  const sids = keyring("idpauth sid 1");
  const logouts = keyring("idpauth logout 1");
  const accounts = derive(secretKey, "idpauth account 1");
  const parameters: Readonly<Record<ParameterPurpose, Keyring>> = {
    form: keyring("idpauth form 1"),
    response: keyring("idpauth response 1"),
    callback: keyring("idpauth callback 1"),
  };
  return {
    seal: (plain, cookieValue, storeKey) =>
      encrypt(sessionKey(records[0], cookieValue), storeKey, plain),
    open: (sealed, cookieValue, storeKey) =>
      withEach(records, (key) => decrypt(sessionKey(key, cookieValue), storeKey, sealed)),
    sealSummary: (plain, storeKey) => encrypt(summaries[0], storeKey, plain),
    openSummary: (sealed, storeKey) => withEach(summaries, (key) => decrypt(key, storeKey, sealed)),
    sealParameter: (plain, purpose, bound) => encrypt(parameters[purpose][0], bound, plain),
    openParameter: (sealed, purpose, bound) =>
      withEach(parameters[purpose], (key) => decrypt(key, bound, sealed)),
    sealTrace: (plain, cookieValue, storeKey) =>
      encrypt(sessionKey(traces[0], cookieValue), storeKey, plain),
    openTrace: (sealed, cookieValue, storeKey) =>
      withEach(traces, (key) => decrypt(sessionKey(key, cookieValue), storeKey, sealed)),
    subjectHashes: (client, subject) => hashesOf(subjects, [...fieldsOf(client), subject]),
    sidHashes: (client, sid) => hashesOf(sids, [...fieldsOf(client), sid]),
    logoutKeys: (client, claim, value) => hashesOf(logouts, [claim, ...fieldsOf(client), value]),
    account: (issuer, subject, sourceKey) =>
      keyedHash(accounts, [
        ...(sourceKey === undefined ? [] : ["source", sourceKey]),
        issuer,
        subject,
      ]),
  };
}

/**
 * What tells one client's hashes from another's. Customers type the issuer and the client ID of a
 * provider from a source, so its key stands there. The longer list equals no other client's.
 */
function fieldsOf({ issuer, clientId, sourceKey }: ClientIdentity): readonly string[] {
  return sourceKey === undefined ? [issuer, clientId] : ["source", sourceKey, issuer];
}

type Keyring = readonly [current: Buffer, ...others: Buffer[]];

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
}

function sessionKey(master: Buffer, cookieValue: string): Buffer {
  return createHmac("sha256", master).update(cookieValue).digest();
}

function hashesOf([current, ...earlier]: Keyring, fields: readonly string[]): KeyedHashes {
  return [keyedHash(current, fields), ...earlier.map((key) => keyedHash(key, fields))];
}

function keyedHash(key: Buffer, fields: readonly string[]): string {
  const hmac = createHmac("sha256", key);
  // Length-prefixed, so that no two lists give the same input.
  for (const field of fields) hmac.update(`${String(Buffer.byteLength(field))}:${field}`);
  return hmac.digest("base64url");
}

function encrypt(key: Buffer, bound: string, plain: string): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(associated(bound));
  return Buffer.concat([
    Buffer.of(SEAL_VERSION),
    iv,
    cipher.update(plain, "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** Tries one key after the other. */
function withEach(ring: Keyring, open: (key: Buffer) => string | undefined): string | undefined {
  for (const key of ring) {
    const plain = open(key);
    if (plain !== undefined) return plain;
  }
  return undefined;
}

function decrypt(key: Buffer, bound: string, sealed: Uint8Array): string | undefined {
  if (sealed.length < 1 + IV_BYTES + TAG_BYTES || sealed[0] !== SEAL_VERSION) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associated(bound));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return (
      decipher.update(sealed.subarray(1 + IV_BYTES, sealed.length - TAG_BYTES), undefined, "utf8") +
      decipher.final("utf8")
    );
  } catch {
    // Encrypted with another key, or modified.
    return undefined;
  }
}

function associated(bound: string): Buffer {
  return Buffer.from(`${String(SEAL_VERSION)}:${bound}`);
}
