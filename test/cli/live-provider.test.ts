import { generateKeyPairSync } from "node:crypto";
import { SETTING_NAMES, textWith } from "../../src/config/setting-names.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PROVIDER, REDIRECT_URI, settingsFor, stopAfterRefusals } from "./live-situations.mjs";
import { privateKeys } from "../../src/config/client-key-kinds.js";
import { failureOf } from "../../src/live/explain-connection-error.js";
import { usableSettings } from "../../src/cli/live/usable-settings.js";
import { unreachable } from "../../src/live/unreachable-endpoint.js";
import { ProviderUnavailableError } from "../../src/errors.js";
import {
  startTestProvider,
  type Fault,
  type TestProvider,
} from "../../src/testing/provider/test-provider.js";
import { testCertificate } from "../../src/testing/certificates/test-certificates.js";
import { runLive } from "./live-run.js";
import { factLines } from "../../src/cli/live/format-facts.js";

let provider: TestProvider;

beforeEach(async () => {
  provider = await startTestProvider(PROVIDER);
});

afterEach(() => stopAfterRefusals(provider));

function run(
  env: Record<string, string | undefined> = {},
  options?: Parameters<typeof runLive>[1],
) {
  return runLive({ ...settingsFor(provider), ...env }, options);
}

/** The provider has refused the application's client once, and nothing else was wrong. */
function expectRefusedClient() {
  expect(provider.violations.splice(0)).toEqual([
    expect.stringMatching(/^(?:token|par): invalid_client: /),
  ]);
}

/**
 * A new private key of the client, and its public half with the same identifier as in an assertion.
 */
function newKey() {
  const pem = generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  return { pem, publicJwk: privateKeys.fromText(pem)![0]!.publicJwk! };
}

/** The one finding that there is. */
async function theFinding(env?: Record<string, string | undefined>) {
  const report = await run(env);
  expect(report.findings).toHaveLength(1);
  return report.findings[0]!;
}

const json = (status: number, body: unknown): Fault => ({
  kind: "status",
  status,
  body,
  headers: { "Content-Type": "application/json" },
});
/** Strikes the application's client only; the made-up one is refused by the provider itself. */
const forRealClient = (status: number, error: string): Fault => ({
  ...json(status, { error }),
  when: ({ params }) => params.get("client_id") === PROVIDER.clientId,
});
const toLocation = (location: string): Fault => ({
  kind: "status",
  status: 302,
  headers: { Location: location },
});

describe("a provider with several tenants", () => {
  const TENANT = "11111111-2222-4333-8444-555555555555";
  const origin = () => new URL(provider.issuer).origin;
  const env = () => ({ IDP_ISSUER: `${origin()}/organizations/v2.0`, IDP_ALLOWED_TENANTS: TENANT });

  beforeEach(async () => {
    await provider.stop();
    provider = await startTestProvider({ ...PROVIDER, tenant: TENANT });
  });

  it("has no findings, and its issuer is the template", async () => {
    const report = await run(env());
    expect(report).toMatchObject({ code: 0, findings: [] });
    expect(report.facts).toMatchObject({
      issuer: `${origin()}/{tenantid}/v2.0`,
      client: "accepted",
      redirectUriRegistered: true,
    });
  });

  it("without IDP_ALLOWED_TENANTS is E018, and no secret is sent", async () => {
    const report = await run({ ...env(), IDP_ALLOWED_TENANTS: undefined });
    expect(report.codes).toEqual(["E018"]);
    expect(provider.requestsTo("token")).toEqual([]);
  });

  it("that is another provider is E104", async () => {
    provider.discoveryDocument = (document) => ({ ...document, issuer: origin() });
    const report = await run(env());
    expect(report.findings).toMatchObject([
      { code: "E104", remedy: expect.stringContaining("remove IDP_ALLOWED_TENANTS") as unknown },
    ]);
    expect(report.findings[0]?.message).toContain(
      `must be "${origin()}/{tenantid}/v2.0", but it is "${origin()}"`,
    );
    expect(provider.requestsTo("token")).toEqual([]);
  });
});

it("a template issuer under an address of one tenant is E104, which says what to set", async () => {
  provider.discoveryDocument = (document) => ({
    ...document,
    issuer: `${new URL(provider.issuer).origin}/{tenantid}/v2.0`,
  });
  const finding = await theFinding();
  expect(finding).toMatchObject({
    code: "E104",
    remedy: expect.stringContaining("set IDP_ALLOWED_TENANTS") as unknown,
  });
});

describe("what the provider is sent", () => {
  it("is the discovery document, the keys, a fake refresh token from the client and from a fake client, and one sign-in with prompt=none", async () => {
    // So the provider issues a code, which the report must not show.
    provider.signedIn.set("ada-1815", Math.floor(provider.clock.now() / 1000));
    const report = await run();
    expect(report).toMatchObject({ code: 0, ok: true, findings: [] });
    expect(provider.requests.map(({ method, endpoint }) => `${method} ${endpoint}`)).toEqual([
      "GET discovery",
      "GET jwks",
      "GET discovery",
      "POST token",
      "GET discovery",
      "POST token",
      "GET authorize",
    ]);
    const [token, stranger] = provider.requestsTo("token");
    for (const { params } of [token!, stranger!]) {
      expect(params.get("grant_type")).toBe("refresh_token");
      expect(params.get("refresh_token")).toMatch(/^idpauth-check-[\w-]{32}$/);
    }
    expect(token!.params.get("client_id")).toBe(PROVIDER.clientId);
    expect(stranger!.params.get("client_id")).toMatch(/^idpauth-check-/);
    expect(stranger!.params.get("client_secret")).toMatch(/^idpauth-check-/);
    const [{ query, headers }] = provider.requestsTo("authorize") as [
      (typeof provider.requests)[number],
    ];
    expect(query.getAll("prompt")).toEqual(["none"]);
    expect(query.get("redirect_uri")).toBe(REDIRECT_URI);
    expect(query.get("code_challenge_method")).toBe("S256");
    expect(headers.cookie).toBeUndefined();
    // As a browser's navigation: better-auth answers a script with JSON instead of a redirect.
    expect(headers).toMatchObject({
      accept: expect.stringMatching(/^text\/html,/),
      "sec-fetch-dest": "document",
      "sec-fetch-mode": "navigate",
      "sec-fetch-site": "cross-site",
      "sec-fetch-user": "?1",
      "upgrade-insecure-requests": "1",
      "user-agent": expect.stringMatching(/^Mozilla\/5\.0 /),
    });
    expect(report.output).not.toContain(provider.issued[0]!.value);
  });

  it("never gets the client's secret under another issuer, not even if its document names it", async () => {
    provider.discoveryDocument = (document) => ({
      ...document,
      issuer: "https://elsewhere.example",
    });
    const report = await run();
    expect(report.codes).toEqual(["E104"]);
    expect(provider.requests.map(({ endpoint }) => endpoint)).toEqual(["discovery", "jwks"]);
    expect(report.notSeen[0]).toContain("client and redirect URI: not checked");
  });

  it("gives the facts", async () => {
    const { issuer } = provider;
    provider.discoveryDocument = (document) => ({
      ...document,
      end_session_endpoint: `${issuer}/end-session`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      frontchannel_logout_supported: true,
      frontchannel_logout_session_supported: undefined,
    });
    const { facts } = await run();
    expect(facts).toEqual({
      redirectUri: REDIRECT_URI,
      redirectUriRegistered: true,
      cookie: {
        name: "__Host-Http-idpauth",
        path: "/",
        httpOnly: true,
        sameSite: "Lax",
        secure: true,
      },
      issuer,
      endpoints: {
        authorization: `${issuer}/authorize`,
        token: `${issuer}/token`,
        jwks: `${issuer}/jwks`,
        userinfo: `${issuer}/userinfo`,
        revocation: `${issuer}/revoke`,
        endSession: `${issuer}/end-session`,
      },
      logout: {
        backchannel: true,
        backchannelSid: true,
        frontchannel: true,
        frontchannelSid: false,
      },
      clockOffset: 0,
      pkce: true,
      assurance: [],
      iss: true,
      requests: "plain",
      login: { scope: "openid email profile offline_access", prompt: "consent" },
      refreshToken: "expected",
      client: "accepted",
      store: null,
    });
    expect(factLines(facts)).toEqual(
      expect.arrayContaining([
        `end session endpoint: ${issuer}/end-session`,
        "back-channel logout: advertised, sid advertised",
        "front-channel logout: advertised, sid not advertised",
      ]),
    );
  });
});

