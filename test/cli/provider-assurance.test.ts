import { readdirSync, readFileSync, statSync } from "node:fs";
import { request as httpRequest, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import path from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import * as oauth from "oauth4webapi";
import { Agent, fetch as undiciFetch } from "undici";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { idpAuth } from "../../src/adapters/node/node.js";
import { browser } from "../../src/testing/index.js";
import { emptyFolder, runProvider, startProvider, type RunningProvider } from "./provider-run.js";

const CALLBACK = "http://localhost:3000/idpauth/login-callback";
const VERIFIER = "v".repeat(43);
const agents: Agent[] = [];

afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
});

/** The file that a setting names. */
const fileIn = (setting = "") => readFileSync(setting.replace(/^file:/, ""), "utf8");

/** Sends requests as an application does that has these settings. */
function fetchFor({ env }: RunningProvider, hasCertificate = true): typeof fetch {
  const certificate =
    hasCertificate && env["IDP_CLIENT_CERTIFICATE"] !== undefined
      ? {
          cert: fileIn(env["IDP_CLIENT_CERTIFICATE"]),
          key: fileIn(env["IDP_CLIENT_CERTIFICATE_KEY"]),
        }
      : {};
  const ca =
    env["NODE_EXTRA_CA_CERTS"] === undefined ? {} : { ca: fileIn(env["NODE_EXTRA_CA_CERTS"]) };
  const dispatcher = new Agent({ connect: { ...ca, ...certificate }, keepAliveTimeout: 1 });
  agents.push(dispatcher);
  return ((input: string, init: object) =>
    undiciFetch(input, { ...init, dispatcher })) as unknown as typeof fetch;
}

/** Chooses Ada on the page, as a browser's form does. */
function choose(address: URL, { env }: RunningProvider): Promise<URL> {
  const isSecure = address.protocol === "https:";
  const request = isSecure ? httpsRequest : httpRequest;
  const ca = isSecure ? fileIn(env["NODE_EXTRA_CA_CERTS"]) : undefined;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return new Promise((resolve, reject) => {
    const sent = request(address, { method: "POST", ca, headers, agent: false }, (response) => {
      response.resume();
      resolve(new URL(response.headers.location ?? ""));
    });
    sent.on("error", reject).end("person=ada");
  });
}

interface Flow {
  readonly dpop?: oauth.DPoPHandle;
  readonly fetch?: typeof fetch;
  readonly auth: oauth.ClientAuth;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Pushes a request, signs Ada in and redeems the code. */
async function signIn(provider: RunningProvider, { dpop, auth, parameters, ...own }: Flow) {
  const sending = {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: own.fetch ?? fetchFor(provider),
  } as object;
  const options = { ...sending, ...(dpop !== undefined && { DPoP: dpop }) };
  const issuer = new URL(provider.env["IDP_ISSUER"] ?? "");
  const found = await oauth.discoveryRequest(issuer, sending);
  const server = await oauth.processDiscoveryResponse(issuer, found);
  const client: oauth.Client = {
    client_id: provider.env["IDP_CLIENT_ID"] ?? "",
    id_token_signed_response_alg: server.id_token_signing_alg_values_supported?.[0] ?? "",
    authorization_signed_response_alg: "PS256",
  };
  const pushed = () =>
    oauth.pushedAuthorizationRequest(
      server,
      client,
      auth,
      {
        client_id: client.client_id,
        redirect_uri: CALLBACK,
        response_type: "code",
        scope: "openid offline_access",
        state: "s",
        code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
        code_challenge_method: "S256",
        ...parameters,
      },
      options,
    );
  const processed = async () =>
    oauth.processPushedAuthorizationResponse(server, client, await pushed());
  const { request_uri } = await processed().catch(processed);
  const address = new URL(server.authorization_endpoint ?? "");
  address.search = new URLSearchParams({ client_id: client.client_id, request_uri }).toString();
  const url = await choose(address, provider);
  const params = url.searchParams.has("response")
    ? await oauth.validateJwtAuthResponse(server, client, url, "s", sending)
    : oauth.validateAuthResponse(server, client, url, "s");
  const redeemed = async () =>
    oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        auth,
        params,
        CALLBACK,
        VERIFIER,
        options,
      ),
    );
  return { server, client, url, options, tokens: await redeemed() };
}

