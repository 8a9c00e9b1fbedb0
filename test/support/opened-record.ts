import { createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import type { Stored } from "../../src/ports/session-store.js";

/** The key under which a store keeps the session of a cookie. */
export function storedUnder(cookie: string): string {
  return createHash("sha256").update(cookie).digest("base64url");
}

/**
 * The text of a stored record, opened with nothing of the code under test: version 1, 12 bytes of
 * nonce, the text under AES-256-GCM, 16 bytes of tag. Throws for a record of another format, key or
 * session.
 */
export function openedRecord(
  stored: Stored | undefined,
  cookie: string,
  secretKey = "a secret key of at least 32 bytes",
): string {
  const data = Buffer.from(stored?.data as Uint8Array);
  const master = Buffer.from(hkdfSync("sha256", secretKey, "", "idpauth record 1", 32));
  const key = createHmac("sha256", master).update(cookie).digest();
  const decipher = createDecipheriv("aes-256-gcm", key, data.subarray(1, 13), {
    authTagLength: 16,
  });
  decipher.setAAD(Buffer.from(`1:${storedUnder(cookie)}`));
  decipher.setAuthTag(data.subarray(-16));
  return decipher.update(data.subarray(13, -16), undefined, "utf8") + decipher.final("utf8");
}