describe("a provider with an internal address", () => {
  const address = () => `${provider.issuer}/.well-known/openid-configuration`;

  it("has no findings, although this machine can't open the address for browsers", async () => {
    provider.discoveryDocument = (document) => ({
      ...document,
      authorization_endpoint: "http://127.0.0.1:1/authorize",
    });
    const report = await run({ IDP_DISCOVERY_URL: address() });
    expect([report.code, report.findings]).toEqual([0, []]);
    expect(report.notSeen.join("\n")).toContain("Whether the redirect URI is registered");
  });

  it.each<[string, string, string]>([
    ["isn't there", "/nothing", "E103"],
    ["refuses connections", "", "E101"],
  ])("that %s is named", async (_name, path, code) => {
    const url = path === "" ? "http://127.0.0.1:1/x" : provider.issuer + path;
    const finding = await theFinding({ IDP_DISCOVERY_URL: url });
    expect(finding.code).toBe(code);
    expect(finding.message + finding.remedy).toContain("IDP_DISCOVERY_URL");
    expect(finding.message).toContain(url);
    expect(finding.message).not.toContain("IDP_ISSUER");
  });

  it("that can't be used is not replaced by the issuer's", async () => {
    const report = await run({ IDP_DISCOVERY_URL: "keycloak:8080" });
    expect(report.codes).toEqual(["E006"]);
    expect(report.notSeen.join("\n")).toContain("The identity provider: not checked");
  });
});

describe("a provider without a usable response", () => {
  it("refuses connections: E101", async () => {
    await provider.pause();
    expect(await theFinding()).toMatchObject({
      code: "E101",
      message: expect.stringContaining("refuses connections"),
    });
  });

  it("has a name that nobody resolves: E101", async () => {
    expect(await theFinding({ IDP_ISSUER: "https://nobody.invalid" })).toMatchObject({
      code: "E101",
      message: expect.stringContaining("(DNS)"),
    });
  });

  it("can't be reached, and a proxy is set that Node.js doesn't use: E101 names it", async () => {
    await provider.pause();
    const finding = await theFinding({ HTTP_PROXY: "http://user:secret@127.0.0.1:1" });
    expect(finding).toMatchObject({
      code: "E101",
      remedy: expect.stringMatching(/^HTTP_PROXY is set, but /),
    });
    expect(JSON.stringify(finding)).not.toContain("secret");
  });

  it("speaks no TLS where IDP_ISSUER says https: E101", async () => {
    const issuer = provider.issuer.replace("http:", "https:");
    expect(await theFinding({ IDP_ISSUER: issuer })).toMatchObject({
      code: "E101",
      message: expect.stringContaining("doesn't use TLS"),
    });
  });

  it.each<[string, Fault, string, string]>([
    ["hangs", { kind: "hang" }, "E101", "doesn't respond within 0.3 seconds."],
    ["breaks off", { kind: "reset" }, "E101", "closes the connection"],
    [
      "redirects",
      { kind: "redirect", location: "https://www.login.example/x" },
      "E103",
      "redirects to https://www.login.example/x (status 302)",
    ],
    [
      "redirects within its host",
      { kind: "redirect", status: 301, location: "/login?x=1" },
      "E103",
      "/login (status 301)",
    ],
    [
      "redirects with user info",
      { kind: "redirect", location: "https://a@b/?x=1" },
      "E103",
      "redirects to https://b/ (status 302)",
    ],
    [
      "redirects to what is not shown",
      { kind: "redirect", location: "https://b/$evil" },
      "E103",
      "to an address that can't be shown (status 302)",
    ],
    [
      "redirects nowhere",
      { kind: "redirect", location: "http://[" },
      "E103",
      "redirects without a usable Location (status 302)",
    ],
    ["is in trouble", { kind: "status", status: 503 }, "E101", "returns status 503"],
    ["is overloaded", { kind: "status", status: 429 }, "E101", "returns status 429"],
    [
      "lets nobody through",
      { kind: "status", status: 403 },
      "E103",
      "returns status 403, but a discovery document is public",
    ],
    [
      "asks who is there",
      { kind: "status", status: 401 },
      "E103",
      "returns status 401, but a discovery document is public",
    ],
    ["has none", { kind: "status", status: 404 }, "E103", "returns status 404."],
    ["sends no JSON", { kind: "garbage" }, "E103", "doesn't return a JSON object"],
    [
      "sends a page",
      { kind: "wrong-type", body: "<html>" },
      "E103",
      "doesn't return a JSON object",
    ],
    ["sends too much", { kind: "oversized" }, "E103", "more than 1 MiB"],
  ])("%s", async (_name, fault, code, message) => {
    provider.fault("discovery", fault);
    expect(await theFinding({ IDP_HTTP_TIMEOUT: "0.3" })).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
    provider.clearFaults();
  });

  it("that a firewall may stand before: the remedy says so", async () => {
    provider.fault("discovery", { kind: "status", status: 403 });
    expect((await theFinding()).remedy).toContain("firewall");
  });

  it("within one second: the message counts correctly", async () => {
    const words = [1, 2].map(
      (seconds) => failureOf(new ProviderUnavailableError("timeout"), seconds).words,
    );
    expect(words).toEqual(["doesn't respond within 1 second", "doesn't respond within 2 seconds"]);
  });

  it("after the first one: E101, and no endpoint is blamed", async () => {
    const { codes, findings, notSeen } = await run(undefined, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        provider.fault("discovery", { kind: "status", status: 503 });
        return response;
      },
    });
    expect(codes).toEqual(["E101"]);
    expect(findings[0]!.message).toContain("a second time (http_503)");
    expect(notSeen[0]).toContain("client and redirect URI: not checked");
    expect(provider.requestsTo("token")).toEqual([]);
  });
});

