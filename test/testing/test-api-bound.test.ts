import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from "jose";
import { createHash } from "node:crypto";
import { once } from "node:events";
import * as oauth from "oauth4webapi";
import { fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  RunningClock,
  startTestApi,
  startTestProvider,
  testCertificate,
  type TestApi,
  type TestApiOptions,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";
import { assuranceClient, fetchWith, json } from "./assurance-client.js";

let provider: TestProvider;
let api: TestApi;
let clock: RunningClock;
const CLIENT: oauth.Client = { client_id: "test-client" };
const key = await generateKeyPair("ES256", { extractable: true });
const jwk = await exportJWK(key.publicKey);
const other = await generateKeyPair("ES256", { extractable: true });
const cleanups: (() => Promise<unknown>)[] = [];

async function start(
  { tls, ...options }: TestApiOptions = {},
  settings: TestProviderOptions = { dpop: "supported" },
): Promise<void> {
  clock = new RunningClock();
  provider = await startTestProvider({ clock, ...settings });
  cleanups.push(() => provider.stop());
  api = await startTestApi(provider, { ...options, tls: tls ?? false });
  cleanups.push(() => api.stop());
}

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** An access token that is bound to `key`. */
async function token(parameters: Readonly<Record<string, string>> = {}): Promise<string> {
  const dpop = oauth.DPoP(CLIENT, key);
  const client = await assuranceClient(provider, { dpop });
  const tokens = await json(client.redeem(await client.code(parameters)));
  return String(tokens["access_token"]);
}

interface Forged {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly signedBy?: CryptoKey;
  readonly path?: string;
}

function proof(
  accessToken: string,
  { claims, header, signedBy = key.privateKey, path = "items" }: Forged = {},
): Promise<string> {
  return new SignJWT({
    jti: crypto.randomUUID(),
    htm: "GET",
    htu: api.url + path,
    iat: Math.floor(clock.now() / 1000),
    ath: createHash("sha256").update(accessToken).digest("base64url"),
    ...claims,
  })
    .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk, ...header })
    .sign(signedBy);
}

async function get(accessToken: string, dpop: string | undefined, scheme = "DPoP") {
  const response = await fetch(new URL("items?open=true", api.url), {
    headers: {
      authorization: `${scheme} ${accessToken}`,
      ...(dpop !== undefined && { dpop }),
    },
  });
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate") ?? "",
    nonce: response.headers.get("dpop-nonce"),
  };
}

describe("a token that is bound to a key", () => {
  it("is accepted with a proof, by oauth4webapi too", async () => {
    await start();
    const accessToken = await token();
    expect(await get(accessToken, await proof(accessToken))).toMatchObject({ status: 200 });
    const dpop = oauth.DPoP(CLIENT, key);
    const response = await oauth.protectedResourceRequest(
      accessToken,
      "GET",
      new URL("items?open=true", api.url),
      new Headers(),
      null,
      { DPoP: dpop, [oauth.allowInsecureRequests]: true },
    );
    expect(response.status).toBe(200);
    expect(api.requests.map(({ claims }) => claims?.["sub"])).toEqual(["ada-1815", "ada-1815"]);
  });

  it.each<[string, (accessToken: string) => Promise<[string | undefined, string?]>, RegExp]>([
    ["as a Bearer token", async () => [undefined, "Bearer"], /^Bearer error="invalid_token"/],
    [
      "as a Bearer token, although with a proof",
      async (accessToken) => [await proof(accessToken), "Bearer"],
      /^Bearer error="invalid_token"/,
    ],
    ["without a proof", async () => [undefined], /^DPoP error="invalid_dpop_proof".*has no proof/],
    [
      "with a proof of another key",
      async (accessToken) => [
        await proof(accessToken, {
          header: { jwk: await exportJWK(other.publicKey) },
          signedBy: other.privateKey,
        }),
      ],
      /^DPoP error="invalid_token".*another|isn't the one/,
    ],
    [
      "with a proof that another key signed",
      async (accessToken) => [await proof(accessToken, { signedBy: other.privateKey })],
      /invalid_dpop_proof.*signature/,
    ],
    [
      "with a proof without ath",
      async (accessToken) => [await proof(accessToken, { claims: { ath: undefined } })],
      /no ath/,
    ],
    ["with the ath of another", async () => [await proof("another")], /ath is of another/],
    [
      "with a proof for another method",
      async (accessToken) => [await proof(accessToken, { claims: { htm: "POST" } })],
      /htm is POST/,
    ],
    [
      "with a proof for another address",
      async (accessToken) => [await proof(accessToken, { path: "orders" })],
      /htu is/,
    ],
    [
      "with a proof whose htu has the query",
      async (accessToken) => [await proof(accessToken, { path: "items?open=true" })],
      /htu is/,
    ],
    [
      "with a stale proof",
      async (accessToken) => [
        await proof(accessToken, { claims: { iat: Math.floor(clock.now() / 1000) - 62 } }),
      ],
      /seconds old/,
    ],
  ])("is refused %s", async (_name, presented, challenge) => {
    await start();
    const accessToken = await token();
    const [dpop, scheme] = await presented(accessToken);
    expect(await get(accessToken, dpop, scheme)).toEqual({
      status: 401,
      challenge: expect.stringMatching(challenge),
      nonce: null,
    });
    expect(api.requests[0]?.claims).toBeUndefined();
    expect((await get(accessToken, await proof(accessToken))).status).toBe(200);
  });

  it("is refused with a proof that was used before", async () => {
    await start();
    const accessToken = await token();
    const once = await proof(accessToken);
    expect((await get(accessToken, once)).status).toBe(200);
    expect(await get(accessToken, once)).toMatchObject({
      status: 401,
      challenge: expect.stringContaining("used before"),
    });
    // The jti is remembered as long as the proof is fresh.
    clock.advance(59_000);
    expect((await get(accessToken, await proof(accessToken))).status).toBe(200);
    expect((await get(accessToken, once)).challenge).toContain("used before");
  });

  it("counts as fresh for the seconds of the option", async () => {
    await start({ dpopProofSeconds: 5 });
    const accessToken = await token();
    const claims = { iat: Math.floor(clock.now() / 1000) - 10 };
    expect((await get(accessToken, await proof(accessToken, { claims }))).status).toBe(401);
  });

  it("gets its other refusals with its own scheme", async () => {
    await start({ scope: "orders" });
    const accessToken = await token();
    expect((await get(accessToken, await proof(accessToken))).challenge).toMatch(
      /^DPoP error="insufficient_scope"/,
    );
    api.refuseNext();
    expect((await get(accessToken, await proof(accessToken))).challenge).toMatch(
      /^DPoP error="invalid_token"/,
    );
  });

  it("opens a WebSocket with a proof for its GET", async () => {
    await start();
    const accessToken = await token();
    const opened = async (dpop: string) => {
      const headers = { authorization: `DPoP ${accessToken}`, dpop };
      const socket = new WebSocket(api.url.replace("http", "ws") + "items", { headers });
      const event = await Promise.race([
        once(socket, "open").then(() => "open"),
        once(socket, "unexpected-response").then(() => "refused"),
        once(socket, "error").then(() => "refused"),
      ]);
      socket.on("error", () => undefined).terminate();
      return event;
    };
    expect(await opened(await proof("another"))).toBe("refused");
    expect(await opened(await proof(accessToken))).toBe("open");
  });

  it("that is opaque is looked up, and its key comes with the response", async () => {
    await start({}, { dpop: "supported", accessTokens: "opaque" });
    const accessToken = await token();
    expect((await get(accessToken, undefined, "Bearer")).status).toBe(401);
    expect((await get(accessToken, await proof(accessToken))).status).toBe(200);
  });
});

