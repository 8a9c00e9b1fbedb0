import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exportJWK, generateKeyPair } from "jose";
import { WebSocket } from "ws";
import { idpAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions, Jwk } from "../../src/index.js";
import {
  signIn,
  startTestApi,
  startTestProvider,
  TestClock,
  type PersonClaims,
  type TestApi,
  type TestApiOptions,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";

const HOUR = 3_600_000;

let provider: TestProvider;
let clock: TestClock;
const cleanups: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  clock = new TestClock();
  provider = await another();
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function another(options: TestProviderOptions = {}): Promise<TestProvider> {
  const started = await startTestProvider({ clock, ...options });
  cleanups.push(() => started.stop());
  return started;
}

async function open(options?: TestApiOptions): Promise<TestApi> {
  const api = await startTestApi(provider, options);
  cleanups.push(() => api.stop());
  return api;
}

/** The access token of a sign-in. */
async function tokenOf(
  issuer: TestProvider = provider,
  person?: PersonClaims,
  own: IdpAuthOptions = {},
): Promise<string> {
  const auth = idpAuth({ env: issuer.env, clock, log: false, ...own });
  const listener = auth.listener((_request, response) => {
    response.end();
  });
  const user = await signIn(listener, person);
  await user.close();
  return issuer.issued.findLast(({ kind }) => kind === "access_token")?.value ?? "";
}

async function get(api: TestApi, token?: string, path = "items?open=true") {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(path, api.url), { headers });
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate"),
    body: await response.text(),
  };
}