/** Nobody can sign in, whatever else is right. */
describe("an endpoint that cannot be reached", () => {
  const AWAY = "https://old-login.invalid/x";

  it.each([
    [
      "authorization_endpoint",
      "The server of the authorization endpoint",
      "redirects browsers to it",
    ],
    ["token_endpoint", "The server of the token endpoint", "this machine must reach it"],
  ])(
    "%s, on a hostname that does not exist: E101 with its address, and no spelling is suggested",
    async (name, message, remedy) => {
      provider.discoveryDocument = (document) => ({ ...document, [name]: `${AWAY}?policy=1` });
      const report = await run();
      expect(report).toMatchObject({ code: 1, ok: false, codes: ["E101"] });
      const [finding] = report.findings;
      expect(finding!.message).toMatch(
        new RegExp(`^${message} \\(https://old-login\\.invalid/x\\) has a hostname .* \\(DNS\\)`),
      );
      expect(finding!.remedy).toContain(remedy);
      expect(finding!.remedy).not.toContain("spelling");
      expect(report.output).not.toMatch(/policy|state=|nonce=|idpauth-check-/);
    },
  );

  it("jwks_uri, on a hostname that does not exist: E108 with its address, and no spelling is suggested", async () => {
    provider.discoveryDocument = (document) => ({ ...document, jwks_uri: AWAY });
    const { message, remedy } = await theFinding();
    expect(message).toContain(`(jwks_uri: ${AWAY}) can't be fetched: its server has a hostname`);
    expect(remedy).toContain("this machine must reach it");
  });

  it.each<["authorize" | "token", Fault, string]>([
    ["authorize", { kind: "hang" }, "doesn't respond within 0.5 seconds. Nobody can sign in"],
    ["authorize", { kind: "reset" }, "closes the connection. Nobody can sign in"],
    ["token", { kind: "hang" }, "doesn't respond within 0.5 seconds. Nobody can sign in"],
    ["token", { kind: "reset" }, "closes the connection. Nobody can sign in"],
  ])("%s, %j: E101", async (endpoint, fault, message) => {
    provider.fault(endpoint, fault);
    const finding = await theFinding({ IDP_HTTP_TIMEOUT: "0.5" });
    expect(finding).toMatchObject({
      code: "E101",
      message: expect.stringContaining(`(${provider.issuer}/${endpoint}) ${message}`),
    });
    provider.clearFaults();
  });

  it("over a certificate that is not accepted: E102", () => {
    const error = new ProviderUnavailableError("network", {
      cause: Object.assign(new Error(), { code: "CERT_HAS_EXPIRED" }),
    });
    expect(unreachable("token", AWAY, failureOf(error, 5))).toMatchObject({
      code: "E102",
      message: `The server of the token endpoint (${AWAY}) has a certificate that has expired. Nobody can sign in.`,
    });
  });
});

describe("a redirect of the discovery document", () => {
  it.each([
    ["that adds one slash is followed", "{address}/", undefined, 2],
    ["that adds one slash is followed once", "{address}/", "{address}", 2],
    ["to another path is not followed", "{address}/other", undefined, 1],
  ])("%s", async (_name, first, second, requests) => {
    const { discover } = await import("../../src/live/check-discovery.js");
    const { usableSettings } = await import("../../src/cli/live/usable-settings.js");
    const { settings } = usableSettings({ IDP_ISSUER: "https://login.example" });
    const asked: string[] = [];
    const { document, findings } = await discover(settings, {
      send(address) {
        asked.push(address);
        const target = [first, second][asked.length - 1]?.replace("{address}", asked[0]!);
        if (target === undefined)
          return Promise.resolve({
            status: 200,
            headers: new Headers(),
            text: `{"issuer":"https://login.example"}`,
          });
        return Promise.resolve({
          status: 301,
          headers: new Headers({ location: target }),
          text: "",
        });
      },
    });
    expect(asked).toHaveLength(requests);
    expect({ found: document !== undefined, codes: findings.map(({ code }) => code) }).toEqual(
      second === undefined && requests === 2
        ? { found: true, codes: [] }
        : { found: false, codes: ["E103"] },
    );
  });
});

describe("the issuer's differences are named", () => {
  it("both issuers are printed exactly", async () => {
    provider.discoveryDocument = (document) => ({
      ...document,
      issuer: "https://login.example/Realms/shop/",
    });
    const { message, remedy } = await theFinding();
    expect(message).toContain(
      `IDP_ISSUER is "${provider.issuer}", but the discovery document contains the issuer "https://login.example/Realms/shop/".`,
    );
    expect(remedy).toMatch(/set IDP_ISSUER to exactly https:\/\/login\.example\/Realms\/shop\/$/);
  });

  it.each([
    ["https://a.example/", "https://a.example", ["only IDP_ISSUER ends with a slash"]],
    ["https://a.example", "https://a.example/", ["IDP_ISSUER lacks the slash at the end"]],
    ["http://a.example", "https://a.example", ["http in IDP_ISSUER but https in the document"]],
    ["https://a.example/Realm", "https://a.example/realm", ["the letter case of the path"]],
    ["https://A.example", "https://a.example", ["the letter case"]],
    ["https://a.example:443", "https://a.example", ["the spelling"]],
    [
      "https://a.example/x/.well-known/openid-configuration",
      "https://a.example/x",
      ["IDP_ISSUER ends with /.well-known/openid-configuration, which idpauth adds itself"],
    ],
    [
      "https://a.example/.well-known/openid-configuration",
      "https://b.example/",
      [
        "IDP_ISSUER ends with /.well-known/openid-configuration, which idpauth adds itself",
        "the hostname",
        "IDP_ISSUER lacks the slash at the end",
      ],
    ],
    ["https://a.example:8443/x", "https://b.example/y", ["the hostname", "the port", "the path"]],
  ])("%s and %s", async (ours, theirs, differences) => {
    const { differencesOf } = await import("../../src/live/check-discovery.js");
    expect(differencesOf(ours, theirs, SETTING_NAMES)).toEqual(differences);
  });
});

const NO_LOGOUT = {
  end_session_endpoint: undefined,
  backchannel_logout_supported: undefined,
  frontchannel_logout_supported: undefined,
  frontchannel_logout_session_supported: undefined,
};

