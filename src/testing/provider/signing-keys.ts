import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

/**
 * A JOSE header or claims set. Text is used byte for byte, for duplicate members or invalid JSON.
 */
export type JsonPart = Readonly<Record<string, unknown>> | string;

// Not JsonWebKey of node:crypto, which @types/node 26 no longer has.
type PublicJwk = Readonly<Record<string, unknown>>;

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: PublicJwk;
}

/** A signing key as text, for a restart of the provider. */
export interface KeptKey {
  readonly kid: string;
  /** PKCS #8. */
  readonly pem: string;
}

async function createSigningKey(kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generate("rsa", { modulusLength: 2048 });
  return { kid, privateKey, publicJwk: { ...publicKey.export({ format: "jwk" }) } };
}

/**
 * Returns a signed token with the header's algorithm (RFC 7518 section 3), without any checks of
 * header or claims. `none` in any letter case, and a header given as text without an algorithm,
 * give an empty signature.
 *
 * @param key a private key, or for HS256, HS384 and HS512 the secret's bytes
 *
 * @example
 * import { createSecretKey } from "node:crypto";
 * const key = createSecretKey(Buffer.from("a secret of 32 bytes or even more"));
 * const token = compactJws({ alg: "HS256" }, { sub: "ada" }, key.export());
 */
export function compactJws(
  header: JsonPart,
  claims: JsonPart,
  key: KeyObject | Uint8Array,
): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const alg = typeof header === "string" ? headerAlg(header) : header["alg"];
  return `${input}.${signature(typeof alg === "string" ? alg : "none", Buffer.from(input), key).toString("base64url")}`;
}

