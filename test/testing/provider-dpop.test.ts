import {
  calculateJwkThumbprint,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
} from "jose";
import { createHash } from "node:crypto";
import * as oauth from "oauth4webapi";
import { afterEach, describe, expect, it } from "vitest";
import {
  RunningClock,
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";
import { assuranceClient, dpopHandle, json, type AssuranceClient } from "./assurance-client.js";

let provider: TestProvider;
let client: AssuranceClient;
let clock: RunningClock;
const CLIENT = { client_id: "test-client" };

async function start(options: TestProviderOptions = {}): Promise<void> {
  clock = new RunningClock();
  provider = await startTestProvider({ clock, dpop: "supported", ...options });
  client = await assuranceClient(provider);
}

afterEach(async () => {
  await provider.stop();
});

const key = await generateKeyPair("ES256", { extractable: true });
const jwk = await exportJWK(key.publicKey);
const jkt = await calculateJwkThumbprint(jwk);

interface Forged {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly signedBy?: CryptoKey;
  readonly method?: string;
  readonly path?: string;
  readonly accessToken?: string;
}

/** A proof without a library that would refuse to make a wrong one. */
function proof({ header, claims, signedBy = key.privateKey, ...request }: Forged = {}) {
  const { method = "POST", path = "/token", accessToken } = request;
  return new SignJWT({
    jti: crypto.randomUUID(),
    htm: method,
    htu: provider.issuer + path,
    iat: Math.floor(clock.now() / 1000),
    ...(accessToken !== undefined && {
      ath: createHash("sha256").update(accessToken).digest("base64url"),
    }),
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk, ...header })
    .sign(signedBy);
}

/** A token request with a header of one's own. */
async function redeem(dpop: string | undefined, code?: string): Promise<Response> {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: code ?? (await client.code()),
    redirect_uri: "http://127.0.0.1:1/callback",
    code_verifier: "v".repeat(43),
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
  });
  const headers = dpop === undefined ? {} : { dpop };
  return fetch(`${provider.issuer}/token`, { method: "POST", body, headers });
}

describe("tokens", () => {
  it("are bound to the key of the proof, and introspection says so", async () => {
    await start();
    const dpop = await dpopHandle(CLIENT);
    const response = await client.redeem(await client.code(), { dpop });
    const tokens = await oauth.processAuthorizationCodeResponse(
      client.server,
      client.client,
      response,
      { requireIdToken: true },
    );
    expect(tokens.token_type).toBe("dpop");
    const cnf = { jkt: await dpop.calculateThumbprint() };
    expect(decodeJwt(tokens.access_token)["cnf"]).toEqual(cnf);
    expect(provider.introspect(tokens.access_token)).toMatchObject({ token_type: "DPoP", cnf });
    const refreshed = await json(client.refresh(tokens.refresh_token ?? "", { dpop }));
    expect(refreshed["token_type"]).toBe("DPoP");
    expect(decodeJwt(String(refreshed["access_token"]))["cnf"]).toEqual(cnf);
  });

  it("aren't bound without a proof, unless the client's have to be", async () => {
    await start();
    const tokens = await json(client.redeem(await client.code()));
    expect(tokens["token_type"]).toBe("Bearer");
    expect(provider.introspect(String(tokens["access_token"]))).toMatchObject({
      token_type: "Bearer",
    });
    provider.settings.dpop = "required";
    expect(await json(redeem(undefined))).toMatchObject({ error: "invalid_dpop_proof" });
  });

  it("of a provider that doesn't know DPoP are Bearer tokens, also after a proof", async () => {
    await start({ dpop: "ignored" });
    expect(client.server.dpop_signing_alg_values_supported).toBeUndefined();
    expect(await json(redeem(await proof()))).toMatchObject({ token_type: "Bearer" });
  });

  it("the algorithms of proofs are announced and decide", async () => {
    await start({ dpopSigningAlgs: ["EdDSA"] });
    expect(client.server.dpop_signing_alg_values_supported).toEqual(["EdDSA"]);
    expect(await json(redeem(await proof()))).toMatchObject({
      error: "invalid_dpop_proof",
      error_description: expect.stringContaining("alg is ES256"),
    });
  });
});

