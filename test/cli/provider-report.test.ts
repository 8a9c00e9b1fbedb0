import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { idpauth } from "../../src/cli/check-command.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { checkIo } from "./live-run.js";
import { PROVIDER, settingsFor } from "./live-situations.mjs";

const REPORT = `# Report of \`idpauth check --live\`
Addresses, names and values of your own are left out, or replaced by \`*\`.
- idpauth 1.2.3, Node.js 24.0.0, linux x64
- 2026-11-27

## Findings
None.

## Provider
- Profile: none
- Issuer: your-tenant.example

## Settings
- SECRET_KEY: set
- IDP_SESSION_TTL: 1209600
- IDP_CLIENT_ID: set
- IDP_CLIENT_SECRET: set
- IDP_ISSUER: set
- SCOPE: set
- BASE_URL: set

## Facts
- client: "accepted"
- redirectUriRegistered: true
- refreshToken: "expected"
- requests: "plain"
- pkce: true
- iss: true
- assurance: []
- logout: {"backchannel":false,"backchannelSid":false,"frontchannel":false,"frontchannelSid":false}
- clockOffset: 0
- scope: openid, email, profile, offline_access
- prompt: consent

## Discovery document
- issuer: same origin as issuer, \`/\`
- authorization_endpoint: same origin as issuer, \`/authorize\`
- token_endpoint: same origin as issuer, \`/token\`
- jwks_uri: same origin as issuer, \`/jwks\`
- userinfo_endpoint: same origin as issuer, \`/userinfo\`
- revocation_endpoint: same origin as issuer, \`/revoke\`
- introspection_endpoint: same origin as issuer, \`/introspect\`
- response_types_supported: code
- response_modes_supported: query, form_post
- grant_types_supported: authorization_code, refresh_token
- subject_types_supported: public
- id_token_signing_alg_values_supported: RS256
- token_endpoint_auth_methods_supported: client_secret_post, client_secret_basic
- revocation_endpoint_auth_methods_supported: client_secret_post, client_secret_basic
- introspection_endpoint_auth_methods_supported: client_secret_post, client_secret_basic
- scopes_supported: openid, email, profile, offline_access
- claims_supported: sub, iss, aud, exp, iat, auth_time, acr, email, email_verified, name, picture, groups
- claims_parameter_supported: true
- code_challenge_methods_supported: S256
- end_session_endpoint: same origin as issuer, \`/end-session\`
- authorization_response_iss_parameter_supported: true
- (other fields): 0

## Requests
- GET discovery document: status 200, 9 ms
- GET jwks_uri: status 200, 9 ms
- GET discovery document: status 200, 9 ms
- POST token_endpoint: status 400, 9 ms
- GET discovery document: status 200, 9 ms
- POST token_endpoint: status 401, 9 ms
`;

let provider: TestProvider;
let folder: string;

beforeAll(async () => {
  provider = await startTestProvider(PROVIDER);
});

afterAll(async () => {
  await provider.stop();
});

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function run(...args: readonly string[]) {
  const written = { stdout: "", stderr: "" };
  const code = await idpauth(["check", "--live", ...args], {
    env: settingsFor(provider),
    write: (text, stream) => (written[stream] += text),
    readText: () => "",
    io: checkIo({ folder }),
  });
  return { code, ...written };
}

const read = (file: string) => readFileSync(path.join(folder, file), "utf8");

/** A report without what differs from run to run. */
const stable = (report: string) =>
  report
    .replace(/Node\.js [\d.]+, \w+ \w+/, "Node.js 24.0.0, linux x64")
    .replace(/^- \d{4}-\d\d-\d\d$/m, "- 2026-11-27")
    .replace(/^- clockOffset: -?\d$/m, "- clockOffset: 0")
    .replace(/\d+ ms$/gm, "9 ms");

it("a report about a provider with which everything is right", async () => {
  const { code, stderr } = await run("--report");
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^The report about your provider is in idpauth-report\.md\..* Look through it before you send it\./,
  );
  expect(stable(read("idpauth-report.md"))).toBe(REPORT);
});

it("the report gets the name in --report, and --json stays one object", async () => {
  const { stdout } = await run("--report=./mine.md", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  expect(read("mine.md")).toContain("- Profile: none\n");
});

it("a report never overwrites a file, and then nothing is sent to the provider", async () => {
  writeFileSync(path.join(folder, "idpauth-report.md"), "mine");
  const before = provider.requests.length;
  expect(await run("--report")).toEqual({
    code: 2,
    stdout: "",
    stderr:
      'idpauth: the file "idpauth-report.md" exists already, and isn\'t overwritten. Name another file with --report=FILE\n',
  });
  expect(read("idpauth-report.md")).toBe("mine");
  expect(provider.requests).toHaveLength(before);
});

it("a report that can't be written is an error, after the check's result", async () => {
  const { code, stdout, stderr } = await run("--report=missing/report.md");
  expect([code, stderr]).toEqual([
    2,
    'idpauth: the file "missing/report.md" can\'t be written (ENOENT)\n',
  ]);
  expect(stdout).toContain("idpauth check: 0 errors");
});