describe("the discovery document", () => {
  type Change = Record<string, unknown>;
  it.each<[string, Change, Record<string, string>, string[], string]>([
    [
      "no token endpoint",
      { token_endpoint: undefined },
      {},
      ["E105"],
      "token_endpoint in the discovery document is missing",
    ],
    [
      "an endpoint that is not an address",
      { jwks_uri: 7 },
      {},
      ["E105"],
      "jwks_uri in the discovery document isn't an address",
    ],
    [
      "user info in an endpoint",
      { token_endpoint: "https://u@a.example/t" },
      {},
      ["E105"],
      "contains user info or a fragment",
    ],
    ["no userinfo", { userinfo_endpoint: undefined }, {}, ["W101"], "only from the ID token"],
    [
      "no userinfo, which is needed",
      { userinfo_endpoint: undefined },
      { IDP_USERINFO: "always" },
      ["E105"],
      "sign-ins can't start",
    ],
    [
      "no userinfo, but an endpoint in the settings",
      { userinfo_endpoint: undefined },
      {
        IDP_USERINFO: "always",
        IDP_PROVIDER_METADATA: '{"userinfo_endpoint":"https://login.example/userinfo"}',
      },
      [],
      "",
    ],
    [
      "no revocation",
      { revocation_endpoint: undefined },
      {},
      ["W101"],
      "A logout can't revoke tokens",
    ],
    [
      "no revocation, which is not wanted",
      { revocation_endpoint: undefined },
      { IDP_TOKEN_REVOKE_ON_LOGOUT: "no" },
      [],
      "",
    ],
    ["no logout, which is not wanted", NO_LOGOUT, {}, [], ""],
    [
      "no logout endpoint",
      NO_LOGOUT,
      { IDP_LOGOUT_AT_PROVIDER: "on" },
      ["W113"],
      "doesn't contain a usable `end_session_endpoint`",
    ],
    ["no logout endpoint, but a preset", NO_LOGOUT, { IDP_LOGOUT_AT_PROVIDER: "auth0" }, [], ""],
    [
      "a logout endpoint",
      { end_session_endpoint: "https://login.example/o" },
      { IDP_LOGOUT_AT_PROVIDER: "on" },
      [],
      "",
    ],
    [
      "no back-channel",
      NO_LOGOUT,
      { IDP_BACKCHANNEL_LOGOUT: "on" },
      ["W113"],
      "backchannel_logout_supported",
    ],
    [
      "a back-channel",
      { backchannel_logout_supported: true },
      { IDP_BACKCHANNEL_LOGOUT: "on" },
      [],
      "",
    ],
    [
      "no front-channel",
      NO_LOGOUT,
      { IDP_FRONTCHANNEL_LOGOUT: "on" },
      ["W113"],
      "`frontchannel_logout_supported`",
    ],
    [
      "a front-channel without sid",
      { ...NO_LOGOUT, frontchannel_logout_supported: true },
      { IDP_FRONTCHANNEL_LOGOUT: "on" },
      ["W113"],
      "`frontchannel_logout_session_supported`",
    ],
    [
      "a front-channel with sid",
      { frontchannel_logout_supported: true, frontchannel_logout_session_supported: true },
      { IDP_FRONTCHANNEL_LOGOUT: "on" },
      [],
      "",
    ],
    [
      "no code flow",
      { response_types_supported: ["id_token"] },
      {},
      ["E106"],
      "don't include `code`",
    ],
    [
      "no code grant",
      { grant_types_supported: ["refresh_token"] },
      {},
      ["E106"],
      "don't include `authorization_code`",
    ],
    [
      "required PAR without an endpoint",
      { require_pushed_authorization_requests: true },
      {},
      ["E115"],
      "pushed_authorization_request_endpoint",
    ],
    [
      "no endpoint for PAR that is turned on",
      {},
      { IDP_PUSHED_REQUESTS: "always" },
      ["E115"],
      "is `always`, but the pushed_authorization",
    ],
    [
      "required request objects",
      { require_signed_request_object: true },
      {},
      ["E114"],
      "require_signed_request_object",
    ],
    ["no DPoP", {}, { IDP_DPOP: "on" }, ["W114"], "doesn't advertise DPoP"],
    [
      "DPoP with other algorithms",
      { dpop_signing_alg_values_supported: ["RS256"] },
      { IDP_DPOP: "on" },
      ["W114"],
      "doesn't list ES256",
    ],
    ["DPoP", { dpop_signing_alg_values_supported: ["ES256"] }, { IDP_DPOP: "on" }, [], ""],
    [
      "no signed responses",
      { response_modes_supported: ["query"] },
      { IDP_RESPONSE_MODE: "jwt" },
      ["W115"],
      "`response_modes_supported`",
    ],
    [
      "signed responses with secrets alone",
      {
        response_modes_supported: ["query.jwt"],
        authorization_signing_alg_values_supported: ["HS256"],
      },
      { IDP_RESPONSE_MODE: "jwt" },
      ["E119"],
      "`authorization_signing_alg_values_supported`",
    ],
    [
      "signed responses",
      { response_modes_supported: ["jwt"] },
      { IDP_RESPONSE_MODE: "jwt" },
      [],
      "",
    ],
    ["PAR that is not required", { require_pushed_authorization_requests: false }, {}, [], ""],
    [
      "symmetric signatures only",
      { id_token_signing_alg_values_supported: ["HS256", "none"] },
      {},
      ["E107"],
      "doesn't advertise an asymmetric",
    ],
    [
      "no key for the algorithm",
      { id_token_signing_alg_values_supported: ["ES256", "EdDSA"] },
      {},
      ["E108"],
      "(ES256 and EdDSA)",
    ],
    [
      "more algorithms than keys",
      { id_token_signing_alg_values_supported: ["ES256", "RS256"] },
      {},
      [],
      "",
    ],
    ["no scopes", { scopes_supported: undefined }, {}, [], ""],
    [
      "no refresh grant",
      { grant_types_supported: ["authorization_code"] },
      {},
      ["W103"],
      "don't include `refresh_token`",
    ],
    [
      "no refresh grant, which is not wanted",
      { grant_types_supported: ["authorization_code"] },
      { IDP_SESSION_AUTO_REFRESH: "no" },
      [],
      "",
    ],
    [
      "a prompt without consent",
      {},
      { IDP_LOGIN_PROMPT: "login" },
      ["W103"],
      "IDP_LOGIN_PROMPT doesn't contain `consent`",
    ],
    [
      "a prompt without consent among the further parameters",
      {},
      { IDP_AUTHORIZATION_PARAMS: "prompt=login", IDP_LOGIN_PROMPT: "consent" },
      ["W103"],
      "IDP_AUTHORIZATION_PARAMS doesn't contain `consent`",
    ],
    [
      "no offline_access in SCOPE: said without the provider",
      {},
      { SCOPE: "openid" },
      ["W004"],
      "doesn't contain `offline_access`",
    ],
    [
      "no offline_access with the default scopes",
      { scopes_supported: ["openid", "email", "profile"] },
      { SCOPE: "" },
      ["E004", "W103"],
      "SCOPE",
    ],
    ["offline_access added to the default scopes", {}, { SCOPE: "" }, ["E004"], "SCOPE"],
    [
      "no PKCE",
      { code_challenge_methods_supported: undefined },
      {},
      ["W104"],
      "doesn't advertise PKCE",
    ],
    [
      "plain PKCE",
      { code_challenge_methods_supported: ["plain"] },
      {},
      ["W104"],
      "don't include S256",
    ],
    [
      "an authentication method that it does not announce but takes",
      { token_endpoint_auth_methods_supported: ["private_key_jwt"] },
      {},
      [],
      "",
    ],
  ])("%s", async (_name, change, env, codes, message) => {
    provider.discoveryDocument = (document) => ({ ...document, ...change });
    const report = await run(env);
    expect(report.codes).toEqual(codes);
    if (codes.length > 0) expect(report.findings[0]!.message).toContain(message);
  });

  describe("with pushed authorization requests", () => {
    it("a login is pushed to see whether the redirect URI is registered", async () => {
      provider.settings.requirePushedRequests = true;
      const { codes, facts } = await run();
      expect(codes).toEqual([]);
      expect(facts).toMatchObject({ requests: "pushed", redirectUriRegistered: true });
      expect(factLines(facts)).toContain("authorization requests: pushed (RFC 9126)");
      expect(provider.requestsTo("par")).toHaveLength(1);
      expect(provider.requestsTo("par", { prompt: "none" })).toHaveLength(1);
      expect([...(provider.requestsTo("authorize")[0]?.query.keys() ?? [])]).toEqual([
        "client_id",
        "request_uri",
      ]);
      expect(provider.issued.filter(({ kind }) => kind === "code")).toEqual([]);
    });

    it("a refusal is W110 with the redirect URI, and an outage is E101", async () => {
      Object.assign(provider.settings, {
        requirePushedRequests: true,
        redirectUris: ["https://other.example/"],
      });
      const refused = await run();
      expect(refused.codes).toEqual(["W110"]);
      expect(refused.findings[0]!.message).toBe(
        "The provider refuses the application's pushed login request (invalid_request).",
      );
      expect(refused.findings[0]!.remedy).toContain(`Register exactly ${REDIRECT_URI}`);
      provider.fault("par", { kind: "status", status: 500 });
      const broken = await run();
      expect(broken.codes).toEqual(["E101"]);
      expect(broken.findings[0]!.message).toContain(
        "pushed authorization requests doesn't work (http_500)",
      );
    });

    it("nothing is pushed if the provider refuses the client", async () => {
      provider.settings.requirePushedRequests = true;
      const { codes, notSeen } = await run({ IDP_CLIENT_SECRET: "wrong" });
      expect(codes).toEqual(["E109"]);
      expect(provider.requestsTo("par")).toEqual([]);
      expect(notSeen.join()).toContain("logins are pushed");
      expectRefusedClient();
    });

    it("the client that only this endpoint refuses is E109", async () => {
      provider.settings.requirePushedRequests = true;
      provider.fault("token", json(400, { error: "invalid_grant" }));
      expect((await run({ IDP_CLIENT_SECRET: "wrong" })).codes).toEqual(["E109"]);
      expectRefusedClient();
    });
  });

  it.each<[string, Change, Record<string, string>, string[]]>([
    [
      "the default scopes",
      {},
      { SCOPE: "" },
      ["scope of a login: openid email profile offline_access", "prompt of a login: consent"],
    ],
    [
      "IDP_LOGIN_PROMPT=omit",
      {},
      { SCOPE: "", IDP_LOGIN_PROMPT: "omit" },
      ["prompt of a login: not sent"],
    ],
    [
      "Keycloak's path",
      { authorization_endpoint: "https://sso.example/realms/shop/protocol/openid-connect/auth" },
      { SCOPE: "" },
      ["scope of a login: openid email profile", "prompt of a login: not sent"],
    ],
  ])(
    "the facts show the scope and the prompt of a login: %s",
    async (_name, change, env, lines) => {
      provider.discoveryDocument = (document) => ({ ...document, ...change });
      const { facts } = await run(env);
      expect(factLines(facts)).toEqual(expect.arrayContaining(lines));
    },
  );

  it.each(["require_signed_request_object"])(
    "with %s: the redirect URI is not checked, since every request would be refused",
    async (name) => {
      provider.discoveryDocument = (document) => ({ ...document, [name]: true });
      const { facts, notSeen } = await run();
      expect(provider.requestsTo("authorize")).toEqual([]);
      expect(facts).toMatchObject({ client: "accepted", redirectUriRegistered: null });
      expect(notSeen[0]).toContain("can't send a login (E114, E115, E118)");
    },
  );

  it("that advertises encrypted ID tokens: the check says that it cannot see whether this client gets them", async () => {
    provider.discoveryDocument = (document) => ({
      ...document,
      id_token_encryption_alg_values_supported: ["RSA-OAEP-256"],
    });
    const { codes, notSeen } = await run();
    expect(codes).toEqual([]);
    expect(notSeen[0]).toContain("encrypts this client's ID tokens");
  });

  it.each<[string, Change, Record<string, string>]>([
    ["grant types without refresh_token", { grant_types_supported: ["authorization_code"] }, {}],
    ["scopes without offline_access", { scopes_supported: ["openid", "email", "profile"] }, {}],
    ["SCOPE without offline_access", {}, { SCOPE: "openid email profile" }],
  ])(
    "with %s: the warning does not claim that no refresh token comes, since some providers give one unannounced",
    async (_name, change, env) => {
      provider.discoveryDocument = (document) => ({ ...document, ...change });
      const { findings, facts } = await run(env);
      const [finding] = findings.filter(({ code }) => code === "W103" || code === "W004");
      expect(`${finding!.message} ${finding!.remedy}`).toContain("ignore this warning");
      expect(`${finding!.message} ${finding!.remedy}`).not.toMatch(
        /hardly|will not|no refresh token/,
      );
      expect(facts.refreshToken).toBe("uncertain");
    },
  );

  it("where the discovery document lists scopes without offline_access, nothing recommends that scope", async () => {
    provider.discoveryDocument = (document) => ({ ...document, scopes_supported: ["openid"] });
    const { codes, findings } = await run({ SCOPE: "openid" });
    expect(codes).toEqual(["W103"]);
    expect(findings[0]?.remedy).not.toContain("offline_access");
  });

  it.each([
    ["userinfo_endpoint", { userinfo_endpoint: undefined }],
    ["revocation_endpoint", { revocation_endpoint: undefined }],
  ])(
    "without the %s names the setting for endpoints that aren't advertised",
    async (_name, change) => {
      provider.discoveryDocument = (document) => ({ ...document, ...change });
      expect(await theFinding({})).toMatchObject({
        code: "W101",
        remedy: expect.stringContaining("IDP_PROVIDER_METADATA") as unknown,
      });
    },
  );

  it("where the discovery document shows that a refresh token needs no scope, the startup checks' W004 isn't said", async () => {
    const authorization_endpoint = `${provider.issuer}/realms/shop/protocol/openid-connect/auth`;
    provider.discoveryDocument = (document) => ({ ...document, authorization_endpoint });
    const { codes, facts } = await run({ SCOPE: "openid email" });
    expect(facts.refreshToken).toBe("expected");
    expect(codes).not.toContain("W004");
  });

  it("of an https issuer may name no http endpoint", async () => {
    const { checkEndpoints } = await import("../../src/live/check-endpoints.js");
    const { usableSettings } = await import("../../src/cli/live/usable-settings.js");
    const { settings } = usableSettings({ IDP_ISSUER: "https://login.example" });
    const document = {
      authorization_endpoint: "http://login.example/a",
      token_endpoint: "https://login.example/t",
      jwks_uri: "ftp://login.example/k",
      userinfo_endpoint: "https://login.example/u",
      revocation_endpoint: "https://login.example/r",
    };
    const { facts, findings } = checkEndpoints(document, settings);
    expect(
      findings.map(({ code, message }) => `${code} ${textWith(SETTING_NAMES, message)}`),
    ).toEqual([
      "E105 The authorization_endpoint in the discovery document is an http address: secrets and tokens would be sent unencrypted.",
      "E105 The jwks_uri in the discovery document isn't an https address.",
    ]);
    expect(facts).toMatchObject({
      authorization: null,
      token: "https://login.example/t",
      jwks: null,
    });
  });

  it.each(["authorization_endpoint", "token_endpoint", "jwks_uri"])(
    "of a provider on this machine may name no http endpoint elsewhere: %s",
    async (name) => {
      provider.discoveryDocument = (document) => ({ ...document, [name]: "http://192.0.2.1/x" });
      const report = await run();
      expect(report.codes).toEqual(["E105"]);
      expect(report.findings[0]!.message).toContain(
        `${name} in the discovery document is an http address`,
      );
      expect(provider.requestsTo("token")).toEqual([]);
    },
  );

  it("of a provider on this machine may name one on this machine, under any hostname", async () => {
    const { port } = new URL(provider.issuer);
    provider.discoveryDocument = (document) => ({
      ...document,
      token_endpoint: `http://localhost:${port}/token`,
    });
    expect((await run()).codes).toEqual([]);
  });

  it("names an authentication method that is not ours, and the provider refuses ours: E109 and W105", async () => {
    provider.settings.tokenEndpointAuthMethods = ["client_secret_basic"];
    expect((await run()).codes).toEqual(["E109", "W105"]);
    expectRefusedClient();
    expect((await run({ IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic" })).codes).toEqual(
      [],
    );
  });

  it("repeats nothing that a hostile provider says", async () => {
    const evil = "\u001b[31mhttps://evil.example/<script>";
    provider.discoveryDocument = () => ({
      issuer: evil,
      authorization_endpoint: evil,
      token_endpoint: `${provider.issuer}/token?${evil}`,
      jwks_uri: `${provider.issuer}/jwks`,
      userinfo_endpoint: evil,
      response_types_supported: [evil],
      grant_types_supported: [evil],
      scopes_supported: [evil],
      code_challenge_methods_supported: [evil],
      token_endpoint_auth_methods_supported: [evil],
      id_token_signing_alg_values_supported: [evil],
    });
    const report = await run();
    expect(report.codes).toEqual([
      "E104",
      "E105",
      "E106",
      "E106",
      "E107",
      "W101",
      "W101",
      "W102",
      "W103",
      "W104",
      "W105",
    ]);
    expect(report.output).not.toMatch(/evil|script/);
  });
});

describe("the keys", () => {
  it.each<[string, unknown, string]>([
    ["no key set", { kees: [] }, "doesn't return a key set"],
    ["no JSON", "{", "doesn't return a key set"],
    ["an empty one", { keys: [] }, "is empty"],
    [
      "a symmetric key",
      { keys: [{ kty: "oct", k: "c2VjcmV0" }] },
      "The one key in the provider's key set (jwks_uri) isn't a public signing key",
    ],
    [
      "two of them",
      { keys: Array(2).fill({ kty: "oct", k: "c2VjcmV0" }) },
      "None of the 2 keys in the provider's key set (jwks_uri) is a public signing key",
    ],
  ])("%s: E108", async (_name, document, message) => {
    provider.jwks.publish(document);
    expect(await theFinding()).toMatchObject({
      code: "E108",
      message: expect.stringContaining(message),
    });
  });

  it.each<[Fault, string]>([
    [{ kind: "status", status: 404 }, "returns status 404"],
    [{ kind: "reset" }, "closes the connection"],
  ])("cannot be had, %j: E108", async (fault, message) => {
    provider.fault("jwks", fault);
    expect(await theFinding()).toMatchObject({
      code: "E108",
      message: expect.stringContaining(message),
    });
  });
});

it("says that only a sign-in shows the sid of ID tokens, where a logout by the provider is on", async () => {
  const lines = async (env: Record<string, string>) =>
    (await run(env)).notSeen.filter((line) => line.includes("sid_missing"));
  expect(await lines({})).toEqual([]);
  for (const name of ["IDP_BACKCHANNEL_LOGOUT", "IDP_FRONTCHANNEL_LOGOUT"])
    expect(await lines({ [name]: "on" })).toHaveLength(1);
});

describe("the client", () => {
  it.each<[string, Fault, string[], "accepted" | "refused" | "not known" | null]>([
    ["is refused with 401", json(401, { error: "invalid_client" }), ["E109"], "refused"],
    ["is refused with 400", json(400, { error: "invalid_client" }), ["E109"], "refused"],
    ["is refused without a word", { kind: "status", status: 401, body: "no" }, ["E109"], "refused"],
    [
      "is refused as Keycloak refuses a wrong secret",
      json(401, { error: "unauthorized_client" }),
      ["E109"],
      "refused",
    ],
    [
      "is refused as Auth0 refuses a wrong secret",
      json(401, { error: "access_denied" }),
      ["E109"],
      "refused",
    ],
    ["may not refresh", forRealClient(400, "unauthorized_client"), ["W103"], "accepted"],
    [
      "is refused as Glewlwyd refuses a wrong secret",
      forRealClient(403, "unauthorized_client"),
      ["W108"],
      null,
    ],
    ["cannot refresh there", json(400, { error: "unsupported_grant_type" }), ["W103"], "not known"],
    [
      "meets a provider that looks at the refresh token first",
      json(400, { error: "invalid_grant" }),
      [],
      "not known",
    ],
    [
      "is refused by a provider that looks at the refresh token first",
      json(401, { error: "invalid_grant" }),
      [],
      "not known",
    ],
    ["is given another error", json(400, { error: "invalid_request" }), ["W108"], null],
    ["is given an error that is none", json(400, { error: "<b>evil</b>" }), ["W108"], null],
    ["meets an outage", { kind: "status", status: 502 }, ["W108"], null],
    ["meets more than is read", { kind: "oversized" }, ["W108"], null],
    [
      "is given tokens for nothing",
      json(200, { access_token: "evil", token_type: "Bearer" }),
      ["W108"],
      null,
    ],
  ])("%s: %j", async (_name, fault, codes, client) => {
    provider.fault("token", fault);
    const report = await run({ IDP_HTTP_TIMEOUT: "0.5" });
    expect(report.codes).toEqual(codes);
    expect(report.facts.client).toBe(client);
    expect(report.output).not.toContain("evil");
    if (codes[0] === "W103") expect(report.facts.refreshToken).toBe("not allowed");
    provider.clearFaults();
  });

  it("that may not refresh is reported with what follows from it", async () => {
    provider.fault("token", forRealClient(400, "unauthorized_client"));
    expect((await theFinding()).message).toContain(
      "users get status 503 when their ID token expires. Otherwise, they're signed out",
    );
  });

  it.each([
    ["an outage", { kind: "status", status: 503 }],
    ["silence", { kind: "reset" }],
  ] as const)("is not known where the fake client meets %s", async (_name, fault) => {
    provider.fault("token", {
      ...fault,
      when: ({ params }) => params.get("client_id") !== PROVIDER.clientId,
    });
    const report = await run();
    expect(report).toMatchObject({ codes: [], facts: { client: "not known" } });
    expect(report.notSeen[0]).toContain("Whether the provider accepts client ID and secret");
    provider.clearFaults();
  });

  it.each(["unauthorized_client", "invalid_request"])(
    "is accepted where the fake client alone gets %s",
    async (error) => {
      provider.fault("token", {
        ...json(400, { error }),
        when: ({ params }) => params.get("client_id") !== PROVIDER.clientId,
      });
      expect(await run()).toMatchObject({ codes: [], facts: { client: "accepted" } });
    },
  );

  it.each([
    ["another error", 401, "invalid_client"],
    ["another status", 403, "invalid_request"],
  ])(
    "is accepted where it gets an error of the provider's own and the fake client gets %s",
    async (_name, status, error) => {
      provider.fault("token", forRealClient(400, "invalid_request"));
      provider.fault("token", {
        ...json(status, { error }),
        when: ({ params }) => params.get("client_id") !== PROVIDER.clientId,
      });
      expect(await run()).toMatchObject({ codes: [], facts: { client: "accepted" } });
      provider.clearFaults();
    },
  );

  it.each([
    ["a 403, which may mean a wrong secret", forRealClient(403, "access_forbidden")],
    ["an outage", forRealClient(500, "server_error")],
  ])(
    "is not accepted where it gets %s, and the fake client another error",
    async (_name, fault) => {
      provider.fault("token", fault);
      expect(await run()).toMatchObject({ codes: ["W108"], facts: { client: null } });
      provider.clearFaults();
    },
  );

  it("that gets the same unauthorized_client as a fake one is W108: it may as well be unknown", async () => {
    provider.fault("token", json(403, { error: "unauthorized_client" }));
    expect(await run()).toMatchObject({
      codes: ["W108"],
      facts: { client: null, refreshToken: "expected" },
    });
    provider.clearFaults();
  });

  it.each<[string, Fault]>([
    ["an empty 403", { kind: "status", status: 403 }],
    ["invalid_request", json(400, { error: "invalid_request" })],
    ["the same as a fake client", json(403, { error: "unauthorized_client" })],
  ])("with a private key that gets %s is W108, which names the audience", async (_name, fault) => {
    const { pem: IDP_PRIVATE_KEY, publicJwk } = newKey();
    provider.settings.clientJwks = [publicJwk];
    provider.fault("token", fault);
    const { code, remedy } = await theFinding({ IDP_CLIENT_SECRET: "", IDP_PRIVATE_KEY });
    expect(code).toBe("W108");
    expect(remedy).toContain("IDP_CLIENT_ASSERTION_AUDIENCE");
    provider.clearFaults();
  });

  it("is accepted with its private key", async () => {
    const { pem: IDP_PRIVATE_KEY, publicJwk } = newKey();
    provider.settings.clientJwks = [publicJwk];
    const report = await run({ IDP_CLIENT_SECRET: "", IDP_PRIVATE_KEY });
    expect(report).toMatchObject({ codes: [], facts: { client: "accepted" } });
    expect(report.output).not.toContain("PRIVATE KEY");
  });

  it("signs the request that the check sends, if an algorithm fits", async () => {
    const { pem: IDP_PRIVATE_KEY, publicJwk } = newKey();
    provider.settings.clientJwks = [publicJwk];
    provider.settings.signedRequests = "required";
    const env = { IDP_CLIENT_SECRET: "", IDP_PRIVATE_KEY };
    const { codes, facts } = await run(env);
    expect([codes, facts.redirectUriRegistered]).toEqual([[], true]);
    expect(facts.assurance).toContain("signed requests (required)");
    const requests = provider.requestsTo("authorize");
    expect(requests).toHaveLength(1);
    expect(requests[0]?.query.has("request")).toBe(true);
    provider.discoveryDocument = (document) => ({
      ...document,
      request_object_signing_alg_values_supported: ["RS256", "ES384"],
    });
    const report = await run(env);
    expect(report.codes).toEqual(["E114"]);
    expect(report.findings[0]?.message).toContain("can sign requests (ES256)");
    expect(provider.requestsTo("authorize")).toHaveLength(1);
  });

  it("with IDP_FAPI=2 names what the document lacks, and sends no login (E118)", async () => {
    const { pem: IDP_PRIVATE_KEY, publicJwk } = newKey();
    provider.settings.clientJwks = [publicJwk];
    provider.settings.pushedRequests = true;
    provider.discoveryDocument = (document) => ({
      ...document,
      authorization_response_iss_parameter_supported: false,
      dpop_signing_alg_values_supported: ["ES256"],
    });
    const { findings, codes } = await run({
      IDP_CLIENT_SECRET: "",
      IDP_PRIVATE_KEY,
      IDP_FAPI: "2",
      IDP_DPOP: "on",
      IDP_PUSHED_REQUESTS: "always",
    });
    expect(codes).toEqual(["E118", "E118"]);

    const said = findings.map(({ message }) => message).join();
    expect(said).toContain("`iss` in its authorization responses");
    expect(said).toContain("PS256, ES256 or EdDSA");
    expect(provider.requestsTo("par")).toEqual([]);
  });

  it("is refused with a private key that the provider doesn't know: E109 names the setting", async () => {
    provider.settings.clientJwks = [newKey().publicJwk];
    const { pem: IDP_PRIVATE_KEY } = newKey();
    const { message, remedy } = await theFinding({ IDP_CLIENT_SECRET: "", IDP_PRIVATE_KEY });
    expect(message).toContain("IDP_PRIVATE_KEY (invalid_client)");
    expect(`${message}${remedy}`).not.toContain("IDP_CLIENT_SECRET");
    expectRefusedClient();
  });

  it("of Apple is checked with the secret that its key makes, and a refusal names Apple's settings", async () => {
    const { pem: IDP_PRIVATE_KEY, publicJwk } = newKey();
    const apple = { teamId: "TEAM123456", keyId: "KEY1234567" };
    Object.assign(provider.settings, { apple, clientJwks: [publicJwk], announceIss: false });
    const env = {
      IDP_CLIENT_SECRET: "",
      IDP_PRIVATE_KEY,
      IDP_APPLE_TEAM_ID: apple.teamId,
      IDP_APPLE_KEY_ID: apple.keyId,
      IDP_RESPONSE_MODE: "form_post",
      SCOPE: "openid email name",
    };
    const { findings, facts } = await run(env);
    expect(facts.client).toBe("accepted");
    expect(findings.map(({ code }) => code)).not.toContain("W105");
    const refused = await run({ ...env, IDP_APPLE_KEY_ID: "KEY7654321" });
    const finding = refused.findings.find(({ code }) => code === "E109");
    expect(finding?.message).toContain("a client secret for Apple");
    expect(finding?.remedy).toContain("IDP_APPLE_KEY_ID");
    expectRefusedClient();
    const { settings, refused: left } = usableSettings({
      ...settingsFor(provider),
      ...env,
      IDP_ISSUER: "https://appleid.apple.com",
    });
    expect([settings.issuer, settings.appleKeyId, [...left]]).toEqual([
      "https://appleid.apple.com",
      apple.keyId,
      [],
    ]);
  });

  it("with a certificate in place of a secret has no refused setting", () => {
    const { cert, key } = testCertificate();
    const { IDP_CLIENT_SECRET: _secret, ...settings } = settingsFor(provider);
    const env = {
      ...settings,
      IDP_ISSUER: "https://login.example",
      IDP_CLIENT_CERTIFICATE: cert,
      IDP_CLIENT_CERTIFICATE_KEY: key,
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: "tls_client_auth",
    };
    const { settings: read, refused } = usableSettings(env);
    expect([read.tokenEndpointAuthMethod, [...refused]]).toEqual(["tls_client_auth", []]);
  });

  it("with an empty IDP_PRIVATE_KEY is checked with its secret", async () => {
    expect(await run({ IDP_PRIVATE_KEY: "" })).toMatchObject({
      codes: [],
      facts: { client: "accepted" },
    });
  });

  it("with a key that the provider's algorithms don't fit is refused, and the finding names the key", async () => {
    provider.discoveryDocument = (document) => {
      document["token_endpoint_auth_methods_supported"] = ["private_key_jwt"];
      document["token_endpoint_auth_signing_alg_values_supported"] = ["RS256"];
    };
    const { code, message } = await theFinding({
      IDP_CLIENT_SECRET: "",
      IDP_PRIVATE_KEY: newKey().pem,
    });
    expect([code, message]).toEqual(["E109", expect.stringContaining("IDP_PRIVATE_KEY")]);
  });

  it("with both a secret and a private key isn't checked", async () => {
    const report = await run({ IDP_PRIVATE_KEY: newKey().pem });
    expect(report.codes).toEqual(["E023", "W105"]);
    expect(report.notSeen.join()).toContain("accepts the client: not checked");
  });

  it("is never sent a wrong secret", async () => {
    await run();
    const sent = provider.requestsTo("token").map(({ params }) => params);
    expect(sent.filter((params) => params.get("client_id") === PROVIDER.clientId)).toHaveLength(1);
  });

  it.each([
    ["client_secret_post", "in the request body"],
    [
      "client_secret_basic",
      "in the Authorization header, encoded as application/x-www-form-urlencoded",
    ],
  ])("is refused: E109 names what %s does to client id and secret", async (method, encoding) => {
    const { message, remedy } = await theFinding({
      IDP_CLIENT_SECRET: "another secret",
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: method,
    });
    expect(message).toContain(`authenticates with \`${method}\``);
    expect(message).toContain(encoding);
    for (const other of ["client_secret_post", "client_secret_basic"])
      expect(remedy).toContain(`\`${other}\``);
    expectRefusedClient();
  });

  it("that may not refresh is reported once", async () => {
    provider.settings.scopesSupported = ["openid", "email", "profile"];
    provider.fault("token", forRealClient(400, "unauthorized_client"));
    expect((await run()).codes).toEqual(["W103"]);
  });
});

describe("the redirect URI", () => {
  it.each<[string, Fault, string[], boolean | null]>([
    ["nobody is signed in", toLocation(`${REDIRECT_URI}?error=login_required`), [], true],
    ["a refused scope", toLocation(`${REDIRECT_URI}?error=invalid_scope`), ["E116"], true],
    ["a refused client", toLocation(`${REDIRECT_URI}?error=unauthorized_client`), ["E116"], true],
    ["the request is refused", toLocation(`${REDIRECT_URI}?error=invalid_request`), ["W110"], true],
    [
      "an outage at prompt=none only",
      { kind: "status", status: 500, when: ({ query }) => query.get("prompt") === "none" },
      [],
      true,
    ],
    ["the error is no code", toLocation(`${REDIRECT_URI}?error=%3Cevil%3E`), ["W110"], true],
    ["another one", toLocation("https://app.example/elsewhere"), [], null],
    ["a page to sign in at", toLocation("/login"), [], null],
    ["a page about an error", toLocation("/signin/oauth/error?authError=x"), ["W107"], false],
    ["a location that is none", toLocation("http://["), ["W110"], null],
    ["no location", { kind: "status", status: 302 }, ["W110"], null],
    ["a page", { kind: "status", status: 200, body: "<html>" }, [], null],
    ["a refusal", { kind: "status", status: 403 }, ["W107"], false],
    ["an outage", { kind: "status", status: 500 }, ["W110"], null],
    ["silence", { kind: "hang" }, ["E101"], null],
    ["a page longer than is read", { kind: "oversized" }, [], null],
  ])("%s", async (_name, fault, codes, isRegistered) => {
    provider.fault("authorize", fault);
    const report = await run({ IDP_HTTP_TIMEOUT: "0.5" });
    expect(report.codes).toEqual(codes);
    expect(report.facts.redirectUriRegistered).toBe(isRegistered);
    expect(
      report.notSeen.some((line) => line.startsWith("Whether the redirect URI is registered")),
    ).toBe(isRegistered === null);
    expect(report.output).not.toContain("evil");
    provider.clearFaults();
  });
});

describe("settings that the startup checks refuse", () => {
  it.each<[string, Record<string, string | undefined>, string[], string | undefined, number]>([
    ["no secret key: all the rest is asked", { SECRET_KEY: undefined }, ["E001"], undefined, 7],
    [
      "no client secret",
      { IDP_CLIENT_SECRET: " " },
      ["E003"],
      "accepts the client: not checked",
      4,
    ],
    [
      "no openid",
      { SCOPE: "email" },
      ["E005", "W004"],
      "redirect URI is registered: not checked",
      6,
    ],
    [
      "an issuer off loopback without encryption",
      { IDP_ISSUER: "http://login.example" },
      ["E008"],
      "The identity provider: not checked",
      0,
    ],
    [
      "a BASE_URL that is none",
      { BASE_URL: "app" },
      ["E006"],
      "redirect URI is registered: not checked",
      6,
    ],
    ["a timeout that is none", { IDP_HTTP_TIMEOUT: "soon" }, ["E006"], undefined, 7],
  ])("%s", async (_name, env, codes, notSeen, requests) => {
    const report = await run(env);
    expect(report.codes).toEqual(codes);
    if (notSeen !== undefined) expect(report.notSeen[0]).toContain(notSeen);
    expect(provider.requests).toHaveLength(requests);
  });
});

describe("the cookie", () => {
  it.each([
    [{ BASE_URL: "http://localhost:3000" }, [], { name: "idpauth", secure: false }],
    [{ IDP_COOKIE_NAME: "shop" }, ["W013"], { name: "shop", secure: true }],
    [{ IDP_COOKIE_NAME: "__Host-shop" }, [], { name: "__Host-shop", secure: true }],
  ])("%j", async (env, codes, cookie) => {
    const report = await run(env);
    expect(report.codes).toEqual(codes);
    expect(report.facts.cookie).toMatchObject(cookie);
  });
});
