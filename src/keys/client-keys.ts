import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  KeyObject,
  sign,
  X509Certificate,
  type JsonWebKey as NodeJwk,
  type SigningOptions,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isObject } from "../record/json.js";
import { isTooSmall } from "./rsa-key-size.js";

/** An algorithm for client assertions. */
export type AssertionAlgorithm = NonNullable<RemoteKey["alg"]>;

/**
 * Signs for a key that a key management service keeps. It gets the signing input (RFC 7515
 * section 5.1), and returns the raw signature: with ES256, `r` and `s` of 32 bytes each. It must
 * respond within `IDP_HTTP_TIMEOUT` and 15 seconds; a failure is an outage.
 */
export type SignAssertion = (
  input: Uint8Array,
  options: { readonly alg: NonNullable<RemoteKey["alg"]> },
) => Promise<Uint8Array>;

/** A key that a key management service keeps: what a header names, and how to sign. */
export interface RemoteKey {
  /** Called as a method of this object. */
  readonly sign: SignAssertion;
  /** The key's identifier at the provider. */
  readonly kid?: string;
  /**
   * RFC 7518 section 3.1 and RFC 8037 define them. Default RS256 or PS256, by what the provider
   * advertises.
   */
  readonly alg?: "PS256" | "ES256" | "EdDSA" | "RS256";
}

/** A key as JSON (RFC 7517). Its type is ours, so that the package's types need none of Node.js. */
export interface Jwk {
  /** The key type: `RSA`, `EC` or `OKP`. */
  readonly kty?: string | undefined;
  /** The key's identifier at the provider; default its thumbprint (RFC 7638). */
  readonly kid?: string | undefined;
  /** `sig`, if it is set. */
  readonly use?: string | undefined;
  /** The only algorithm that the key signs with. */
  readonly alg?: string | undefined;
  /** The curve: `P-256` or `Ed25519`. */
  readonly crv?: string | undefined;
  /** The private part. */
  readonly d?: string | undefined;
  /** The exponent of an RSA key. */
  readonly e?: string | undefined;
  /** The modulus of an RSA key. */
  readonly n?: string | undefined;
  /** The point's x coordinate, or an Ed25519 key's public part. */
  readonly x?: string | undefined;
  /** The point's y coordinate. */
  readonly y?: string | undefined;
}

/**
 * One key in code: PEM, a JWK, `file:` and the path of either, a private key of `node:crypto`, or a
 * key management service's key.
 */
export type PrivateKeyOption =
  | string
  | Jwk
  | RemoteKey
  | SignAssertion
  | {
      /** A `KeyObject` of `node:crypto`. Only a private key is accepted. */
      readonly type: "private" | "public" | "secret";
      /** `rsa`, `ec` or `ed25519`. */
      readonly asymmetricKeyType?: string | undefined;
    };

/** One key of the client. It shows no private part, whoever prints it. */
export interface ClientKey {
  readonly kid: string | undefined;
  /** The algorithms that it can sign with. */
  readonly algorithms: readonly AssertionAlgorithm[];
  readonly sign: SignAssertion;
  /** The public half (RFC 7517). Undefined: a key management service keeps the key. */
  readonly publicJwk: Jwk | undefined;
}

const RSA: readonly AssertionAlgorithm[] = ["RS256", "PS256"];

const SIGNING: Readonly<
  Record<AssertionAlgorithm, readonly [hash: string | null, options: SigningOptions]>
> = {
  RS256: ["sha256", { padding: constants.RSA_PKCS1_PADDING }],
  PS256: ["sha256", { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }],
  ES256: ["sha256", { dsaEncoding: "ieee-p1363" }],
  EdDSA: [null, {}],
};

/** Returns the key that signs: the first one. The others are only published. */
export function signingKey(keys: readonly ClientKey[] | null | undefined): ClientKey | undefined {
  return keys?.[0];
}

/** Why a value is no usable key, for a remedy. Never contains a part of the value. */
export class KeyProblem extends Error {}

/** The forms of keys in the environment. */
export const FORMS =
  "a private key as PEM or JWK, a JWK set, or `file:` paths separated by white space";
/** The forms of keys in code. */
export const FORMS_IN_CODE =
  "PEM, a JWK, `file:` and a path, a private KeyObject, a list of these, or a function that signs";

