// The key of a client that authenticates with private_key_jwt.
import { generateKeyPairSync, randomUUID } from "node:crypto";

/**
 * @param {"ES256" | "RS256" | "PS256"} alg
 * @returns {{ publicKey: Record<string, unknown>, setting: string }} the half to register, and the
 *   value of IDP_PRIVATE_KEY
 */
export function newClientKey(alg) {
  const { publicKey, privateKey } =
    alg === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const named = { alg, use: "sig", kid: randomUUID() };
  return {
    publicKey: { ...publicKey.export({ format: "jwk" }), ...named },
    setting: JSON.stringify({ ...privateKey.export({ format: "jwk" }), ...named }),
  };
}
