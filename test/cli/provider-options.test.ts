import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { get } from "node:https";
import path from "node:path";
import { expect, it } from "vitest";
import { CookieBrowser, type BrowserResponse } from "../../src/testing/browser/cookie-browser.js";
import { selfSigned } from "../adapters/transport/self-signed.js";
import { submission } from "../support/choose-person.mjs";
import { shellEnv } from "../support/shell-env.js";
import { emptyFolder, runProvider, startProvider, type RunningProvider } from "./provider-run.js";

const CALLBACK = "http://localhost:3000/idpauth/login-callback";
const VERIFIER = "v".repeat(43);

function authorizationUrl(
  provider: RunningProvider,
  changes: Readonly<Record<string, string>> = {},
): string {
  const parameters = new URLSearchParams({
    client_id: provider.env["IDP_CLIENT_ID"] ?? "",
    redirect_uri: CALLBACK,
    response_type: "code",
    scope: "openid email profile offline_access",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
    ...changes,
  });
  return `${provider.issuer}/authorize?${parameters.toString()}`;
}

/** Presses a button on a page, with more of its fields. */
function press(
  page: BrowserResponse,
  words: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<BrowserResponse> {
  const { url, body, ...options } = submission(page, words);
  const filled = new URLSearchParams([...new URLSearchParams(body), ...Object.entries(fields)]);
  return new CookieBrowser().get(url, { ...options, body: filled.toString() });
}

async function post(
  address: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Record<string, string> }> {
  const response = await fetch(address, { method: "POST", body: new URLSearchParams(fields) });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

function redeem(provider: RunningProvider, location: string) {
  return post(`${provider.issuer}/token`, {
    grant_type: "authorization_code",
    code: new URL(location).searchParams.get("code") ?? "",
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    client_id: provider.env["IDP_CLIENT_ID"] ?? "",
    client_secret: provider.env["IDP_CLIENT_SECRET"] ?? "",
  });
}

it("with --consent, the scopes that a person leaves out are not granted", async () => {
  const provider = await startProvider(["--port=0", "--consent"], { folder: emptyFolder() });
  const people = await new CookieBrowser().navigate(authorizationUrl(provider));
  const consent = await press(people, "Ada");
  expect(consent.text).toContain("See your email address");
  const allowed = await press(consent, "Allow", { person: "ada", "scope:profile": "yes" });
  const { body } = await redeem(provider, allowed.location ?? "");
  expect(body["scope"]).toBe("openid profile");
  expect(body).not.toHaveProperty("refresh_token");
  const claims = decodeJwt(body["id_token"] ?? "");
  expect([claims["name"], "email" in claims]).toEqual(["Ada Lovelace", false]);
  expect(provider.stderr()).toBe("");
});

it("with --consent, a person can deny everything, and stays signed out at the provider", async () => {
  const provider = await startProvider(["--port=0", "--consent"], { folder: emptyFolder() });
  const resource = "https://orders.example.com/<b>";
  const people = await new CookieBrowser().navigate(authorizationUrl(provider, { resource }));
  const consent = await press(people, "Ada");
  expect(consent.text).toContain("https://orders.example.com/&lt;b&gt;");
  const denied = await press(consent, "Deny", { person: "ada" });
  expect(new URL(denied.location ?? "").searchParams.get("error")).toBe("access_denied");
  const home = await new CookieBrowser().get(`${provider.issuer}/`);
  expect(home.text).not.toContain("Signed in at the provider");
  expect(provider.stderr()).toBe("");
});

it("prints why it refused a client, and no secret", async () => {
  const folder = emptyFolder();
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "ours" }] };
  writeFileSync(path.join(folder, "jwks.json"), JSON.stringify(jwks));
  const provider = await startProvider(["--port=0", "--client-jwks=jwks.json"], { folder });
  expect(provider.env).not.toHaveProperty("IDP_CLIENT_SECRET");
  expect(provider.stdout).toContain("Set IDP_PRIVATE_KEY to the private key of jwks.json");
  const assertion = (audience: string, kid: string) =>
    new SignJWT({ jti: `${audience} ${kid}` })
      .setProtectedHeader({ alg: "ES256", kid })
      .setIssuer("idpauth-dev")
      .setSubject("idpauth-dev")
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime("1m")
      .sign(privateKey);
  const refresh = async (client_assertion: string) =>
    post(`${provider.issuer}/token`, {
      grant_type: "refresh_token",
      refresh_token: "unknown-token",
      client_id: "idpauth-dev",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion,
    });
  const wrong = [
    await assertion("https://elsewhere.example", "ours"),
    await assertion(provider.issuer, "theirs"),
  ];
  for (const one of wrong) expect((await refresh(one)).body["error"]).toBe("invalid_client");
  const right = await assertion(provider.issuer, "ours");
  expect((await refresh(right)).body["error"]).toBe("invalid_grant");
  const [audience, key, grant, ...others] = provider.stderr().trim().split("\n");
  expect(audience).toMatch(/^idpauth provider: refused token: invalid_client, .*\baud\b/);
  expect(audience).toContain(provider.issuer);
  expect(key).toMatch(/^idpauth provider: refused token: invalid_client, .*ours/);
  expect(grant).toMatch(/^idpauth provider: refused token: invalid_grant, /);
  expect(others).toEqual([]);
  for (const secret of [...wrong, right, "unknown-token"])
    expect(provider.stderr()).not.toContain(secret);
});

