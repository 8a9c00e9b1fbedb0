import { createPrivateKey, generateKeyPairSync, randomBytes, type JsonWebKey } from "node:crypto";
import type { AdapterFactory, AdapterPayload } from "oidc-provider";
import { providerMemory } from "./provider-memory.js";

/**
 * Made once; with the same ones the demo is the same application, and its provider the same
 * provider.
 */
export interface DemoSecrets {
  /** SECRET_KEY, where the environment brings none. */
  readonly secretKey: string;
  readonly clientSecret: string;
  /** Signs the embedded provider's cookies. */
  readonly cookieKey: string;
  /** Signs ID tokens; the private part too. */
  readonly signingKey: JsonWebKey;
}

/** What the demo and its embedded provider remember. */
export interface DemoState {
  readonly secrets: DemoSecrets;
  /** Grants, codes, refresh tokens and the like. */
  readonly issued: AdapterFactory;
  /**
   * Returns the sessions of the users who are signed in at the embedded provider, as oidc-provider
   * stores them.
   */
  sessions(): readonly AdapterPayload[];
  /** The port of the embedded provider's last start: its address is in every ID token. */
  readonly providerPort: number | undefined;
  rememberProviderPort(port: number): void;
  /** Returns what the second provider remembers, with secrets of its own. `close` closes both. */
  second(): DemoState;
  close(): void;
}

/** Remembers until the process ends. */
export function memoryState(): DemoState {
  const { issued, list } = providerMemory();
  return {
    secrets: newSecrets(),
    issued,
    sessions: () => list("Session").filter(({ accountId }) => accountId !== undefined),
    providerPort: undefined,
    rememberProviderPort() {},
    second: memoryState,
    close() {},
  };
}

export function newSecrets(): DemoSecrets {
  const random = () => randomBytes(32).toString("base64url");
  return {
    secretKey: random(),
    clientSecret: random(),
    cookieKey: random(),
    signingKey: {
      ...newSigningKey(),
      kid: randomBytes(8).toString("hex"),
      use: "sig",
      alg: "RS256",
    },
  };
}

/**
 * By way of PEM: in Node 20 a key that was generated synchronously waits for itself for ever when
 * the garbage collector runs in the moment of its export as JWK.
 */
function newSigningKey(): JsonWebKey {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return createPrivateKey(privateKey).export({ format: "jwk" });
}
