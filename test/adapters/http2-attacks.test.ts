import { once } from "node:events";
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";
import { optionsFor } from "../support/options-for.js";

const BASE_URL = "https://app.example";
const HOUR = 3_600_000;

interface Serving {
  readonly port: number;
  close(): Promise<unknown>;
}

/**
 * An application with a guarded route, and a route behind `auth.csrf`, on a server that speaks
 * HTTP/2.
 */
type Serve = (options: IdpAuthOptions) => Promise<Serving>;

const SERVERS: Readonly<Record<string, Serve>> = {
  async "node:http2"(options) {
    const auth = nodeAuth(options);
    const reports = auth.idpRequired(
      (_request: Http2ServerRequest, response: Http2ServerResponse) => response.end("secret"),
    );
    const items = auth.csrf((_request: Http2ServerRequest, response: Http2ServerResponse) =>
      response.end("changed"),
    );
    const server: Http2Server = createServer(
      auth.listener((request: Http2ServerRequest, response: Http2ServerResponse) =>
        request.url === "/items" ? items(request, response) : reports(request, response),
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { port: (server.address() as AddressInfo).port, close: async () => void server.close() };
  },
  async Fastify(options) {
    const auth = fastifyAuth(options);
    const server = fastify({ http2: true });
    await server.register(auth.plugin);
    server.addHook("onRequest", auth.csrf);
    server.get("/reports", { preHandler: auth.idpRequired }, async () => "secret");
    server.post("/items", async () => "changed");
    await server.listen({ port: 0, host: "127.0.0.1" });
    return { port: (server.server.address() as AddressInfo).port, close: () => server.close() };
  },
};

/** Node.js 24 closes the stream of a malformed authority by itself. */
function refusal(error: Error): "refused by Node.js" {
  expect(error.message).toBe("Stream closed with error code NGHTTP2_PROTOCOL_ERROR");
  return "refused by Node.js";
}

describe.each(Object.entries(SERVERS))("[ATT-6] over HTTP/2 (%s)", (_name, serve) => {
  const running: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of running.splice(0).reverse()) await stop();
  });

  interface Started {
    readonly provider: TestProvider;
    readonly clock: TestClock;
    readonly store: WatchedStore;
    readonly client: ClientHttp2Session;
    ask(
      headers: OutgoingHttpHeaders,
    ): Promise<{ status: number; location: string; cookies: string; body: string }>;
    /** @returns the user's Cookie header */
    signIn(): Promise<string>;
  }

  async function start(options: IdpAuthOptions = {}): Promise<Started> {
    const clock = new TestClock();
    const provider = await startTestProvider({ clock });
    running.push(() => provider.stop());
    const store = watchedStore(clock);
    const server = await serve({
      ...optionsFor(provider),
      log: false,
      clock,
      store,
      ...options,
    });
    running.push(() => server.close());
    const client = connect(`http://127.0.0.1:${String(server.port)}`);
    running.push(() => client.destroy());
    const ask: Started["ask"] = async (headers) => {
      const stream = client.request(headers);
      const [head] = (await once(stream, "response")) as [
        Record<string, string | readonly string[] | undefined>,
      ];
      let body = "";
      for await (const chunk of stream) body += String(chunk);
      const cookies = [head["set-cookie"] ?? []].flat().join("\n");
      return {
        status: Number(head[":status"]),
        location: String(head["location"] ?? ""),
        cookies,
        body,
      };
    };
    return {
      provider,
      clock,
      store,
      client,
      ask,
      async signIn() {
        const cookieOf = ({ cookies }: { cookies: string }) => cookies.split(";", 1)[0] ?? "";
        const login = await ask({ ":path": "/idpauth/login/", ":authority": "app.example" });
        const callback = new URL(await provider.signInCode(login.location));
        const path = `${callback.pathname}${callback.search}`;
        return cookieOf(
          await ask({ ":path": path, ":authority": "app.example", cookie: cookieOf(login) }),
        );
      },
    };
  }

  it("a client that forges :scheme, :authority, Host and forwarded headers moves no login to another origin, and passes no auth.csrf", async () => {
    const { ask, provider } = await start({ baseUrl: BASE_URL });
    const forged: readonly OutgoingHttpHeaders[] = [
      { ":authority": "evil.example" },
      { ":authority": "app.example@evil.example" },
      { ":authority": "app.example", host: "evil.example" },
      { ":authority": "evil.example", host: "app.example" },
      {
        ":authority": "app.example",
        ":scheme": "http",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
      },
      {
        ":authority": "app.example",
        forwarded: "host=evil.example;proto=http",
        "x-original-url": "//evil.example",
      },
    ];
    let reached = 0;
    const places = [BASE_URL, new URL(provider.issuer).origin];
    for (const headers of forged) {
      const response = await ask({ ":path": "/idpauth/login/", ...headers }).catch(refusal);
      if (response === "refused by Node.js" || response.status === 400) continue;
      reached += 1;
      const { location } = response;
      const url = new URL(location);
      expect(places, JSON.stringify(headers)).toContain(url.origin);
      expect(url.searchParams.get("redirect_uri") ?? `${BASE_URL}/idpauth/login-callback`).toBe(
        `${BASE_URL}/idpauth/login-callback`,
      );
      const post = { ":path": "/items", ":method": "POST", ...headers };
      for (const origin of ["https://evil.example", "http://app.example", "null"]) {
        expect((await ask({ ...post, origin })).status, origin).toBe(403);
      }
    }
    expect(reached).toBeGreaterThan(3);
    // Without BASE_URL the connection decides: :scheme is the client's word.
    const open = await start();
    const login = await open.ask({
      ":path": "/idpauth/login/",
      ":authority": "app.example",
      ":scheme": "https",
    });
    expect(new URL(login.location).searchParams.get("redirect_uri")).toBe(
      "http://app.example/idpauth/login-callback",
    );
    expect(login.cookies).toMatch(/^idpauth=/);
    expect(login.cookies).not.toContain("Secure");
  });

  it("a client that splits its cookies over a hundred fields gets four look-ups, and only the session of a value that it has", async () => {
    const { ask, signIn, store } = await start();
    const own = await signIn();
    const planted = Array.from(
      { length: 100 },
      (_, number) => `idpauth=${String(number).padStart(43, "A")}`,
    );
    const probe = async (cookie: readonly string[]) => {
      store.operations.length = 0;
      const { status, body, cookies } = await ask({
        ":path": "/idpauth/session",
        ":authority": "app.example",
        cookie: [...cookie],
      });
      expect([status, cookies, store.writes]).toEqual([200, "", []]);
      return {
        isSignedIn: (JSON.parse(body) as { authenticated: boolean }).authenticated,
        reads: store.operations.length,
      };
    };
    expect(await probe(planted)).toEqual({ isSignedIn: false, reads: 4 });
    expect(await probe([...planted, own])).toEqual({ isSignedIn: false, reads: 4 });
    expect(await probe([...planted.slice(0, 3), own, ...planted])).toEqual({
      isSignedIn: true,
      reads: 4,
    });
    // A value in pieces is not put together.
    expect(await probe([own.slice(0, 20), own.slice(20)])).toEqual({ isSignedIn: false, reads: 0 });
  });

  it("a client that opens and resets hundreds of streams causes one refresh and one exchange, and the next request works", async () => {
    const { ask, signIn, client, provider, clock } = await start();
    const cookie = await signIn();
    const login = await ask({ ":path": "/idpauth/login/", ":authority": "app.example" });
    const pending = login.cookies.split(";", 1)[0] ?? "";
    const callback = new URL(await provider.signInCode(login.location));
    clock.advance(HOUR);
    const flood = async (headers: OutgoingHttpHeaders) => {
      const streams = Array.from({ length: 300 }, () =>
        client.request({ ":authority": "app.example", ...headers }),
      );
      await Promise.all(
        streams.map(async (stream, number) => {
          const closed = new Promise((resolve) =>
            stream.on("error", () => undefined).once("close", resolve),
          );
          // Some at once, some after their turn on the server has begun.
          for (let turn = 0; turn < number % 30; turn += 1)
            await new Promise((resolve) => setImmediate(resolve));
          stream.resume().close(constants.NGHTTP2_CANCEL);
          await closed;
        }),
      );
    };
    const codes = () =>
      provider.requestsTo("token", { code: callback.searchParams.get("code") ?? "" });
    await flood({ ":path": "/reports", cookie });
    await flood({ ":path": `${callback.pathname}${callback.search}`, cookie: pending });
    const reports = await ask({ ":path": "/reports", ":authority": "app.example", cookie });
    expect([reports.status, reports.body]).toEqual([200, "secret"]);
    expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
    expect(codes().length).toBeLessThanOrEqual(1);
    expect(provider.reuses).toBe(0);
  });
});