describe("a Bearer token", () => {
  it("isn't accepted with the scheme DPoP", async () => {
    await start();
    const client = await assuranceClient(provider);
    const tokens = await json(client.redeem(await client.code()));
    const accessToken = String(tokens["access_token"]);
    expect((await get(accessToken, undefined, "Bearer")).status).toBe(200);
    expect((await get(accessToken, await proof(accessToken))).status).toBe(401);
  });
});

describe("a nonce of the API", () => {
  it("can be demanded always, and works once", async () => {
    await start({ dpopNonce: "always" });
    const accessToken = await token();
    const demand = await get(accessToken, await proof(accessToken));
    expect(demand).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(/^DPoP error="use_dpop_nonce"/),
    });
    const withNonce = async (nonce: string | null) =>
      get(accessToken, await proof(accessToken, { claims: { nonce } }));
    const accepted = await withNonce(demand.nonce);
    expect(accepted.status).toBe(200);
    expect((await withNonce(demand.nonce)).status).toBe(401);
    expect((await withNonce(accepted.nonce)).status).toBe(200);
  });

  it("can rotate", async () => {
    await start({ dpopNonce: "rotates", dpopNonceSeconds: 30 });
    const accessToken = await token();
    const { nonce } = await get(accessToken, await proof(accessToken));
    const withNonce = async () =>
      (await get(accessToken, await proof(accessToken, { claims: { nonce } }))).status;
    expect([await withNonce(), await withNonce()]).toEqual([200, 200]);
    clock.advance(30_000);
    expect(await withNonce()).toBe(401);
    await start({ dpopNonce: "rotates" });
    const again = await token();
    const first = await get(again, await proof(again));
    api.rotateDpopNonce();
    const claims = { nonce: first.nonce };
    expect((await get(again, await proof(again, { claims }))).status).toBe(401);
  });
});

describe("a token that is bound to a certificate", () => {
  it("is accepted with the certificate alone", async () => {
    await start({ tls: true }, { tls: true, certificateBoundTokens: "required" });
    const mine = testCertificate();
    const senderOf = (certificate: typeof mine) => {
      const sender = fetchWith(certificate);
      cleanups.push(() => sender.close());
      return sender.fetch;
    };
    const client = await assuranceClient(provider, { fetch: senderOf(mine) });
    const tokens = await json(client.redeem(await client.code()));
    const headers = { authorization: `Bearer ${String(tokens["access_token"])}` };
    const senders = [senderOf(mine), senderOf(testCertificate()), undiciFetch as typeof fetch];
    const statuses: number[] = [];
    for (const send of senders) statuses.push((await send(`${api.url}items`, { headers })).status);
    expect(statuses).toEqual([200, 401, 401]);
    expect(
      api.requests.map(({ certificate }) => certificate?.thumbprint === mine.thumbprint),
    ).toEqual([true, false, false]);
  });

  it("is refused by an API without TLS", async () => {
    await start({}, { tls: true, certificateBoundTokens: "required" });
    const sender = fetchWith(testCertificate());
    cleanups.push(() => sender.close());
    const client = await assuranceClient(provider, { fetch: sender.fetch });
    const tokens = await json(client.redeem(await client.code()));
    const { status, challenge } = await get(String(tokens["access_token"]), undefined, "Bearer");
    expect([status, challenge]).toEqual([401, expect.stringContaining("has presented none")]);
  });
});