describe("a proof is refused", () => {
  const other = generateKeyPair("ES256", { extractable: true });
  it.each<[string, () => Forged | Promise<Forged>, RegExp]>([
    ["of another typ", () => ({ header: { typ: "JWT" } }), /typ is JWT/],
    ["without a key", () => ({ header: { jwk: undefined } }), /jwk isn't a public key/],
    [
      "that contains the private key",
      async () => ({ header: { jwk: await exportJWK(key.privateKey) } }),
      /jwk isn't a public key/,
    ],
    [
      "signed by another key",
      async () => ({ signedBy: (await other).privateKey }),
      /signature isn't that of its jwk/,
    ],
    ["without a jti", () => ({ claims: { jti: undefined } }), /no jti/],
    ["of another method", () => ({ method: "GET" }), /htm is GET/],
    ["of another address", () => ({ path: "/userinfo" }), /htu is .*userinfo/],
    ["whose htu has a query", () => ({ path: "/token?a=b" }), /htu is/],
    ["whose htu has a fragment", () => ({ path: "/token#a" }), /htu is/],
    ["without an iat", () => ({ claims: { iat: undefined } }), /no iat/],
    [
      "that is too old",
      () => ({ claims: { iat: Math.floor(clock.now() / 1000) - 62 } }),
      /seconds old/,
    ],
    [
      "from the future",
      () => ({ claims: { iat: Math.floor(clock.now() / 1000) + 62 } }),
      /seconds ahead/,
    ],
  ])("%s", async (_name, forged, reason) => {
    await start();
    const response = await redeem(await proof(await forged()));
    expect(response.status).toBe(400);
    expect(await json(response)).toEqual({
      error: "invalid_dpop_proof",
      error_description: expect.stringMatching(reason),
    });
    // The same request with a right one.
    expect((await redeem(await proof())).status).toBe(200);
  });

  it("that is used a second time", async () => {
    await start();
    const once = await proof();
    expect((await redeem(once)).status).toBe(200);
    expect(await json(redeem(once))).toMatchObject({
      error_description: expect.stringContaining("used before"),
    });
  });

  it("that nobody signed, that is no JWT, or that is one of two", async () => {
    await start();
    const unsigned = new UnsecuredJWT({ jti: "1" }).encode();
    const two = `${await proof()}, ${await proof()}`;
    for (const wrong of [unsigned, "nonsense", two])
      expect(await json(redeem(wrong))).toMatchObject({ error: "invalid_dpop_proof" });
  });

  it("also within the time that the provider sets", async () => {
    await start({ dpopProofSeconds: 5 });
    const iat = Math.floor(clock.now() / 1000) - 10;
    expect(await json(redeem(await proof({ claims: { iat } })))).toMatchObject({
      error: "invalid_dpop_proof",
    });
  });
});

describe("a code", () => {
  it("that dpop_jkt binds is for its key alone", async () => {
    await start();
    const bound = async () => client.code({ dpop_jkt: jkt });
    expect((await redeem(await proof(), await bound())).status).toBe(200);
    const dpop = await dpopHandle(CLIENT);
    for (const response of [
      await client.redeem(await bound(), { dpop }),
      await client.redeem(await bound()),
    ])
      expect(await json(response)).toMatchObject({
        error: "invalid_grant",
        error_description: expect.stringContaining("dpop_jkt"),
      });
  });

  it("of a request that was pushed with a proof is for its key", async () => {
    await start({ pushedRequests: true });
    const dpop = await dpopHandle(CLIENT);
    const { request_uri } = await json(client.push({}, { dpop }));
    const code = async () => {
      const asked = new URL(`${provider.issuer}/authorize`);
      asked.search = new URLSearchParams({
        ...CLIENT,
        request_uri: String(request_uri),
      }).toString();
      return new URL(await provider.signInCode(asked)).searchParams.get("code") ?? "";
    };
    expect(await json(redeem(await proof(), await code()))).toMatchObject({
      error: "invalid_grant",
    });
    const again = await json(client.push({ dpop_jkt: jkt }, { dpop }));
    expect(again).toMatchObject({
      error: "invalid_dpop_proof",
      error_description: expect.stringContaining("dpop_jkt"),
    });
    const wrong = { method: "POST", headers: { dpop: await proof() } };
    const { clientId: client_id, clientSecret: client_secret } = provider;
    const body = new URLSearchParams({ client_id, client_secret });
    expect(await json(fetch(`${provider.issuer}/par`, { ...wrong, body }))).toMatchObject({
      error: "invalid_dpop_proof",
      error_description: expect.stringContaining("htu is"),
    });
  });
});

describe("a refresh token", () => {
  it("of a client that authenticates takes another key", async () => {
    await start();
    const first = await json(redeem(await proof()));
    const dpop = await dpopHandle(CLIENT);
    const refreshed = await json(client.refresh(String(first["refresh_token"]), { dpop }));
    expect(decodeJwt(String(refreshed["access_token"]))["cnf"]).toEqual({
      jkt: await dpop.calculateThumbprint(),
    });
  });

  it("that is bound takes no other key, and the refusal doesn't spend it", async () => {
    await start({ dpopBoundRefreshTokens: true });
    const mine = await dpopHandle(CLIENT);
    const first = await json(client.redeem(await client.code(), { dpop: mine }));
    const token = String(first["refresh_token"]);
    const others = [{ dpop: await dpopHandle(CLIENT) }, {}];
    for (const other of others)
      expect(await json(client.refresh(token, other))).toMatchObject({
        error: "invalid_grant",
        error_description: expect.stringContaining("another key"),
      });
    expect((await client.refresh(token, { dpop: mine })).status).toBe(200);
  });
});

describe("a nonce", () => {
  const error = async (response: Response) => (await json(response.clone()))["error"] as unknown;

  it("that is never demanded isn't offered either", async () => {
    await start();
    const response = await redeem(await proof());
    expect([response.status, response.headers.get("dpop-nonce")]).toEqual([200, null]);
  });

  it("can be demanded always, and each one works once", async () => {
    await start({ dpopNonce: "always" });
    const demand = await redeem(await proof());
    expect([demand.status, await error(demand)]).toEqual([400, "use_dpop_nonce"]);
    const nonce = demand.headers.get("dpop-nonce");
    const code = await client.code();
    const right = await redeem(await proof({ claims: { nonce } }), code);
    expect(right.status).toBe(200);
    expect(await error(await redeem(await proof({ claims: { nonce } })))).toBe("use_dpop_nonce");
    const next = right.headers.get("dpop-nonce");
    expect((await redeem(await proof({ claims: { nonce: next } }))).status).toBe(200);
  });

  it("oauth4webapi answers the demand, with the same code", async () => {
    await start({ dpopNonce: "always" });
    const dpop = await dpopHandle(CLIENT);
    const code = await client.code();
    const first = await client.redeem(code, { dpop });
    const problem: unknown = await oauth
      .processAuthorizationCodeResponse(client.server, client.client, first)
      .catch((cause: unknown) => cause);
    expect(oauth.isDPoPNonceError(problem)).toBe(true);
    expect((await client.redeem(code, { dpop })).status).toBe(200);
  });

  it("that rotates works until the next one", async () => {
    await start({ dpopNonce: "rotates", dpopNonceSeconds: 100 });
    const demand = await redeem(await proof());
    const nonce = demand.headers.get("dpop-nonce");
    const withNonce = async () => redeem(await proof({ claims: { nonce } }));
    expect((await withNonce()).status).toBe(200);
    expect((await withNonce()).headers.get("dpop-nonce")).toBe(nonce);
    clock.advance(100_000);
    const late = await withNonce();
    expect(await error(late)).toBe("use_dpop_nonce");
    expect(late.headers.get("dpop-nonce")).not.toBe(nonce);
    provider.rotateDpopNonce();
    const newest = late.headers.get("dpop-nonce");
    expect(await error(await redeem(await proof({ claims: { nonce: newest } })))).toBe(
      "use_dpop_nonce",
    );
  });

  it("can be demanded during each refresh alone, without spending the token", async () => {
    await start({ dpopNonce: "refresh" });
    const dpop = await dpopHandle(CLIENT);
    const response = await client.redeem(await client.code(), { dpop });
    expect([response.status, response.headers.get("dpop-nonce")]).toEqual([200, null]);
    let token = String((await json(response))["refresh_token"]);
    for (let round = 0; round < 2; round += 1) {
      const demand = await client.refresh(token, { dpop });
      await oauth.processRefreshTokenResponse(client.server, client.client, demand).catch(() => {});
      const renewed = await client.refresh(token, { dpop });
      expect([demand.status, renewed.status]).toEqual([400, 200]);
      token = String((await json(renewed))["refresh_token"]);
    }
    expect(provider.reuses).toBe(0);
  });

  it("that is checked after the grant costs the refresh token", async () => {
    await start({ dpopNonce: "refresh", dpopNonceCheck: "after-grant" });
    const dpop = await dpopHandle(CLIENT);
    const tokens = await json(client.redeem(await client.code(), { dpop }));
    const token = String(tokens["refresh_token"]);
    const demand = await client.refresh(token, { dpop });
    expect(await error(demand)).toBe("use_dpop_nonce");
    await oauth.processRefreshTokenResponse(client.server, client.client, demand).catch(() => {});
    expect(await json(client.refresh(token, { dpop }))).toMatchObject({ error: "invalid_grant" });
  });

  it("is demanded by the endpoint for pushed requests, too", async () => {
    await start({ dpopNonce: "always", pushedRequests: true });
    const dpop = await dpopHandle(CLIENT);
    const demand = await client.push({}, { dpop });
    expect([demand.status, await error(demand)]).toEqual([400, "use_dpop_nonce"]);
    await oauth
      .processPushedAuthorizationResponse(client.server, client.client, demand)
      .catch(() => {});
    expect((await client.push({}, { dpop })).status).toBe(201);
  });
});

describe("userinfo", () => {
  async function token(): Promise<string> {
    return String((await json(redeem(await proof())))["access_token"]);
  }
  function ask(accessToken: string, dpop: string | undefined, scheme = "DPoP"): Promise<Response> {
    const authorization = `${scheme} ${accessToken}`;
    return fetch(`${provider.issuer}/userinfo`, {
      headers: { authorization, ...(dpop !== undefined && { dpop }) },
    });
  }
  const at = { method: "GET", path: "/userinfo" };

  it("accepts the token with a proof of its key", async () => {
    await start();
    const dpop = await dpopHandle(CLIENT);
    const tokens = await json(client.redeem(await client.code(), { dpop }));
    const accessToken = String(tokens["access_token"]);
    const response = await client.userinfo(accessToken, { dpop });
    expect(await json(response)).toMatchObject({ sub: "ada-1815" });
  });

  it.each<[string, (accessToken: string) => Promise<[string | undefined, string?]>, string]>([
    ["as a Bearer token", async () => [undefined, "Bearer"], "invalid_token"],
    ["without a proof", async () => [undefined], "invalid_dpop_proof"],
    ["with a proof without ath", async () => [await proof(at)], "invalid_dpop_proof"],
    [
      "with the ath of another token",
      async () => [await proof({ ...at, accessToken: "another" })],
      "invalid_dpop_proof",
    ],
    [
      "with a proof of another key",
      async (accessToken) => {
        const other = await generateKeyPair("ES256", { extractable: true });
        const header = { jwk: await exportJWK(other.publicKey) };
        return [await proof({ ...at, accessToken, header, signedBy: other.privateKey })];
      },
      "invalid_token",
    ],
  ])("refuses it %s", async (_name, presented, error) => {
    await start();
    const accessToken = await token();
    const [dpop, scheme] = await presented(accessToken);
    const response = await ask(accessToken, dpop, scheme);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe(`${scheme ?? "DPoP"} error="${error}"`);
    expect((await ask(accessToken, await proof({ ...at, accessToken }))).status).toBe(200);
  });

  it("refuses a Bearer token with a proof", async () => {
    await start();
    const tokens = await json(redeem(undefined));
    const accessToken = String(tokens["access_token"]);
    expect((await ask(accessToken, await proof({ ...at, accessToken }))).status).toBe(401);
    expect((await ask(accessToken, undefined, "Bearer")).status).toBe(200);
  });

  it("demands a nonce in the challenge", async () => {
    await start();
    const accessToken = await token();
    provider.settings.dpopNonce = "always";
    const demand = await ask(accessToken, await proof({ ...at, accessToken }));
    expect(demand.status).toBe(401);
    expect(demand.headers.get("www-authenticate")).toBe('DPoP error="use_dpop_nonce"');
    const claims = { nonce: demand.headers.get("dpop-nonce") };
    const response = await ask(accessToken, await proof({ ...at, accessToken, claims }));
    expect(response.status).toBe(200);
    expect(response.headers.get("dpop-nonce")).not.toBe(claims.nonce);
  });
});
