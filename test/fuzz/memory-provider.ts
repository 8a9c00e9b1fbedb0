import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import type { Clock } from "../../src/index.js";

export type AnsweringEndpoint = "discovery" | "token" | "jwks" | "userinfo" | "revoke";

export interface MemoryAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const ISSUER = "https://idp.example";
export const CLIENT_ID = "fuzz-client";
/** Stands in nothing else, so that a leak is seen. */
export const CLIENT_SECRET = "cs-7e1d0bfa-client-secret";

export const PERSON = {
  sub: "ada-1815",
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};

/** What everybody's tokens look like here. Stands in nothing else. */
export const ACCESS_TOKEN = "at-2f0c9d51-access-token";
export const REFRESH_TOKEN = "rt-93ab77de-refresh-token";
export const SECRETS = [CLIENT_SECRET, ACCESS_TOKEN, REFRESH_TOKEN];

/**
 * A provider without a socket, for a hundred thousand answers: everything it says can be replaced.
 */
export class MemoryProvider {
  /** The nonce of the next ID token. */
  nonce: string | undefined = undefined;
  /** What the next ID token says of the person besides `sub`. */
  person: Readonly<Record<string, unknown>> = PERSON;
  /** Replaces an answer. */
  change: ((endpoint: AnsweringEndpoint, answer: MemoryAnswer) => MemoryAnswer) | undefined;
  tokenRequests = 0;
  readonly privateKey: KeyObject;
  readonly jwks: { readonly keys: readonly Record<string, unknown>[] };
  readonly #clock: Clock;

  constructor(clock: Clock) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    this.#clock = clock;
    this.privateKey = privateKey;
    this.jwks = {
      keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1", alg: "EdDSA", use: "sig" }],
    };
  }

  get document(): Record<string, unknown> {
    return {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      jwks_uri: `${ISSUER}/jwks`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
      revocation_endpoint: `${ISSUER}/revoke`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["EdDSA"],
      scopes_supported: ["openid", "email", "profile", "offline_access"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  claims(): Record<string, unknown> {
    const now = Math.floor(this.#clock.now() / 1000);
    return {
      ...this.person,
      iss: ISSUER,
      aud: CLIENT_ID,
      iat: now,
      exp: now + 3600,
      at_hash: createHash("sha512")
        .update(ACCESS_TOKEN)
        .digest()
        .subarray(0, 32)
        .toString("base64url"),
      ...(this.nonce !== undefined && { nonce: this.nonce }),
    };
  }

  readonly header = { alg: "EdDSA", kid: "k1", typ: "JWT" };

  /** @param header,claims JSON texts */
  sign(header: string, claims: string): string {
    const input = `${Buffer.from(header).toString("base64url")}.${Buffer.from(claims).toString("base64url")}`;
    return `${input}.${sign(null, Buffer.from(input), this.privateKey).toString("base64url")}`;
  }

  idToken(): string {
    return this.sign(JSON.stringify(this.header), JSON.stringify(this.claims()));
  }

  tokenResponse(): Record<string, unknown> {
    return {
      access_token: ACCESS_TOKEN,
      token_type: "Bearer",
      expires_in: 3600,
      scope: "openid email profile",
      id_token: this.idToken(),
      refresh_token: REFRESH_TOKEN,
    };
  }

  readonly fetch: typeof fetch = (input) => {
    const endpoint = endpointOf(input instanceof Request ? input.url : String(input));
    if (endpoint === "token") this.tokenRequests += 1;
    const usual = {
      status: 200,
      headers: { "content-type": "application/json" },
      body: this.#body(endpoint),
    };
    const { status, headers, body } = this.change?.(endpoint, usual) ?? usual;
    return Promise.resolve(
      new Response([204, 205, 304].includes(status) ? null : body, { status, headers }),
    );
  };

  #body(endpoint: AnsweringEndpoint): string {
    switch (endpoint) {
      case "discovery":
        return JSON.stringify(this.document);
      case "token":
        return JSON.stringify(this.tokenResponse());
      case "jwks":
        return JSON.stringify(this.jwks);
      case "userinfo":
        return JSON.stringify(PERSON);
      case "revoke":
        return "";
    }
  }
}

/**
 * By the end of the path; a document that names another address is answered by what it may have
 * meant.
 */
function endpointOf(url: string): AnsweringEndpoint {
  const { pathname } = new URL(url);
  if (pathname.endsWith("/.well-known/openid-configuration")) return "discovery";
  const endpoints: readonly AnsweringEndpoint[] = ["jwks", "userinfo", "revoke"];
  return endpoints.find((endpoint) => pathname.endsWith(`/${endpoint}`)) ?? "token";
}
