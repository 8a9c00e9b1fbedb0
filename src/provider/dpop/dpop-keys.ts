/** The keys of sessions, as the algorithm ES256 uses them (RFC 9449 section 4.2). */
import { calculateJwkThumbprint, type CryptoKey } from "jose";
import type { DpopKey } from "../../record/dpop.js";

const ES256 = { name: "ECDSA", namedCurve: "P-256" } as const;

/** Creates a key for one login. */
export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey } = await crypto.subtle.generateKey(ES256, true, ["sign", "verify"]);
  const { x = "", y = "", d = "" } = await crypto.subtle.exportKey("jwk", privateKey);
  return { x, y, d };
}

/** The key's public half, as a proof contains it. */
export interface PublicDpopJwk {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
}

export function publicJwk({ x, y }: DpopKey): PublicDpopJwk {
  return { kty: "EC", crv: "P-256", x, y };
}

/** Returns `dpop_jkt`, to which the provider binds a code (RFC 9449 section 10). */
export function thumbprintOf(key: DpopKey): Promise<string> {
  return calculateJwkThumbprint(publicJwk(key));
}

/** Reading a key costs as much as signing does. A request reads its record, and so its key, once. */
const read = new WeakMap<DpopKey, Promise<CryptoKey>>();

/** Returns what signs. @throws DOMException the stored members are of no key */
export function privateKeyOf(key: DpopKey): Promise<CryptoKey> {
  const known = read.get(key) ?? imported({ ...publicJwk(key), d: key.d }, "sign");
  read.set(key, known);
  return known;
}

/** A key in the form of oauth4webapi. Its public half can be exported. */
interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export async function keyPairOf(key: DpopKey): Promise<KeyPair> {
  const [privateKey, publicKey] = await Promise.all([
    privateKeyOf(key),
    imported(publicJwk(key), "verify"),
  ]);
  return { privateKey, publicKey };
}

function imported(jwk: PublicDpopJwk & { d?: string }, use: "sign" | "verify"): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { ...jwk }, ES256, use === "verify", [use]);
}
