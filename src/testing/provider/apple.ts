/** How Sign in with Apple departs from OpenID Connect, as Apple's documents describe it. */
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JWTPayload } from "jose";
import { words, type OAuthError } from "./authentication.js";
import { clientKeys } from "./client-keys.js";
import type { PersonClaims } from "./people.js";
import type { Endpoint, ReceivedRequest } from "./received-requests.js";
import type { ProviderState } from "./test-provider-state.js";

/** Seconds, the longest life of a client secret. */
const LONGEST_LIFE_SECONDS = 15_777_000;

const SCOPES: readonly string[] = ["openid", "email", "name"];

/** The endpoints that Apple doesn't have. */
export const MISSING_AT_APPLE: readonly Endpoint[] = [
  "userinfo",
  "introspect",
  "endSession",
  "par",
];

/** The members of the discovery document that differ. */
export const APPLE_DISCOVERY = {
  response_modes_supported: ["query", "fragment", "form_post"],
  scopes_supported: SCOPES,
  claims_supported: [
    "aud",
    "email",
    "email_verified",
    "exp",
    "iat",
    "is_private_email",
    "iss",
    "sub",
  ],
  token_endpoint_auth_methods_supported: ["client_secret_post"],
  revocation_endpoint_auth_methods_supported: ["client_secret_post"],
};

/** Returns the client's mistake in an authorization request. */
export function appleMistake(query: URLSearchParams): OAuthError | undefined {
  const scopes = words(query.get("scope"));
  const other = scopes.find((scope) => !SCOPES.includes(scope));
  if (other !== undefined) return { error: "invalid_scope", description: "an unknown scope" };
  const asksIdentity = scopes.includes("email") || scopes.includes("name");
  return asksIdentity && query.get("response_mode") !== "form_post"
    ? {
        error: "invalid_request",
        description:
          "response_mode must be form_post if the name or the e-mail address is requested",
      }
    : undefined;
}

/**
 * Returns the field `user` of the response, which contains the name. Only the first sign-in of a
 * user has it. Undefined: this one isn't, or the name isn't requested.
 */
export function postedUser(
  person: PersonClaims,
  query: URLSearchParams,
  { appleUsers }: ProviderState,
): string | undefined {
  const sub = String(person["sub"]);
  if (appleUsers.has(sub)) return undefined;
  appleUsers.add(sub);
  if (!words(query.get("scope")).includes("name")) return undefined;
  const { given_name: firstName, family_name: lastName, email } = person;
  return JSON.stringify({ name: { firstName, lastName }, email });
}

/** Returns the claims of an ID token about the user: neither the name nor a picture. */
export function appleClaims({ email, email_verified: isVerified }: PersonClaims): PersonClaims {
  if (email === undefined) return { nonce_supported: true };
  // As text.
  return { email, email_verified: String(isVerified === true), nonce_supported: true };
}

/** Returns why a client secret, which is a JWT, is not accepted. It repeats nothing of it. */
export async function appleSecretMistake(
  { params, headers }: ReceivedRequest,
  state: ProviderState,
): Promise<string | undefined> {
  const { settings, issuer } = state;
  const { clientId, apple, clientJwks } = settings;
  const secret = params.get("client_secret");
  if (headers.authorization !== undefined) return "the client secret isn't in the body";
  if (params.get("client_id") !== clientId) return `client_id isn't ${clientId}`;
  if (secret === null) return "the request contains no client secret";
  let payload: JWTPayload;
  try {
    const keys = await clientKeys(clientJwks);
    const known = createLocalJWKSet({
      keys: keys.map(({ jwk }) => ({ ...jwk, kid: apple?.keyId ?? "" })),
    });
    ({ payload } = await jwtVerify(secret, known, {
      algorithms: ["ES256"],
      issuer: apple?.teamId ?? "",
      subject: clientId,
      audience: issuer,
      currentDate: new Date(state.now()),
      requiredClaims: ["iat", "exp"],
    }));
    if (decodeProtectedHeader(secret).kid !== apple?.keyId)
      return "the client secret's kid isn't the key's";
  } catch {
    return "the client secret isn't a JWT with this team, client, audience and key";
  }
  const { exp = 0, iat = 0 } = payload;
  return exp - iat > LONGEST_LIFE_SECONDS ? "the client secret lives too long" : undefined;
}
