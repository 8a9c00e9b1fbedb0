// The table of docs/reference/provider-responses.md: what each response to a refresh means, through
// the whole of one provider's client.
import { generateKeyPairSync, sign } from "node:crypto";
import { expect, it } from "vitest";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import { ProviderRefusedError, type ProviderUnavailableError } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import { createOpenIdProvider } from "../../src/provider/openid-provider.js";
import type { SessionRecord } from "../../src/record/record.js";
import { TestClock } from "../../src/testing/test-clock.js";

const ISSUER = "https://idp.example";
const clock = new TestClock();
const NOW = Math.floor(clock.now() / 1000);
const key = (kid: string) => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...pair, kid, jwk: { ...pair.publicKey.export({ format: "jwk" }), kid, alg: "ES256" } };
};
const KEY = key("published");
const OTHER = key("unpublished");

const CLAIMS = { iss: ISSUER, aud: "client", sub: "ada", iat: NOW, exp: NOW + 600 };
const before = (changes: object = {}): SessionRecord => ({
  id_info: { iss: ISSUER, sub: "ada", iat: NOW - 60, ...changes },
  idp_state: { v: 1 },
});

interface Answer {
  readonly status?: number;
  /** Default: the tokens of a successful refresh. */
  readonly body?: unknown;
  /** Changes of the ID token's claims. */
  readonly claims?: object;
  readonly signedWith?: typeof KEY;
  readonly previous?: SessionRecord;
  /** Statuses and bodies of other endpoints; 0: no response. */
  readonly jwks?: number;
  readonly userinfo?: [status: number, body: unknown];
  readonly tokenType?: string;
}

function idToken({ claims, signedWith = KEY }: Answer): string {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const input = `${encoded({ alg: "ES256", kid: signedWith.kid })}.${encoded({ ...CLAIMS, ...claims })}`;
  const options = { key: signedWith.privateKey, dsaEncoding: "ieee-p1363" } as const;
  return `${input}.${sign("sha256", Buffer.from(input), options).toString("base64url")}`;
}