it.each([
  ['{"keys":[{"kty":"EC","d":"hunter2"}]}', "contains a private or a symmetric key"],
  ['{"keys":[]}', "must be a JWK set"],
  ["hunter2", "must be a JWK set"],
])("--client-jwks refuses a file with %s", async (content, words) => {
  const folder = emptyFolder();
  writeFileSync(path.join(folder, "jwks.json"), content);
  const ended = await runProvider(["--port=0", "--client-jwks=jwks.json"], { folder });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  expect((ended as { stderr: string }).stderr).not.toContain("hunter2");
});

it("--client-key keeps its key for the next start, and the settings have it in place of a secret", async () => {
  const folder = emptyFolder();
  const argv = ["--port=0", "--data=state.json", "--client-key"];
  const first = await startProvider(argv, { folder });
  expect(first.env["IDP_PRIVATE_KEY"]).toMatch(/^-----BEGIN PRIVATE KEY-----\\n/);
  expect(first.env).not.toHaveProperty("IDP_CLIENT_SECRET");
  const lines = (first.stdout.match(/^[A-Z_]+=.*$/gm) ?? []).join("\n");
  expect(shellEnv(lines)).toEqual(first.env);
  await first.stop();
  const second = await startProvider(argv, { folder });
  expect(second.env["IDP_PRIVATE_KEY"]).toBe(first.env["IDP_PRIVATE_KEY"]);
});

it("--base-url is in the settings, and its redirect URIs are accepted beside those of this machine", async () => {
  const argv = ["--port=0", "--base-url=https://app.example/"];
  const provider = await startProvider(argv, { folder: emptyFolder() });
  expect(provider.env["BASE_URL"]).toBe("https://app.example");
  const statusOf = async (redirect_uri: string) =>
    (await new CookieBrowser().navigate(authorizationUrl(provider, { redirect_uri }))).status;
  expect(await statusOf("https://app.example/idpauth/login-callback")).toBe(200);
  expect(await statusOf(CALLBACK)).toBe(200);
  expect(await statusOf("https://other.example/idpauth/login-callback")).toBe(400);
});

it("--pushed-requests makes the application push, without refusing other requests", async () => {
  const argv = ["--port=0", "--pushed-requests"];
  const provider = await startProvider(argv, { folder: emptyFolder() });
  expect(provider.env["IDP_PUSHED_REQUESTS"]).toBe("always");
  expect((await new CookieBrowser().navigate(authorizationUrl(provider))).status).toBe(200);
});

it("shows a page for a pushed request that is unknown", async () => {
  const argv = ["--port=0", "--require-pushed-requests"];
  const provider = await startProvider(argv, { folder: emptyFolder() });
  const request_uri = "urn:ietf:params:oauth:request_uri:unknown";
  const page = await new CookieBrowser().navigate(authorizationUrl(provider, { request_uri }));
  expect(page).toMatchObject({ status: 400, location: undefined });
  expect(page.text).toContain("The pushed login request has expired");
});