/** The certificate of a key: only its thumbprint is used. */
export interface Certificate {
  /** `x5t#S256` (RFC 7515 section 4.1.8). */
  readonly thumbprint: string;
  /** The public key, as JSON, for a comparison. */
  readonly publicKey: string;
}

/**
 * Whether a certificate is the key's. A key management service's key has no public half here, so
 * the certificate is taken as given.
 */
export function isCertificateOf({ publicKey }: Certificate, { publicJwk }: ClientKey): boolean {
  return publicJwk === undefined || publicKey === thumbprintInput(publicJwk);
}

function keysOfText(text: string): readonly ClientKey[] {
  const trimmed = text.trim();
  if (trimmed.startsWith("{") || trimmed.includes("-----BEGIN")) return keysOfContent(trimmed);
  const files = trimmed.split(/\s+/);
  if (!files.every((file) => file.startsWith("file:"))) throw new KeyProblem(`Use ${FORMS}.`);
  return files.flatMap((file) => keysOfContent(readText(file).trim()));
}

/** Reads a JWK, a JWK set or PEM. */
function keysOfContent(content: string): readonly ClientKey[] {
  if (!content.startsWith("{")) return [keyOfPem(content)];
  return keysOfObject(
    readable(
      () => JSON.parse(content) as unknown,
      "The key begins like JSON, but isn't valid JSON.",
    ),
  );
}

/** @throws KeyProblem with these words, in place of any other error */
export function readable<Value>(read: () => Value, problem: string): Value {
  try {
    return read();
  } catch {
    throw new KeyProblem(problem);
  }
}

/** Reads the keys of the client. @throws KeyProblem */
export function readKeys(value: unknown): readonly ClientKey[] {
  if (typeof value === "function") return [remoteKey({ sign: value as SignAssertion })];
  if (Array.isArray(value)) {
    if (value.length === 0) throw new KeyProblem("The list contains no key.");
    // Array.from, since flatMap skips the holes of a sparse array.
    return Array.from<unknown>(value).flatMap((item) => readKeys(item));
  }
  if (typeof value === "string") return keysOfText(value);
  if (value instanceof KeyObject) return [localKey(value)];
  if (isObject(value) && typeof value["sign"] === "function")
    return [remoteKey(value as unknown as RemoteKey)];
  if (isObject(value)) return keysOfObject(value);
  throw new KeyProblem(`Use ${FORMS_IN_CODE}.`);
}

function keysOfObject(value: unknown): readonly ClientKey[] {
  if (!isObject(value)) throw new KeyProblem(`Use ${FORMS}.`);
  const { keys } = value;
  if (!Array.isArray(keys)) return [keyOfJwk(value)];
  if (keys.length === 0) throw new KeyProblem("The JWK set contains no key.");
  return Array.from<unknown>(keys).map((key) => {
    if (!isObject(key)) throw new KeyProblem("The JWK set contains a key that isn't an object.");
    return keyOfJwk(key);
  });
}

function keyOfJwk(jwk: Readonly<Record<string, unknown>>): ClientKey {
  if (jwk["d"] === undefined)
    throw new KeyProblem(
      "The JWK is a public key. Use the private one, which has the property `d`.",
    );
  const { kid, alg, use } = jwk;
  if (use !== undefined && use !== "sig")
    throw new KeyProblem("The JWK isn't for signatures: its `use` isn't `sig`.");
  const key = readable(
    () => createPrivateKey({ key: jwk as NodeJwk, format: "jwk" }),
    "The JWK can't be read as a private key.",
  );
  const read = localKey(key, typeof kid === "string" && kid !== "" ? kid : undefined);
  if (alg === undefined) return read;
  const chosen = read.algorithms.filter((algorithm) => algorithm === alg);
  if (chosen.length === 0)
    throw new KeyProblem(
      `The \`alg\` of the JWK must be ${read.algorithms.join(" or ")} for this key.`,
    );
  return { ...read, algorithms: chosen };
}

function keyOfPem(pem: string): ClientKey {
  // Environment files often keep a PEM on one line, with `\n` in place of the line breaks.
  const text = pem.replaceAll("\\n", "\n");
  if (/-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(text)) {
    throw new KeyProblem(
      "The private key is encrypted with a passphrase. Use it without one: `openssl pkey -in key.pem -out plain.pem`.",
    );
  }
  const keys = text.match(/-----BEGIN [A-Z ]*PRIVATE KEY-----/g) ?? [];
  if (keys.length === 0)
    throw new KeyProblem("The PEM contains no private key. Use the private key.");
  if (keys.length > 1)
    throw new KeyProblem(
      "The PEM contains several private keys. Use one file for each, or a JWK set.",
    );
  return localKey(
    readable(() => createPrivateKey(text), "The PEM can't be read as a private key."),
  );
}

