import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isHarmless } from "../../src/cli/live/harmless-words.js";
import { SETTINGS, type SettingName } from "../../src/config/read-settings.js";
import { runLive } from "./live-run.js";

// What must not be in a report: a name, and a number that identifies a tenant.
const NAME = "acmecorp";
const ID = "918273645";
const MARKED = `${NAME}-${ID}`;
const HOST = `https://${MARKED}.example`;

/** A value for each setting. What the startup checks refuse must not be in a report either. */
const VALUES: Readonly<Record<SettingName, string>> = {
  secretKey: `${MARKED}-with-at-least-32-bytes-of-length`,
  secretKeyFallbacks: `${MARKED}-with-at-least-32-bytes-of-another`,
  sessionAutoRefresh: "off",
  sessionMaxAge: "7200",
  sessionIdleTimeout: "900",
  sessionsNotBefore: "2026-01-01T00:00:00Z",
  sessionTtl: "86400",
  sessionsPerUser: "7",
  streamsPerSession: "9",
  tokenRevokeOnLogout: "off",
  credentialsSessionKeyName: MARKED,
  stateKeyName: `${MARKED}-state`,
  finalRedirectKeyName: `${MARKED}-redirect`,
  cookieName: MARKED,
  logoutAtProvider: "on",
  backchannelLogout: "on",
  frontchannelLogout: "on",
  sessionsPage: "on",
  events: "on",
  providers: "",
  defaultProvider: NAME,
  clientId: MARKED,
  clientSecret: MARKED,
  privateKey: `file:/${MARKED}`,
  certificate: `file:/${MARKED}`,
  clientCertificate: `file:/${MARKED}`,
  clientCertificateKey: `file:/${MARKED}`,
  clientAssertionAudience: "token_endpoint",
  appleTeamId: "TEAM123456",
  appleKeyId: "KEY1234567",
  issuer: HOST,
  discoveryUrl: `${HOST}/${MARKED}/discovery`,
  allowedTenants: "12345678-1234-4123-8123-123456789012",
  scope: `openid email ${NAME}/read api://${ID}`,
  httpTimeout: "3",
  refreshConcurrency: "9",
  tokenEndpointAuthMethod: "client_secret_basic",
  providerMetadata: JSON.stringify({ revocation_endpoint: `${HOST}/${MARKED}` }),
  refreshWithoutIdToken: "refuse",
  userinfo: "always",
  clockTolerance: "11",
  loginPrompt: "login",
  authorizationParams: `${NAME}=${ID}&hd=${MARKED}.example`,
  pushedRequests: "always",
  loginParams: `${NAME} login_hint`,
  requestAuthTime: "on",
  trustedAudiences: MARKED,
  idTokenSignedResponseAlg: MARKED,
  responseMode: MARKED,
  signedRequests: "always",
  dpop: "on",
  fapi: "2",
  baseUrl: HOST,
  callbackOrigin: HOST,
  mountPath: `/${MARKED}/`,
  pathPrefix: `/${MARKED}`,
  trustProxy: "on",
  authFinalRedirectUrl: `${HOST}/${MARKED}`,
  authLogoutRedirectUrl: `/${MARKED}`,
  hookTimeout: "4",
  dataLimit: "1000",
  debug: "on",
};

const NAMES = Object.keys(VALUES) as SettingName[];

function environment(names: readonly SettingName[], valueOf: (name: SettingName) => string) {
  return Object.fromEntries(names.map((name) => [SETTINGS[name].env, valueOf(name)]));
}

const CONTRADICTING = [
  "privateKey",
  "certificate",
  "clientCertificate",
  "clientCertificateKey",
  "appleTeamId",
  "appleKeyId",
  "allowedTenants",
];

/** Without those that contradict others: the client has a secret, and one tenant. */
const ACCEPTED = environment(
  NAMES.filter((name) => !CONTRADICTING.includes(name)),
  (name) => VALUES[name],
);

/** Has the word in each field, and in a field's name. */
const DOCUMENT = {
  issuer: HOST,
  authorization_endpoint: `${HOST}/${MARKED}/oauth2/v2.0/authorize?p=${MARKED}`,
  token_endpoint: `${HOST}:8443/${ID}/token`,
  jwks_uri: `${HOST}/${NAME}.json`,
  pushed_authorization_request_endpoint: `${HOST}/par`,
  end_session_endpoint: MARKED,
  scopes_supported: ["openid", `${NAME}/read`, ID, { scope: MARKED }],
  claims_supported: ["sub", `https://${NAME}.example/roles`, "email", NAME],
  acr_values_supported: [ID, "1"],
  [`${NAME}_supported`]: true,
  op_policy_uri: { [MARKED]: MARKED },
  ui_locales_supported: 918_273_645,
};

/** What a fake provider returns: by default the document, and a refusal of the client. */
function fetchFrom(document: unknown, options: ResponseInit = {}): typeof fetch {
  return (_input, init) =>
    Promise.resolve(
      init?.method === "POST"
        ? Response.json(
            { error: "invalid_client", error_description: MARKED, [NAME]: ID },
            { status: 401, headers: { "www-authenticate": `Basic realm="${MARKED}"` } },
          )
        : Response.json(document, options),
    );
}

