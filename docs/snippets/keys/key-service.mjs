import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** In place of a key management service. */
export const keyService = {
  publicJwk: { ...createPublicKey(privateKey).export({ format: "jwk" }), kid: "idpauth-2026" },
  /** @param {Uint8Array} input */
  async sign(input) {
    return sign("sha256", input, { key: privateKey, dsaEncoding: "ieee-p1363" });
  },
};