describe("an access token", () => {
  it("of the provider is accepted, and the request is recorded with its claims", async () => {
    const api = await open();
    const token = await tokenOf(provider, { sub: "ada", email: "ada@example.com" });
    const { status, body } = await get(api, token);
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { method: "GET", path: "/items?open=true", sub: "ada" },
    ]);
    expect(api.requests).toMatchObject([
      {
        method: "GET",
        path: "/items?open=true",
        status: 200,
        claims: { sub: "ada", aud: provider.issuer, client_id: "test-client" },
      },
    ]);
    // Its keys come without a request.
    expect(provider.requestsTo("jwks")).toHaveLength(1);
  });

  it("of a request without one is demanded", async () => {
    const api = await open();
    expect(await get(api)).toMatchObject({ status: 401, challenge: "Bearer" });
    expect(api.requests).toMatchObject([{ status: 401, claims: undefined }]);
  });

  it.each<[string, (api: TestApi) => Promise<string>, RegExp]>([
    ["another provider", async () => tokenOf(await another()), /no applicable key/],
    [
      "the past",
      async () => {
        const token = await tokenOf();
        clock.advance(HOUR);
        return token;
      },
      /'exp'/,
    ],
    ["this provider, but an ID token", idToken, /'typ'/],
    ["nowhere", async () => "a.b.c", /decode/],
  ])("of %s is refused", async (_what, create, reason) => {
    const api = await open();
    const token = await create(api);
    const { status, challenge, body } = await get(api, token);
    expect([status, JSON.parse(body)]).toEqual([401, { error: "invalid_token" }]);
    expect(challenge).toMatch(/^Bearer error="invalid_token", error_description="[^"]+"$/);
    expect(challenge).toMatch(reason);
    expect(challenge).not.toContain(token);
  });

  async function idToken(): Promise<string> {
    await tokenOf();
    return provider.issued.findLast(({ kind }) => kind === "id_token")?.value ?? "";
  }

  it("for another audience is refused", async () => {
    const token = await tokenOf();
    const api = await open({ audience: "https://orders.example.com" });
    expect(await get(api, token)).toMatchObject({
      status: 401,
      challenge: expect.stringContaining("aud"),
    });
  });

  it("by a key that was rotated is accepted, by one that isn't published any more refused", async () => {
    const api = await open();
    const old = await tokenOf();
    await provider.rotateKeys({ keepOld: true });
    expect((await get(api, old)).status).toBe(200);
    await provider.rotateKeys({ keepOld: false });
    expect((await get(api, old)).status).toBe(401);
    expect((await get(api, await tokenOf())).status).toBe(200);
  });

  it("that was revoked is refused if the API asks the provider about each token", async () => {
    const api = await open();
    const asking = await open({ introspection: true });
    const token = await tokenOf();
    expect((await get(asking, token)).status).toBe(200);
    provider.revokeAll();
    expect((await get(api, token)).status).toBe(200);
    expect(await get(asking, token)).toMatchObject({
      status: 401,
      challenge: expect.stringContaining("isn't active"),
    });
  });

  it("that is no JWT is looked up at a provider that is known by its issuer, as its client", async () => {
    const remote = await another({ accessTokens: "opaque" });
    const token = await tokenOf(remote, { sub: "ada" });
    remote.settings.tokenEndpointAuthMethods = ["client_secret_basic"];
    const { issuer, clientId, clientSecret } = remote;
    const api = await startTestApi({ issuer, clientId, clientSecret });
    cleanups.push(() => api.stop());
    expect((await get(api, token)).status).toBe(200);
    remote.settings.tokenEndpointAuthMethods = ["client_secret_post"];
    const posting = await startTestApi({ issuer, clientId, clientSecret });
    cleanups.push(() => posting.stop());
    expect((await get(posting, token)).status).toBe(200);
    const anonymous = await startTestApi({ issuer });
    cleanups.push(() => anonymous.stop());
    expect(await get(anonymous, token)).toMatchObject({
      status: 500,
      body: expect.stringContaining("`clientId` and `clientSecret`"),
    });
    await expect(startTestApi({ issuer, clientId }, { introspection: true })).rejects.toThrow(
      "`introspection` needs the provider's `clientId` and `clientSecret`",
    );
  });

  it("of a client with a key is looked up at the test provider", async () => {
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    provider = await another({
      accessTokens: "opaque",
      clientJwks: [{ ...(await exportJWK(publicKey)), kid: "k" }],
    });
    const key = { ...(await exportJWK(privateKey)), kid: "k" };
    const token = await tokenOf(provider, undefined, { privateKey: key as Jwk });
    const api = await open({ introspection: true });
    expect((await get(api, token)).status).toBe(200);
    provider.revokeAll();
    expect((await get(api, token)).status).toBe(401);
  });

  it.each(["jwt", "opaque"] as const)(
    "of a provider with tenants has the issuer and the audience of the user's tenant: %s",
    async (accessTokens) => {
      const [own, other] = [
        "6e6f7f1c-7a7a-4d55-9d6a-1f0a52b2a001",
        "6e6f7f1c-7a7a-4d55-9d6a-1f0a52b2a002",
      ];
      provider = await another({ tenant: own, accessTokens });
      const api = await open();
      const allowed = { allowedTenants: [own, other] };
      expect((await get(api, await tokenOf(provider, undefined, allowed))).status).toBe(200);
      const person = { sub: "grace", tid: other };
      expect((await get(api, await tokenOf(provider, person, allowed))).status).toBe(200);
      const issuer = `${new URL(provider.issuer).origin}/${other}/v2.0`;
      expect(api.requests[1]?.claims).toMatchObject({ iss: issuer, aud: issuer });
    },
  );

  it("that is no JWT is looked up at the provider", async () => {
    provider.settings.accessTokens = "opaque";
    const token = await tokenOf(provider, { sub: "ada" });
    const api = await open();
    expect((await get(api, token)).status).toBe(200);
    expect(api.requests[0]?.claims).toMatchObject({ sub: "ada", active: true });
    expect((await get(await open({ audience: "another" }), token)).status).toBe(401);
  });

  it("can't be checked while the provider is away, which is a failure of the API", async () => {
    clock.setNow(Date.now());
    const token = await tokenOf();
    const api = await startTestApi({ issuer: provider.issuer });
    cleanups.push(() => api.stop());
    await provider.pause();
    expect((await get(api, token)).status).toBe(500);
    const socket = new WebSocket(new URL("socket", api.url), {
      headers: { authorization: `Bearer ${token}` },
    });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toBe("Unexpected server response: 500");
    await provider.resume();
    expect((await get(api, token)).status).toBe(200);
    expect(api.requests).toMatchObject([
      { status: 500, claims: undefined },
      { path: "/socket", status: 500, claims: undefined },
      { status: 200, claims: { client_id: "test-client" } },
    ]);
  });

  it("of a provider that is known by its issuer is checked by its published keys", async () => {
    const { issuer } = provider;
    // Its clock is the system's.
    clock.setNow(Date.now());
    const token = await tokenOf();
    const api = await startTestApi({ issuer });
    cleanups.push(() => api.stop());
    expect((await get(api, token)).status).toBe(200);
    expect((await get(api, await tokenOf(await another()))).status).toBe(401);
  });
});

it("a token without the API's scopes gets 403, and the challenge names them", async () => {
  const token = await tokenOf();
  expect((await get(await open({ scope: "openid email" }), token)).status).toBe(200);
  expect(await get(await open({ scope: "openid orders" }), token)).toMatchObject({
    status: 403,
    challenge: 'Bearer error="insufficient_scope", scope="openid orders"',
  });
});

it("refuseNext refuses one token that is valid", async () => {
  const api = await open();
  const token = await tokenOf();
  api.refuseNext();
  expect((await get(api)).challenge).toBe("Bearer");
  expect((await get(api, token)).challenge).toContain('error="invalid_token"');
  expect((await get(api, token)).status).toBe(200);
});

describe("a step-up", () => {
  it("is demanded if the sign-in is too old, until it isn't required any more", async () => {
    const api = await open();
    const token = await tokenOf();
    api.requireStepUp({ maxAge: 300 });
    clock.advance(300_000);
    expect((await get(api, token)).status).toBe(200);
    clock.advance(1_000);
    expect(await get(api, token)).toMatchObject({
      status: 401,
      challenge: 'Bearer error="insufficient_user_authentication", max_age="300"',
    });
    api.requireStepUp();
    expect((await get(api, token)).status).toBe(200);
  });

  it("is demanded if the sign-in has another acr", async () => {
    const api = await open();
    api.requireStepUp({ acr: "mfa" });
    expect(await get(api, await tokenOf())).toMatchObject({
      status: 401,
      challenge: 'Bearer error="insufficient_user_authentication", acr_values="mfa"',
    });
    expect((await get(api, await tokenOf(provider, { sub: "ada", acr: "mfa" }))).status).toBe(200);
  });
});