async function privateKey(pem = ""): Promise<oauth.CryptoKey> {
  const key = createPrivateKey(pem.replaceAll("\\n", "\n"));
  const jwk = key.export({ format: "jwk" });
  return crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
  ]);
}

describe("--fapi", () => {
  it("demands what FAPI 2.0 does, and prints the settings for it", async () => {
    const folder = emptyFolder();
    const provider = await startProvider(["--port=0", "--fapi"], { folder });
    expect(provider.env).toMatchObject({
      IDP_PUSHED_REQUESTS: "always",
      IDP_FAPI: "2",
      IDP_DPOP: "true",
      IDP_PRIVATE_KEY: expect.stringContaining("BEGIN PRIVATE KEY"),
    });
    expect(provider.env).not.toHaveProperty("IDP_CLIENT_SECRET");
    expect(provider.env).not.toHaveProperty("IDP_CLIENT_CERTIFICATE");
    const auth = oauth.PrivateKeyJwt(await privateKey(provider.env["IDP_PRIVATE_KEY"]));
    const dpop = oauth.DPoP({}, await oauth.generateKeyPair("ES256"));
    const parameters = { response_mode: "jwt" };
    const { server, url, tokens } = await signIn(provider, { auth, dpop, parameters });
    expect(server).toMatchObject({
      require_pushed_authorization_requests: true,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
      dpop_signing_alg_values_supported: ["ES256", "PS256", "EdDSA"],
      id_token_signing_alg_values_supported: ["PS256"],
      request_object_signing_alg_values_supported: ["PS256", "ES256", "EdDSA"],
      code_challenge_methods_supported: ["S256"],
    });
    expect([...url.searchParams.keys()]).toEqual(["response"]);
    expect(tokens.token_type).toBe("dpop");
    expect(decodeProtectedHeader(tokens.id_token ?? "").alg).toBe("PS256");
  });

  it("refuses a request that isn't pushed, and tokens without a proof", async () => {
    const folder = emptyFolder();
    const provider = await startProvider(["--port=0", "--fapi"], { folder });
    const auth = oauth.PrivateKeyJwt(await privateKey(provider.env["IDP_PRIVATE_KEY"]));
    await expect(signIn(provider, { auth })).rejects.toMatchObject({
      error: "invalid_dpop_proof",
    });
    const address = new URL(`${provider.issuer}/authorize`);
    address.search = new URLSearchParams({
      client_id: "idpauth-dev",
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "openid",
    }).toString();
    const url = await choose(address, provider);
    expect(url.searchParams.get("error_description")).toBe("the request must be pushed");
  });

  it("binds tokens to the certificate with --mtls, which then authenticates the client", async () => {
    const folder = emptyFolder();
    const argv = ["--port=0", "--data=state.json", "--fapi", "--mtls"];
    const provider = await startProvider(argv, { folder });
    expect(provider.env).toMatchObject({ IDP_FAPI: "2" });
    expect(provider.env).not.toHaveProperty("IDP_DPOP");
    const { tokens } = await signIn(provider, { auth: oauth.TlsClientAuth() });
    expect(decodeJwt(tokens.access_token)["cnf"]).toHaveProperty("x5t#S256");
  });
});

