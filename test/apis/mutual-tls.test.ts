// The client's certificate, from the login to the API: where it is shown, and where it isn't. The
// kit's provider and API check it (RFC 8705).
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions, LogEntry } from "../../src/index.js";
import {
  settled,
  signIn,
  startTestApi,
  startTestProvider,
  TestClock,
  testCertificate,
  type TestApi,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/index.js";
import { presentedCertificate } from "../../src/testing/certificates/presented-certificate.js";
import { KitServer } from "../../src/testing/provider/provider-servers.js";

const HOUR_MS = 3_600_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stop of stops.splice(0).reverse()) await stop();
});

const certificate = testCertificate();
const NAMED = { tlsClientAuth: { names: { subjectDn: "CN=test-client" } } } as const;
const CERTIFIED = {
  IDP_CLIENT_CERTIFICATE: certificate.cert,
  IDP_CLIENT_CERTIFICATE_KEY: certificate.key,
};

interface Setting {
  readonly provider?: TestProviderOptions;
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: Partial<IdpAuthOptions>;
  /** Returns the option `apis`. */
  readonly apis?: (api: TestApi) => IdpAuthOptions["apis"];
}

interface Running {
  readonly auth: ExpressIdpAuth;
  readonly provider: TestProvider;
  readonly api: TestApi;
  readonly clock: TestClock;
  readonly log: LogEntry[];
  readonly app: express.Express;
}

async function running({ env, options, apis, ...setting }: Setting = {}): Promise<Running> {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock, tls: true, ...NAMED, ...setting.provider });
  stops.push(() => provider.stop());
  const api = await startTestApi(provider, { tls: true });
  stops.push(() => api.stop());
  const log: LogEntry[] = [];
  const app = express();
  const auth = idpAuth({
    env: { ...provider.env, ...CERTIFIED, ...env },
    clock,
    log: (entry) => log.push(entry),
    apis: apis?.(api) ?? {},
    ...options,
  });
  stops.push(() => auth.close());
  auth.mount(app);
  app.get("/fetched/:api", async (request, response) => {
    const sent = await auth.fetchApi(request, request.params.api, "items");
    response.status(sent.status).send(await sent.text());
  });
  for (const name of Object.keys(apis?.(api) ?? {})) app.use(auth.proxyApi(name));
  return { auth, provider, api, clock, log, app };
}

/** The endpoints to which a request came, with the certificate that it showed. */
function shownTo({ requests }: TestProvider): Record<string, (string | undefined)[]> {
  const shown: Record<string, (string | undefined)[]> = {};
  for (const { endpoint, certificate: one } of requests)
    shown[endpoint] = [...new Set([...(shown[endpoint] ?? []), one?.thumbprint])];
  return shown;
}