describe("the response", () => {
  it("is what the test's function returns", async () => {
    const api = await open({ respond: ({ claims }) => ({ orders: 3, of: claims?.["sub"] }) });
    const { body } = await get(api, await tokenOf(provider, { sub: "ada" }));
    expect(JSON.parse(body)).toEqual({ orders: 3, of: "ada" });
  });

  it("is 500 if that function throws", async () => {
    const api = await open({
      respond: () => {
        throw new Error("no orders");
      },
    });
    const { status, body } = await get(api, await tokenOf());
    expect([status, body]).toEqual([500, "The test's API failed: Error: no orders"]);
    expect(api.requests).toMatchObject([{ status: 500, claims: { client_id: "test-client" } }]);
  });
});

describe("a stream", () => {
  it("sends what the test sends, and numbers its events from Last-Event-ID", async () => {
    const api = await open();
    const token = await tokenOf();
    const connect = (lastEventId: string) =>
      fetch(new URL("stream", api.url), {
        headers: { authorization: `Bearer ${token}`, "last-event-id": lastEventId },
      });
    const stream = await connect("");
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    api.send("one");
    expect((await reader.read()).value).toBe("id: 1\ndata: one\n\n");
    api.send("two\nlines");
    expect((await reader.read()).value).toBe("id: 2\ndata: two\ndata: lines\n\n");
    api.send({ id: 7 });
    expect((await reader.read()).value).toBe('id: 3\ndata: {"id":7}\n\n');
    await reader.cancel();
    const again = (await connect("3")).body!.pipeThrough(new TextDecoderStream()).getReader();
    api.send("three");
    expect((await again.read()).value).toBe("id: 4\ndata: three\n\n");
    await again.cancel();
  });

  it("needs a token", async () => {
    expect((await get(await open(), undefined, "stream")).status).toBe(401);
  });
});

describe("a WebSocket", () => {
  async function connected(api: TestApi): Promise<WebSocket> {
    const socket = new WebSocket(new URL("socket", api.url), {
      headers: { authorization: `Bearer ${await tokenOf()}` },
    });
    await once(socket, "open");
    return socket;
  }
  const received = async (socket: WebSocket) => {
    const [data, isBinary] = (await once(socket, "message")) as [Buffer, boolean];
    return { data, isBinary };
  };

  it("returns messages of every length, text and bytes, in fragments too", async () => {
    const api = await open();
    const socket = await connected(api);
    for (const length of [0, 125, 126, 65_535, 65_536, 300_000]) {
      const data = Buffer.alloc(length, "x");
      const echo = received(socket);
      socket.send(data);
      const { data: echoed, isBinary } = await echo;
      expect([echoed.equals(data), isBinary]).toEqual([true, true]);
    }
    const echo = received(socket);
    socket.send("hel", { fin: false });
    socket.send("lo", { fin: true });
    expect(await echo).toEqual({ data: Buffer.from("hello"), isBinary: false });
    socket.close();
    await once(socket, "close");
    expect(api.requests).toMatchObject([{ path: "/socket", status: 101 }]);
  });

  it("gets what the test sends, answers pings, and repeats the reason of a close", async () => {
    const api = await open();
    const socket = await connected(api);
    const pushed = received(socket);
    api.send("news");
    expect((await pushed).data.toString()).toBe("news");
    const pong = once(socket, "pong");
    socket.ping("are you there");
    expect(String((await pong)[0])).toBe("are you there");
    socket.close(4000, "enough");
    expect((await once(socket, "close"))[0]).toBe(4000);
  });

  it("needs a token", async () => {
    const api = await open();
    const socket = new WebSocket(new URL("socket", api.url));
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toBe("Unexpected server response: 401");
    expect(api.requests).toMatchObject([{ path: "/socket", status: 401 }]);
  });

  it("whose connection is reset while its token is checked ends alone", async () => {
    clock.setNow(Date.now());
    const token = await tokenOf();
    const api = await startTestApi({ issuer: provider.issuer });
    cleanups.push(() => api.stop());
    const check = provider.hold("discovery");
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    socket.write(
      `GET /socket HTTP/1.1\r\nHost: api\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    await check.arrived;
    socket.resetAndDestroy();
    // The API reads the reset before this request, which comes later.
    expect((await get(api)).status).toBe(401);
    check.release();
    expect((await get(api, token)).status).toBe(200);
  });

  it("closes when the API stops", async () => {
    await using api = await open();
    const socket = await connected(api);
    const closed = once(socket, "close");
    await api.stop();
    expect((await closed)[0]).toBe(1006);
  });
});