function localKey(key: KeyObject, kid?: string): ClientKey {
  const algorithms = algorithmsOf(key);
  const publicJwk = createPublicKey(key).export({ format: "jwk" });
  const id = kid ?? createHash("sha256").update(thumbprintInput(publicJwk)).digest("base64url");
  return {
    kid: id,
    algorithms,
    publicJwk: { ...publicJwk, kid: id, use: "sig" },
    sign: (input, { alg }) =>
      new Promise((resolve, reject) => {
        const [hash, options] = SIGNING[alg];
        sign(hash, input, { key, ...options }, (error, signature) => {
          if (error === null) resolve(signature);
          else reject(error);
        });
      }),
  };
}

function remoteKey(remote: RemoteKey): ClientKey {
  const { kid, alg } = remote;
  if (alg !== undefined && (typeof alg !== "string" || !Object.hasOwn(SIGNING, alg))) {
    throw new KeyProblem(
      `The algorithm of \`sign\` is unknown. Use ${Object.keys(SIGNING).join(", ")}.`,
    );
  }
  if (kid !== undefined && (typeof kid !== "string" || kid === ""))
    throw new KeyProblem("The `kid` beside `sign` isn't a string, or is empty.");
  // Called as a method: a client of a service may be the object itself.
  const signs: SignAssertion = (input, options) => remote.sign(input, options);
  return { kid, algorithms: alg === undefined ? RSA : [alg], sign: signs, publicJwk: undefined };
}

function algorithmsOf(key: KeyObject): readonly AssertionAlgorithm[] {
  const { type, asymmetricKeyType, asymmetricKeyDetails: details } = key;
  if (type !== "private") throw new KeyProblem("The key is not a private one.");
  if (asymmetricKeyType === "ed25519") return ["EdDSA"];
  if (asymmetricKeyType === "ec") {
    if (details?.namedCurve === "prime256v1") return ["ES256"];
    throw new KeyProblem("The elliptic curve isn't P-256, the only one that idpauth signs with.");
  }
  if (asymmetricKeyType !== "rsa")
    throw new KeyProblem("The key is neither RSA, nor P-256, nor Ed25519.");
  if (isTooSmall(key)) throw new KeyProblem("The RSA key has fewer than 2048 bits.");
  return RSA;
}

/**
 * The required members of a public key in their order, without white space (RFC 7638 section 3).
 */
export function thumbprintInput({ crv, e, kty, n, x, y }: Jwk): string {
  return JSON.stringify({ crv, e, kty, n, x, y });
}

/** @param text PEM, or `file:` and its path @throws KeyProblem */
export function readCertificate(text: string): Certificate {
  const read = readable(
    () => new X509Certificate(contentOf(text)),
    "The value can't be read as a certificate in PEM form.",
  );
  return {
    thumbprint: createHash("sha256").update(read.raw).digest("base64url"),
    publicKey: thumbprintInput(read.publicKey.export({ format: "jwk" })),
  };
}

/**
 * Returns PEM that is given itself, or by `file:` and its path. Environment files often keep it on
 * one line, with `\\n` in place of the line breaks.
 *
 * @throws KeyProblem
 */
export function contentOf(text: string): string {
  const given = text.trim();
  return given.startsWith("file:") ? readText(given) : given.replaceAll("\\n", "\n");
}

/** @param address `file:` and a path, absolute or from the working folder; or a `file:` URL */
function readText(address: string): string {
  try {
    return readFileSync(
      address.startsWith("file://") ? fileURLToPath(address) : address.slice("file:".length),
      "utf8",
    );
  } catch (error) {
    const { code = "unknown error" } = error as { readonly code?: string };
    // A key in place of a path must not be repeated. Only a path has a name with an extension at
    // its end.
    const named = /^[^{"]{1,300}\.[a-z]{2,5}$/i.test(address)
      ? `The file ${JSON.stringify(address)}`
      : "A file of the value";
    throw new KeyProblem(`${named} can't be read (${code}).`);
  }
}