describe("--mtls", () => {
  const ARGV = ["--port=0", "--data=state.json", "--mtls", "--pushed-requests"];

  it("writes the certificates that the settings name, for this user alone", async () => {
    const folder = emptyFolder();
    const { env } = await startProvider(ARGV, { folder });
    const names = ["state-ca.pem", "state-client-key.pem", "state-client.pem"];
    expect(readdirSync(folder).sort()).toEqual([...names, "state.json"]);
    for (const name of names) expect(statSync(path.join(folder, name)).mode & 0o077).toBe(0);
    expect(env).toMatchObject({
      IDP_ISSUER: expect.stringMatching(/^https:/),
      NODE_EXTRA_CA_CERTS: path.join(folder, "state-ca.pem"),
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: "tls_client_auth",
      IDP_CLIENT_CERTIFICATE: `file:${path.join(folder, "state-client.pem")}`,
      IDP_CLIENT_CERTIFICATE_KEY: `file:${path.join(folder, "state-client-key.pem")}`,
    });
    expect(env).not.toHaveProperty("IDP_CLIENT_SECRET");
    const certificate = new X509Certificate(fileIn(env["IDP_CLIENT_CERTIFICATE"]));
    expect(certificate.subject).toBe("CN=idpauth-dev");
    const key = createPrivateKey(fileIn(env["IDP_CLIENT_CERTIFICATE_KEY"]));
    expect(certificate.checkPrivateKey(key)).toBe(true);
  });

  it("signs in with the certificate, and userinfo and the token endpoint need it", async () => {
    const provider = await startProvider(ARGV, { folder: emptyFolder() });
    const auth = oauth.TlsClientAuth();
    const { server, client, options, tokens } = await signIn(provider, { auth });
    const asked = (send: typeof fetch) =>
      oauth.userInfoRequest(server, client, tokens.access_token, {
        ...options,
        [oauth.customFetch]: send,
      } as object);
    const statuses = [
      (await asked(fetchFor(provider))).status,
      (await asked(fetchFor(provider, false))).status,
    ];
    expect(statuses).toEqual([200, 401]);
    const without = signIn(provider, { auth, fetch: fetchFor(provider, false) });
    await expect(without).rejects.toMatchObject({ error: "invalid_client" });
    expect(provider.stderr()).toContain("invalid_client, the client has presented none");
  });

  it("keeps the authority and the client's certificate over a restart", async () => {
    const folder = emptyFolder();
    const first = await startProvider(ARGV, { folder });
    const files = () => [
      fileIn(first.env["NODE_EXTRA_CA_CERTS"]),
      fileIn(first.env["IDP_CLIENT_CERTIFICATE"]),
      fileIn(first.env["IDP_CLIENT_CERTIFICATE_KEY"]),
    ];
    const before = files();
    await first.stop();
    const second = await startProvider(ARGV, { folder });
    expect(files()).toEqual(before);
    const { tokens } = await signIn(second, { auth: oauth.TlsClientAuth() });
    expect(tokens.token_type).toBe("bearer");
  });

  it("issues new ones before the old ones end", async () => {
    const folder = emptyFolder();
    const first = await startProvider(ARGV, { folder });
    const before = fileIn(first.env["IDP_CLIENT_CERTIFICATE"]);
    await first.stop();
    const now = () => Date.now() + 396.5 * 86_400_000;
    await startProvider(ARGV, { folder, now });
    expect(fileIn(first.env["IDP_CLIENT_CERTIFICATE"])).not.toBe(before);
  });

  it("gives each of several providers' clients a certificate", async () => {
    const folder = emptyFolder();
    const argv = ["--port=0", "--data=state.json", "--providers=a,b", "--a.mtls"];
    const { env } = await startProvider(argv, { folder });
    expect(env["IDP_PROVIDER_A_CLIENT_CERTIFICATE"]).toBe(
      `file:${path.join(folder, "state-a-client.pem")}`,
    );
    expect(env).not.toHaveProperty("IDP_PROVIDER_B_CLIENT_CERTIFICATE");
    expect(env).toHaveProperty("IDP_PROVIDER_B_CLIENT_SECRET");
  });

  it("leaves the client its key if it has one, and binds its tokens", async () => {
    const folder = emptyFolder();
    const provider = await startProvider([...ARGV, "--client-key"], { folder });
    expect(provider.env).not.toHaveProperty("IDP_TOKEN_ENDPOINT_AUTH_METHOD");
    const auth = oauth.PrivateKeyJwt(await privateKey(provider.env["IDP_PRIVATE_KEY"]));
    const { tokens } = await signIn(provider, { auth });
    expect(decodeJwt(tokens.access_token)["cnf"]).toHaveProperty("x5t#S256");
  });
});