/** Runs the command, and returns its report. */
async function reportOf(env: Record<string, string>, fetch: typeof globalThis.fetch) {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { codes } = await runLive(env, { args: ["--report"], folder, fetch });
  return { codes, report: readFileSync(path.join(folder, "idpauth-report.md"), "utf8") };
}

const MARKS = new RegExp(`${NAME}|${ID}|8443|123456789012`, "i");

describe("the report about a provider contains no text of the user's own", () => {
  it.each<[string, typeof fetch]>([
    ["in its document", fetchFrom(DOCUMENT)],
    ["in the issuer of its document", fetchFrom({ ...DOCUMENT, issuer: `${HOST}/other` })],
    ["in a list instead of a document", fetchFrom([MARKED])],
    ["in a redirect", fetchFrom({}, { status: 302, headers: { location: `${HOST}/${MARKED}` } })],
    ["in the body of an error", fetchFrom({ error: MARKED }, { status: 503 })],
    ["in the message of an error", () => Promise.reject(new TypeError(`(${NAME}) ${MARKED}`))],
  ])("if a provider has it %s", async (_where, fetch) => {
    const { report } = await reportOf(ACCEPTED, fetch);
    expect(report).toContain("- IDP_CLIENT_ID: set\n");
    expect(report).not.toMatch(MARKS);
  });

  it("if every setting is refused", async () => {
    const { report } = await reportOf(
      environment(NAMES, () => `${MARKED}\n`),
      fetchFrom(DOCUMENT),
    );
    expect(report).toContain("- IDP_USERINFO: missing, or can't be used\n");
    expect(report).not.toMatch(MARKS);
  });

  it("if there are several providers with names of their own", async () => {
    const own = Object.fromEntries(
      ["ISSUER", "CLIENT_ID", "CLIENT_SECRET", "NAME"].map((name) => [
        `IDP_PROVIDER_ACMECORP_${name}`,
        name === "ISSUER" ? HOST : MARKED,
      ]),
    );
    const { report } = await reportOf(
      { ...ACCEPTED, ...own, IDP_PROVIDERS: `${NAME} ${NAME}2` },
      fetchFrom(DOCUMENT),
    );
    expect(report.match(/^## Provider$/gm)).toHaveLength(2);
    expect(report).not.toMatch(MARKS);
  });
});

describe("the report about a provider", () => {
  it("has the settings' choices and numbers, the codes, and the words of the standards", async () => {
    const { codes, report } = await reportOf(ACCEPTED, fetchFrom(DOCUMENT));
    for (const code of codes) expect(report).toMatch(new RegExp(`^- ${code} (error|warning)`, "m"));
    for (const line of [
      "E109 error, invalid_client",
      "Issuer: your-tenant.example",
      'IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic"',
      "IDP_SESSION_MAX_AGE: 7200",
      "IDP_ISSUER: set",
      "scope: openid, email, 2 others",
      "prompt: login",
      "scopes_supported: openid, 3 others",
      "claims_supported: sub, email, 2 others",
      "authorization_endpoint: same origin as issuer, `/*/oauth2/v2.0/authorize`",
      "token_endpoint: other origin as issuer, `/*/token`",
      "end_session_endpoint: string",
      "(other fields): 1",
    ])
      expect(report).toContain(`- ${line}\n`);
  });

  it.each([
    ["https://accounts.google.com", "google", "accounts.google.com"],
    [
      "https://login.microsoftonline.com/12345678-1234-4123-8123-123456789012/v2.0",
      "entra",
      "login.microsoftonline.com",
    ],
    [`https://${NAME}.eu.auth0.com/`, "auth0", "your-tenant.example"],
    [`https://${NAME}.okta.com`, "okta", "your-tenant.example"],
    [
      `https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_${NAME}`,
      "cognito",
      "your-tenant.example",
    ],
  ])("names the profile of %s, and a host that all tenants share", async (issuer, name, host) => {
    const env = { IDP_ISSUER: issuer, IDP_CLIENT_ID: MARKED };
    const { report } = await reportOf(env, fetchFrom({ ...DOCUMENT, issuer }));
    expect(report).toContain(`- Profile: ${name}\n- Issuer: ${host}\n`);
    expect(report).not.toMatch(MARKS);
  });
});

describe("a text", () => {
  it.each([
    "urn:ietf:params:oauth:grant-type:device_code",
    "code id_token token",
    "form_post.jwt",
    "private_key_jwt",
    "self_signed_tls_client_auth",
    "ECDH-ES+A128KW",
    "RSA1_5",
    "EdDSA",
    "offline_access",
    "family_name",
    "backchannel_logout_session_supported",
    "token_endpoint_auth_signing_alg_values_supported",
    "",
  ])("that consists of the standards' words is harmless: %s", (text) => {
    expect(isHarmless(text)).toBe(true);
  });

  it.each([
    `${NAME}.read`,
    `openid ${NAME}`,
    "tokencode",
    "123456789012",
    "token\ntoken",
    "token\u4f1a",
    "<token>",
    "[token](token)",
    "token ".repeat(20),
    7,
    undefined,
  ])("with anything else isn't: %j", (text) => {
    expect(isHarmless(text)).toBe(false);
  });
});