function encode(part: JsonPart): string {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

function headerAlg(header: string): unknown {
  try {
    return (JSON.parse(header) as Record<string, unknown>)["alg"];
  } catch {
    return undefined;
  }
}

function signature(alg: string, input: Buffer, key: KeyObject | Uint8Array): Buffer {
  if (alg.toLowerCase() === "none") return Buffer.alloc(0);
  const hash = `sha${alg.slice(-3)}`;
  if (alg.startsWith("HS")) return createHmac(hash, key).update(input).digest();
  if (key instanceof Uint8Array) throw new TypeError(`${alg} needs a private key`);
  if (alg.startsWith("PS"))
    return sign(hash, input, {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    });
  if (alg.startsWith("ES")) return sign(hash, input, { key, dsaEncoding: "ieee-p1363" });
  // RFC 8037 section 3.1, and the name that RFC 9864 gives the curve's algorithm.
  if (alg === "EdDSA" || alg === "Ed25519") return sign(null, input, key);
  return sign(hash, input, key);
}

let sharedKey: Promise<SigningKey> | undefined;

/** What the JWKS endpoint publishes; every method takes effect with the next request. */
export interface JwksControls {
  /** The document as it is published by default, for a test that builds its own from it. */
  document(): {
    /** Public keys, the current one last. */
    keys: PublicJwk[];
  };
  /** Publishes this instead: a value as JSON, text as it is. */
  publish(document: unknown): void;
  /** A 200 whose body is no JSON. */
  publishGarbage(): void;
  /** `{"keys":[]}` */
  publishEmpty(): void;
  /** The keys lose their `kid`, and so does the header of ID tokens. */
  publishWithoutKid(): void;
  /** Publishes `count` further keys, which sign nothing, before the current one. Default 1. */
  publishSeveral(count?: number): Promise<void>;
  /** Back to the default: the current key, and old ones that were kept. */
  reset(): void;
}

/**
 * The provider's keys. The current key signs; the JWKS endpoint publishes it and the kept old keys.
 */
export class SigningKeys {
  #current: SigningKey;
  /** Earlier current keys, the latest first. */
  #old: SigningKey[] = [];
  #decoys: SigningKey[] = [];
  #published: { readonly value: unknown } | undefined;
  #kidless = false;
  /** Asked anew for each signature. An RSA key can do both. */
  algorithm: () => "RS256" | "PS256" = () => "RS256";

  private constructor(first: SigningKey) {
    this.#current = first;
  }

  static async create(): Promise<SigningKeys> {
    return new SigningKeys(await createSigningKey(newKid()));
  }

  /**
   * Returns the process's own key under a new name, for tests, which start many providers: creating
   * a key takes 0.1 seconds.
   */
  static async shared(): Promise<SigningKeys> {
    sharedKey ??= createSigningKey("");
    return new SigningKeys({ ...(await sharedKey), kid: newKid() });
  }

  /** Returns keys that no other provider has. */
  static async generate(): Promise<SigningKeys> {
    return new SigningKeys(await createSigningKey(newKid()));
  }

  /** @throws Error if the text is no RSA key */
  static from({ kid, pem }: KeptKey): SigningKeys {
    const privateKey = createPrivateKey(pem);
    if (privateKey.asymmetricKeyType !== "rsa") throw new Error("the signing key isn't an RSA key");
    return new SigningKeys({
      kid,
      privateKey,
      publicJwk: { ...createPublicKey(privateKey).export({ format: "jwk" }) },
    });
  }

  /** The current key. */
  kept(): KeptKey {
    const { kid, privateKey } = this.#current;
    return { kid, pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  }

  get privateKey(): KeyObject {
    return this.#current.privateKey;
  }

  get publicKeyPem(): string {
    return createPublicKey(this.#current.privateKey)
      .export({ type: "spki", format: "pem" })
      .toString();
  }

  get publicJwk(): PublicJwk {
    return this.#current.publicJwk;
  }

  /** Returns whether the current key or a kept old one has signed this token. */
  hasSigned(token: string): boolean {
    const parts = /^([\w-]+\.[\w-]+)\.([\w-]+)$/.exec(token);
    const [, input = "", signed = ""] = parts ?? [];
    const [data, bytes] = [Buffer.from(input), Buffer.from(signed, "base64url")];
    // The setting may have changed since.
    const paddings = [constants.RSA_PKCS1_PADDING, constants.RSA_PKCS1_PSS_PADDING];
    return [this.#current, ...this.#old].some(({ privateKey }) =>
      paddings.some((padding) =>
        verify("sha256", data, { key: createPublicKey(privateKey), padding }, bytes),
      ),
    );
  }

  /** The header that ID tokens get by default. */
  get header(): Record<string, unknown> {
    return {
      alg: this.algorithm(),
      typ: "JWT",
      ...(this.#kidless ? {} : { kid: this.#current.kid }),
    };
  }

  async rotate(options: { keepOld?: boolean; kid?: string } = {}): Promise<void> {
    const next = await createSigningKey(options.kid ?? newKid());
    this.#old = options.keepOld === false ? [] : [this.#current, ...this.#old];
    this.#current = next;
  }

  /** Returns the body of the JWKS endpoint. @param members of each key, besides its own */
  published(members: Readonly<Record<string, unknown>> = {}): string {
    if (this.#published !== undefined) {
      const { value } = this.#published;
      return typeof value === "string" ? value : JSON.stringify(value);
    }
    return JSON.stringify({ keys: this.#document().keys.map((key) => ({ ...key, ...members })) });
  }

  readonly controls: JwksControls = {
    document: () => this.#document(),
    publish: (value) => {
      this.#published = { value };
    },
    publishGarbage: () => {
      this.#published = { value: '{"keys":[' };
    },
    publishEmpty: () => {
      this.#published = { value: { keys: [] } };
    },
    publishWithoutKid: () => {
      this.#kidless = true;
    },
    publishSeveral: async (count = 1) => {
      const decoys = await Promise.all(
        Array.from({ length: count }, () => createSigningKey(newKid())),
      );
      this.#decoys.push(...decoys);
    },
    reset: () => {
      this.#published = undefined;
      this.#kidless = false;
      this.#decoys = [];
    },
  };

  // The current key comes last, so that a client which takes the first one fails.
  #document(): { keys: PublicJwk[] } {
    return {
      keys: [...this.#decoys, ...this.#old, this.#current].map(({ kid, publicJwk }) => ({
        ...publicJwk,
        ...(this.#kidless ? {} : { kid }),
        use: "sig",
        alg: this.algorithm(),
      })),
    };
  }
}

function newKid(): string {
  return randomBytes(8).toString("hex");
}