describe("--dpop", () => {
  it("demands proofs and the nonce of --dpop-nonce, over http", async () => {
    const provider = await startProvider(["--port=0", "--dpop", "--dpop-nonce=always"], {
      folder: emptyFolder(),
    });
    expect(provider.env).toMatchObject({ IDP_DPOP: "true", IDP_CLIENT_SECRET: expect.anything() });
    const client = { client_id: provider.env["IDP_CLIENT_ID"] ?? "" };
    const server = { issuer: provider.issuer, token_endpoint: `${provider.issuer}/token` };
    const refresh = async (dpop?: oauth.DPoPHandle) => {
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        oauth.ClientSecretPost(provider.env["IDP_CLIENT_SECRET"] ?? ""),
        "unknown",
        { [oauth.allowInsecureRequests]: true, ...(dpop !== undefined && { DPoP: dpop }) },
      );
      await oauth.processRefreshTokenResponse(server, client, response.clone()).catch(() => {});
      return ((await response.json()) as { error: string }).error;
    };
    const dpop = oauth.DPoP({}, await oauth.generateKeyPair("ES256"));
    expect([await refresh(), await refresh(dpop), await refresh(dpop)]).toEqual([
      "invalid_dpop_proof",
      "use_dpop_nonce",
      "invalid_grant",
    ]);
    // What a client meets with each nonce isn't the developer's mistake.
    expect(provider.stderr()).not.toContain("use_dpop_nonce");
  });

  it.each([
    [["--dpop-nonce=always"], "--dpop-nonce needs --dpop"],
    [["--dpop", "--dpop-nonce=often"], "it must be none, always, rotates, refresh"],
    [["--port=0", "--mtls"], "--data=FILE"],
  ])("is wrong usage: %o", async (argv, message) => {
    expect(await runProvider(argv, { folder: emptyFolder() })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

describe("an application with the settings that the command prints", () => {
  it.each([[["--dpop"]], [["--fapi"]], [["--mtls"]], [["--fapi", "--mtls"]]])(
    "%o: pushes its requests and signs in",
    async (options) => {
      const argv = ["--port=0", "--data=state.json", "--pushed-requests", ...options];
      const provider = await startProvider(argv, { folder: emptyFolder() });
      const authority = provider.env["NODE_EXTRA_CA_CERTS"];
      const trusted = getCACertificates("default");
      if (authority !== undefined) setDefaultCACertificates([...trusted, fileIn(authority)]);
      onTestFinished(() => setDefaultCACertificates(trusted));
      const auth = idpAuth({ env: { ...provider.env, BASE_URL: "" }, log: false });
      const user = await browser(
        auth.listener((_request, response: ServerResponse) => {
          response.end();
        }),
      );
      const login = await user.navigate("/idpauth/login/");
      const address = new URL(login.location ?? "");
      expect(address.searchParams.has("request_uri")).toBe(true);
      expect((await user.follow(await choose(address, provider))).status).toBe(200);
      const session = await user.get("/idpauth/session");
      expect(session.json()).toMatchObject({ authenticated: true });
      expect(provider.stderr()).toBe("");
    },
  );
});

describe("--write-env", () => {
  it("names the settings that need an option which is missing now", async () => {
    const folder = emptyFolder();
    const data = ["--port=0", "--data=state.json", "--write-env"];
    const first = await startProvider([...data, "--dpop"], { folder });
    const port = String(first.port);
    await first.stop();
    const again = data.with(0, `--port=${port}`);
    const second = await startProvider(again, { folder });
    expect(second.stdout).toContain("IDP_DPOP=\n");
  });
});