it("responds to prompt=none in a pushed request as to one in the URL: login_required", async () => {
  const argv = ["--port=0", "--pushed-requests"];
  const provider = await startProvider(argv, { folder: emptyFolder() });
  const client_id = provider.env["IDP_CLIENT_ID"] ?? "";
  const client_secret = provider.env["IDP_CLIENT_SECRET"] ?? "";
  const request = new URL(authorizationUrl(provider, { prompt: "none", client_secret }));
  const pushed = await post(`${provider.issuer}/par`, Object.fromEntries(request.searchParams));
  const reference = new URLSearchParams({
    client_id,
    request_uri: pushed.body["request_uri"] ?? "",
  });
  const reply = await new CookieBrowser().navigate(
    `${provider.issuer}/authorize?${reference.toString()}`,
  );
  expect(new URL(reply.location ?? "").searchParams.get("error")).toBe("login_required");
});

it("a request can't write control characters or lines of its own to the terminal", async () => {
  const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
  const name = encodeURIComponent("\u001B[31m\nidpauth provider: all is well\u202E");
  const response = await fetch(`${provider.issuer}/jwks?${name}=1&${name}=2`);
  const { error_description } = (await response.json()) as Record<string, string>;
  // The characters of RFC 6749 section 5.2.
  expect(error_description).toMatch(/^[ !#-[\]-~]+$/);
  expect(provider.stderr()).toBe(
    "idpauth provider: refused jwks: invalid_request, GET jwks: ?[31m?idpauth provider: all is well? more than once in the query\n",
  );
});

it("prints nothing about the refresh token that `idpauth check --live` has made up", async () => {
  const provider = await startProvider(["--port=0"], { folder: emptyFolder() });
  const refresh = (refresh_token: string) =>
    post(`${provider.issuer}/token`, {
      grant_type: "refresh_token",
      refresh_token,
      client_id: provider.env["IDP_CLIENT_ID"] ?? "",
      client_secret: provider.env["IDP_CLIENT_SECRET"] ?? "",
    });
  expect(await refresh("idpauth-check-1")).toMatchObject({ body: { error: "invalid_grant" } });
  expect(provider.stderr()).toBe("");
  await refresh("another");
  expect(provider.stderr()).toContain("refused token: invalid_grant, unknown refresh token");
});

it("--access-tokens=opaque issues tokens that are no JWTs", async () => {
  for (const form of ["jwt", "opaque"]) {
    const argv = ["--port=0", `--access-tokens=${form}`];
    const provider = await startProvider(argv, { folder: emptyFolder() });
    const people = await new CookieBrowser().navigate(authorizationUrl(provider));
    const { body } = await redeem(provider, (await press(people, "Ada")).location ?? "");
    expect((body["access_token"] ?? "").split(".")).toHaveLength(form === "jwt" ? 3 : 1);
  }
});

it("--tls-cert and --tls-key serve the provider over https, with a certificate for 127.0.0.1 alone", async () => {
  const folder = emptyFolder();
  const write = (name: string) => {
    const { cert, key } = selfSigned(name);
    writeFileSync(path.join(folder, "cert.pem"), cert);
    writeFileSync(path.join(folder, "key.pem"), key);
    return cert;
  };
  const argv = ["--port=0", "--tls-cert=cert.pem", "--tls-key=key.pem"];
  write("DNS:localhost");
  expect(await runProvider(argv, { folder })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("isn't for 127.0.0.1"),
  });
  const ca = write("IP:127.0.0.1");
  const provider = await startProvider(argv, { folder });
  expect(provider.env["IDP_ISSUER"]).toMatch(/^https:/);
  const address = `${provider.issuer}/.well-known/openid-configuration`;
  const document = await new Promise<string>((resolve, reject) => {
    get(address, { ca }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });
  expect(JSON.parse(document)).toMatchObject({ issuer: provider.issuer });
});