describe("the client's certificate at the provider", () => {
  it.each<[string, TestProviderOptions]>([
    ["with aliases", { mtlsAliases: true }],
    ["without aliases, where the server asks for it on every connection", {}],
  ])(
    "is shown to the token, userinfo, revocation and PAR endpoints alone: %s",
    async (_where, options) => {
      const { provider, clock, app, auth } = await running({
        provider: {
          certificateBoundTokens: "required",
          pushedRequests: true,
          ...options,
        },
        env: { IDP_PUSHED_REQUESTS: "always", IDP_USERINFO: "always" },
      });
      app.get("/token", async (request, response) => {
        response.send(await auth.getAccessToken(request));
      });
      const user = await signIn(app);
      clock.advance(HOUR_MS);
      const { status } = await user.get("/token");
      expect(status).toBe(200);
      expect((await user.navigate("/idpauth/logout/")).status).toBe(302);
      await settled(auth);
      expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
      const own = [certificate.thumbprint];
      expect(shownTo(provider)).toEqual({
        discovery: [undefined],
        jwks: [undefined],
        authorize: [undefined],
        par: own,
        token: own,
        userinfo: own,
        revoke: own,
      });
      expect(provider.violations).toEqual([]);
      // The certificate authenticates: there is no secret, and nothing in its place.
      for (const { params, headers } of provider.requestsTo("token")) {
        expect(params.get("client_id")).toBe(provider.clientId);
        expect(params.has("client_secret") || params.has("client_assertion")).toBe(false);
        expect(headers.authorization).toBeUndefined();
      }
    },
  );

  it("binds tokens of a client that authenticates otherwise", async () => {
    const { provider, app } = await running({
      provider: { tlsClientAuth: undefined, mtlsAliases: true, certificateBoundTokens: "required" },
    });
    await signIn(app);
    expect(shownTo(provider)).toMatchObject({ token: [certificate.thumbprint] });
    expect(provider.requestsTo("token")[0]?.params.get("client_secret")).toBe(
      provider.clientSecret,
    );
  });

  it("that the provider doesn't know is refused, and the log names the setting", async () => {
    const { app, log, provider } = await running({
      provider: { tlsClientAuth: { names: { subjectDn: "CN=somebody-else" } } },
    });
    await expect(signIn(app)).rejects.toThrow();
    expect(provider.violations.splice(0).join()).toContain("invalid_client");
    const lines = log.map(({ message }) => message).join("\n");
    expect(lines).toMatch(
      /authenticated with `tls_client_auth` \(the certificate of its connection/,
    );
    expect(lines).toMatch(/whether the provider knows the certificate in IDP_CLIENT_CERTIFICATE\./);
  });

  it("is nowhere in the log, even where requests fail", async () => {
    const { app, log, provider } = await running();
    provider.fault("token", { kind: "status", status: 500 });
    await expect(signIn(app)).rejects.toThrow();
    const [, line = ""] = certificate.key.split("\n");
    expect(JSON.stringify(log)).not.toContain(line);
    expect(JSON.stringify(log)).not.toContain("BEGIN");
  });
});

describe("an API with `certificate: true`", () => {
  const BOUND = {
    provider: { certificateBoundTokens: "required" },
    apis: (api: TestApi) => ({
      orders: { url: api.url, path: "/api/orders/", certificate: true },
      plain: { url: api.url, path: "/api/plain/" },
    }),
  } as const satisfies Setting;

  it("accepts bound tokens, and the same API without it doesn't", async () => {
    const { app, api } = await running(BOUND);
    const user = await signIn(app);
    for (const path of ["/api/orders/items", "/fetched/orders"]) {
      const { status } = await user.get(path);
      expect([path, status]).toEqual([path, 200]);
    }
    const posted = await user.post("/api/orders/items", { body: { ordered: true } });
    expect(posted.status).toBe(200);
    expect(new Set(api.requests.map((one) => one.certificate?.thumbprint))).toEqual(
      new Set([certificate.thumbprint]),
    );
    expect((await user.get("/fetched/plain")).status).toBe(401);
    expect((await user.get("/api/plain/items")).status).not.toBe(200);
    expect(api.requests.slice(3).map((one) => one.certificate)).not.toContainEqual(
      expect.anything(),
    );
    expect(api.requests.length).toBeGreaterThan(4);
  });

  it("never gets a request through the runtime's fetch", async () => {
    const { app, auth, api } = await running(BOUND);
    app.get("/dispatched", async (request, response) => {
      const init: object = { dispatcher: { dispatch: () => true } };
      const failed = await auth.fetchApi(request, "orders", "items", init).catch(String);
      response.send(String(failed));
    });
    const user = await signIn(app);
    const global = vi.spyOn(globalThis, "fetch");
    expect((await user.get("/fetched/orders")).status).toBe(200);
    expect((await user.get("/dispatched")).text).toContain("wouldn't show the API's certificate");
    const sent = global.mock.calls.map(([input]) => String(input));
    expect(sent.filter((url) => url.startsWith(api.url))).toEqual([]);
  });
});

/** A request to a server that notes the certificate and the connection of each. */
interface Noted {
  readonly url: string;
  readonly certificate: string | undefined;
  /** A number for each connection. */
  readonly connection: number;
}

/** Starts a server that asks each client for a certificate. */
async function notingServer(
  answer?: (url: string) => Readonly<Record<string, string>> | undefined,
) {
  const requests: Noted[] = [];
  const sockets: unknown[] = [];
  const note = (message: IncomingMessage) => {
    if (!sockets.includes(message.socket)) sockets.push(message.socket);
    requests.push({
      url: String(message.url),
      certificate: presentedCertificate(message)?.thumbprint,
      connection: sockets.indexOf(message.socket),
    });
  };
  const kit = new KitServer(
    (request, response) => {
      note(request);
      const headers = answer?.(String(request.url));
      response.writeHead(headers === undefined ? 200 : 302, headers);
      response.end("{}");
    },
    { requestsCertificates: true },
  );
  await kit.listen();
  stops.push(() => kit.close());
  const websockets = new WebSocketServer({ noServer: true });
  kit.server.on("upgrade", (request, socket, head) => {
    note(request);
    websockets.handleUpgrade(request, socket, head, (one) => one.send("hello"));
  });
  const open = () =>
    new Promise<number>((resolve, reject) => {
      kit.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  return { url: `${kit.origin}/`, requests, open };
}

describe("[HA-8] connections with a certificate", () => {
  it("serve one API alone, although another one is at the same origin", async () => {
    const server = await notingServer();
    const { app, auth } = await running({
      apis: () => ({
        marked: { url: `${server.url}marked/`, path: "/api/marked/", certificate: true },
        second: { url: `${server.url}second/`, path: "/api/second/", certificate: true },
        plain: { url: `${server.url}plain/`, path: "/api/plain/" },
      }),
    });
    const user = await signIn(app);
    for (let round = 0; round < 3; round++)
      for (const name of ["marked", "plain", "second"]) {
        expect((await user.get(`/api/${name}/items`)).status).toBe(200);
        expect((await user.get(`/fetched/${name}`)).status).toBe(200);
      }
    const front = createServer(app);
    front.on("upgrade", auth.proxyUpgrade);
    front.listen(0, "127.0.0.1");
    await once(front, "listening");
    stops.push(() => front.close());
    const { port } = front.address() as AddressInfo;
    for (const name of ["marked", "plain"]) {
      const socket = new WebSocket(`ws://127.0.0.1:${String(port)}/api/${name}/socket`, {
        headers: { cookie: user.cookie, origin: `http://127.0.0.1:${String(port)}` },
      });
      const [message] = (await once(socket, "message")) as [Buffer];
      expect(message.toString()).toBe("hello");
      socket.terminate();
    }
    const of = (name: string) => server.requests.filter(({ url }) => url.startsWith(`/${name}/`));
    const connections = (name: string) => new Set(of(name).map(({ connection }) => connection));
    const shared = (one: string, other: string) =>
      [...connections(one)].filter((connection) => connections(other).has(connection));
    for (const [name, expected, count] of [
      ["marked", certificate.thumbprint, 7],
      ["second", certificate.thumbprint, 6],
      ["plain", undefined, 7],
    ] as const) {
      expect(of(name)).toHaveLength(count);
      expect(new Set(of(name).map((one) => one.certificate))).toEqual(new Set([expected]));
    }
    expect(shared("marked", "plain")).toEqual([]);
    expect(shared("marked", "second")).toEqual([]);
    expect(shared("second", "plain")).toEqual([]);
    // They are used again, or nothing could be shared.
    expect(connections("second").size).toBeLessThan(6);
  });

  it("follow no redirect to another origin", async () => {
    const other = await notingServer();
    const server = await notingServer(() => ({ location: `${other.url}stolen` }));
    const { app } = await running({
      apis: () => ({
        orders: {
          url: server.url,
          path: "/api/orders/",
          certificate: true,
          redirects: [new URL(other.url).origin],
        },
      }),
    });
    const user = await signIn(app);
    expect((await user.get("/fetched/orders")).status).toBe(302);
    expect(
      (await user.get("/api/orders/items", { redirect: "manual" } as object)).status,
    ).toBeGreaterThanOrEqual(300);
    expect(server.requests.map((one) => one.certificate)).toEqual([
      certificate.thumbprint,
      certificate.thumbprint,
    ]);
    expect(other.requests.filter((one) => one.certificate !== undefined)).toEqual([]);
  });

  it("are closed by a shutdown", async () => {
    const server = await notingServer();
    const { app, auth, provider } = await running({
      apis: () => ({ orders: { url: server.url, path: "/api/orders/", certificate: true } }),
    });
    const user = await signIn(app);
    expect((await user.get("/api/orders/items")).status).toBe(200);
    expect(await server.open()).toBe(1);
    await user.close();
    await auth.close();
    // Sooner than idle connections close by themselves.
    await expect.poll(server.open, { timeout: 3_000 }).toBe(0);
    expect(provider.violations).toEqual([]);
  });
});