/** What a refresh with this answer is, and its reason. */
async function meaning(answer: Answer): Promise<string> {
  const reply = (status: number, body: unknown) =>
    status === 0
      ? Promise.reject(new TypeError("fetch failed"))
      : Promise.resolve(
          new Response(typeof body === "string" ? body : JSON.stringify(body), {
            status,
            headers: { "content-type": "application/json" },
          }),
        );
  const { status = 200, jwks = 200, userinfo = [200, { sub: "ada" }] } = answer;
  const tokens = { access_token: "a", token_type: answer.tokenType ?? "Bearer", expires_in: 600 };
  const provider = createOpenIdProvider({
    settings: {
      clientId: "client",
      clientSecret: "secret",
      issuer: ISSUER,
      privateKey: null,
      appleTeamId: null,
      certificate: null,
      clientCertificate: null,
      scope: ["openid"],
      httpTimeout: 5,
      clockTolerance: 5,
      trustedAudiences: [],
      idTokenSignedResponseAlg: null,
      responseMode: "query",
      tokenEndpointAuthMethod: "client_secret_post",
      refreshWithoutIdToken: "userinfo",
      providerMetadata: {},
      discoveryUrl: null,
      userinfo: "when-needed",
    } as unknown as ProviderSettings,
    clock,
    events: new EventHub(() => undefined, clock),
    fetch: (address) => {
      const url = address as string;
      if (url.endsWith("/token"))
        return reply(status, answer.body ?? { ...tokens, id_token: idToken(answer) });
      if (url.endsWith("/keys")) return reply(jwks, { keys: [KEY.jwk] });
      if (url.endsWith("/userinfo")) return reply(...userinfo);
      return reply(200, {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        userinfo_endpoint: `${ISSUER}/userinfo`,
        jwks_uri: `${ISSUER}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
      });
    },
  });
  const request = { refreshToken: "r", session: "s", signal: new AbortController().signal };
  try {
    const spent = await provider.refresh(request);
    await provider.verifyRefreshed(spent, answer.previous ?? before(), request);
    return "refreshed";
  } catch (error) {
    if (error instanceof ProviderRefusedError) return `refused ${error.reason}`;
    const { reason, isMisconfiguration } = error as ProviderUnavailableError;
    return `${isMisconfiguration ? "operator" : "outage"} ${reason}`;
  }
}

const withoutIdToken = { access_token: "a", token_type: "Bearer", expires_in: 600 };
const error = (status: number, code: string, expected: string): [string, Answer, string] => [
  `${String(status)} ${code}`,
  { status, body: { error: code } },
  expected,
];
const claims = (what: string, changes: object, expected: string): [string, Answer, string] => [
  what,
  { claims: changes },
  expected,
];

it.each<[string, Answer, string]>([
  error(400, "temporarily_unavailable", "outage temporarily_unavailable"),
  error(403, "slow_down", "outage slow_down"),
  error(400, "invalid_grant", "refused invalid_grant"),
  error(403, "invalid_grant", "refused invalid_grant"),
  error(200, "invalid_grant", "refused invalid_grant"),
  error(400, "login_required", "refused login_required"),
  error(403, "access_denied", "refused access_denied"),
  error(200, "invalid_client", "operator invalid_client"),
  error(400, "invalid_scope", "operator invalid_scope"),
  error(400, "invalid_target", "operator invalid_target"),
  ["401", { status: 401, body: "" }, "operator http_401"],
  ["403", { status: 403, body: "" }, "operator http_403"],
  ["404", { status: 404, body: "" }, "operator http_404"],
  ["no response", { status: 0 }, "outage network"],
  ["429", { status: 429, body: "" }, "outage http_429"],
  ["500", { status: 500, body: { error: "invalid_request" } }, "outage http_500"],
  ["a body that isn't JSON", { body: "<html>" }, "outage not_json"],
  ["a byte order mark", { body: `\ufeff${JSON.stringify({ error: "invalid_grant" })}` }, "refused invalid_grant"], // prettier-ignore
  ["a body that is too large", { body: "x".repeat(1_100_000) }, "outage too_large"],
  ["200 without tokens or an error", { body: {} }, "outage no_tokens"],
  ["400 without a well-formed error", { status: 400, body: "" }, "outage http_400"],
  error(400, "invalid_request", "outage invalid_request"),
  error(400, "bad_client_secret", "outage bad_client_secret"),
  error(200, "bad_client_secret", "outage bad_client_secret"),
  ["no ID token, and userinfo of the same user", { body: withoutIdToken }, "refreshed"],
  ["an empty ID token", { body: { ...withoutIdToken, id_token: "" } }, "refreshed"],
  [
    "no ID token, and userinfo of another user",
    { body: withoutIdToken, userinfo: [200, { sub: "bob" }] },
    "refused userinfo_sub",
  ],
  [
    "no ID token, and userinfo's 401",
    { body: withoutIdToken, userinfo: [401, ""] },
    "operator userinfo_refused",
  ],
  [
    "no ID token, and userinfo that is away",
    { body: withoutIdToken, userinfo: [503, ""] },
    "outage http_503",
  ],
  ["keys that are away", { jwks: 503 }, "outage jwks"],
  ["an unknown key", { signedWith: OTHER }, "outage unknown_key"],
  claims("iat ahead", { iat: NOW + 60 }, "operator id_token_iat"),
  claims("nbf ahead", { nbf: NOW + 60 }, "operator id_token_nbf"),
  claims("iat earlier than before", { iat: NOW - 120 }, "operator id_token_iat"),
  claims("exp passed, iat later", { exp: NOW - 10, iat: NOW - 30 }, "operator id_token_exp"),
  claims("exp passed, iat not later", { exp: NOW - 10, iat: NOW - 60 }, "refused id_token_exp"),
  claims("exp passed, iat earlier", { exp: NOW - 10, iat: NOW - 120 }, "refused id_token_exp"),
  claims(
    "an audience beside ours",
    { aud: ["client", "d"], azp: "client" },
    "operator id_token_aud",
  ),
  claims("no azp beside several audiences", { aud: ["client", "client"] }, "operator id_token_azp"),
  claims("our own client as a new azp", { azp: "client" }, "refreshed"),
  claims("another issuer", { iss: "https://other.example" }, "operator id_token_iss"),
  ["an access token of another type", { tokenType: "DPoP" }, "operator token_type"],
  claims("another sub", { sub: "bob" }, "refused id_token_sub"),
  claims("another azp", { azp: "other" }, "refused id_token_azp"),
  claims("an empty azp", { azp: "" }, "refused id_token_azp"),
  claims("another nonce", { nonce: "other" }, "refused id_token_nonce"),
  claims("an empty nonce and at_hash", { nonce: "", at_hash: "" }, "refreshed"),
  claims("another at_hash", { at_hash: "other" }, "refused id_token_at_hash"),
  ["a wrong signature", { signedWith: { ...OTHER, kid: KEY.kid } }, "refused id_token_signature"],
  ["a verified ID token", {}, "refreshed"],
])("%s", async (_row, answer, expected) => {
  expect(await meaning(answer)).toBe(expected);
});
