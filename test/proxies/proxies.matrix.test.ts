import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { CookieBrowser, type FollowedResponse } from "../../src/testing/browser/cookie-browser.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { startUpstream, type ApplicationOptions, type Upstream } from "./application.js";
import {
  openClient,
  openHttp2,
  openSocket,
  PROTOCOLS,
  type Client,
  type Protocol,
} from "./clients.js";
import {
  blocksOf,
  BROWSER_ADDRESS,
  configurationsOf,
  HOSTNAME,
  ORIGIN,
  PROGRAMS,
  startProxy,
  type ProxyName,
  type RunningProxy,
} from "./programs.js";

// The configurations of docs/deploy/proxies.md: one list of requirements for four proxies.

/** What the page says of one proxy alone. */
interface Differences {
  /** Whether a response that comes during an upload waits for the end of the upload. */
  readonly lateResponse?: true;
  /** Where a response without a length that breaks off looks complete. */
  readonly looksComplete?: readonly Protocol[];
  /** Whether WebSockets also work over HTTP/2. */
  readonly socketsOverHttp2?: true;
  /** Whether the path is decoded and encoded again if the prefix is stripped. */
  readonly recodesPath?: true;
  /** Of a redirect to https. Default 301. */
  readonly redirect?: number;
}

const DIFFERENCES: Readonly<Record<ProxyName, Differences>> = {
  nginx: { recodesPath: true },
  caddy: { looksComplete: ["HTTP/1.1", "HTTP/2"], redirect: 308 },
  apache: { lateResponse: true },
  haproxy: { looksComplete: ["HTTP/2"], socketsOverHttp2: true },
};

const MEGABYTE = 1024 * 1024;
const UPLOAD = randomBytes(32 * MEGABYTE);
const HASH = createHash("sha256").update(UPLOAD).digest("hex");
const CALLBACK = `${ORIGIN}/idpauth/login-callback`;
const FORGED = {
  "x-forwarded-host": "evil.example",
  "x-forwarded-proto": "http",
  "x-forwarded-for": "203.0.113.9",
  forwarded: "for=203.0.113.9;host=evil.example;proto=http",
  "x-real-ip": "203.0.113.9",
};

const NAMES = Object.keys(DIFFERENCES) as ProxyName[];

const messageOf = async (socket: WebSocket): Promise<string> => {
  const [data] = (await once(socket, "message")) as [Buffer];
  return data.toString();
};

/** The documentation's complete configurations of a program that speak https. */
function completeBlocks(name: ProxyName, https: RegExp): (readonly [page: string, text: string])[] {
  const docs = path.resolve(import.meta.dirname, "../../docs");
  return readdirSync(docs, { recursive: true, encoding: "utf8" })
    .filter((page) => page.endsWith(".md"))
    .flatMap((page) => blocksOf(page, name).map((text) => [page, text] as const))
    .filter(([, text]) => https.test(text));
}

it.each(completeBlocks("haproxy", /^ *bind :443 /m))(
  "HAProxy's configuration in %s doesn't reuse connections, limits the time for headers, and overwrites the forwarded ones",
  (_page, text) => {
    for (const line of [
      "default-server pool-max-conn 0",
      "timeout http-request 10s",
      "http-request set-header X-Forwarded-For %[src]",
      "http-request set-header X-Forwarded-Host %[req.hdr(Host)]",
      "http-request set-header X-Forwarded-Proto https",
    ])
      expect(text).toContain(`  ${line}\n`);
  },
);

it.each(completeBlocks("nginx", /^ *listen 443 /m))(
  "nginx's configuration in %s accepts TLS 1.2 and 1.3 only, and overwrites the forwarded headers wherever it sets Host",
  (_page, text) => {
    expect(text).toContain("  ssl_protocols TLSv1.2 TLSv1.3;\n");
    const count = (line: string): number => text.split(`  ${line}\n`).length - 1;
    const hosts = count("proxy_set_header Host $http_host;");
    expect(hosts).toBeGreaterThan(0);
    expect(count("proxy_set_header X-Forwarded-For $remote_addr;")).toBe(hosts);
    expect(count("proxy_set_header X-Forwarded-Host $http_host;")).toBe(hosts);
    expect(count("proxy_set_header X-Forwarded-Proto $scheme;")).toBe(hosts);
  },
);

describe.each(NAMES)("%s", (name) => {
  const differences = DIFFERENCES[name];
  let upstream: Upstream;
  let proxy: RunningProxy;
  const clients: Client[] = [];
  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => {
    for (const each of clients.splice(0)) each.close();
  });
  afterAll(() => upstream.stop());

  /** A configuration in front of an application. */
  function running(
    configuration: "complete" | "strips" | "keeps",
    options: ApplicationOptions,
  ): void {
    beforeAll(async () => {
      upstream.use({ baseUrl: ORIGIN, ...options });
      proxy = await startProxy(name, {
        configuration: configurationsOf(name)[configuration],
        upstreams: { "localhost:3000": upstream.port },
      });
    });
    afterAll(() => proxy.stop());
  }

  async function signedIn(
    page = "/reports",
  ): Promise<{ user: CookieBrowser; landed: FollowedResponse }> {
    const user = new CookieBrowser(proxy.browser);
    const landed = await user.follow(page);
    expect(landed.text).toBe("reports of ada");
    return { user, landed };
  }

  async function clientOf(protocol: Protocol, user: CookieBrowser): Promise<Client> {
    const client = await openClient(protocol, proxy, user);
    clients.push(client);
    return client;
  }

  async function get(
    client: Client,
    target: string,
    method = "GET",
  ): Promise<{ status: number; body: string }> {
    const request = client.open(method, target);
    request.end();
    const response = await request.response;
    return { status: response.status, body: await response.rest() };
  }

  /** The event stream and the WebSocket of the API, and their end at the user's sign-out. */
  async function liveUntilSignOut(protocol: Protocol, prefix: string): Promise<void> {
    const { user } = await signedIn(`${prefix}/reports`);
    const client = await clientOf(protocol, user);
    const request = client.open("GET", `${prefix}/api/orders/events`);
    request.end();
    const events = await request.response;
    expect([events.status, await events.next()]).toEqual([200, "data: first\n\n"]);
    const socket = openSocket(proxy, user, `${prefix}/api/orders/ws`);
    expect(await messageOf(socket)).toBe("hello");
    socket.send("again");
    expect(await messageOf(socket)).toBe("echo again");
    const ended = [events.rest().catch(() => "broken off"), once(socket, "close")];
    await user.get(`${prefix}/idpauth/logout/?response=json`);
    const [rest, closed] = await Promise.all(ended);
    expect(["", "broken off"]).toContain(rest);
    expect(closed?.[0]).toBe(1006);
  }

  describe.skipIf(PROGRAMS[name] === undefined)("with the page's complete configuration", () => {
    running("complete", {});

    it("redirects plain http to https", async () => {
      const origin = `http://${HOSTNAME}`;
      const user = new CookieBrowser({ origin, proxied: { [origin]: proxy.httpPort } });
      const { status, location } = await user.get("/reports?month=10");
      expect([status, location]).toEqual([
        differences.redirect ?? 301,
        `${ORIGIN}/reports?month=10`,
      ]);
    });

    it("signs in over TLS, with the cookie of https and the origin's redirect URI", async () => {
      const { user, landed } = await signedIn();
      expect(landed.headers["strict-transport-security"]).toBe("max-age=31536000");
      const sent = landed.trail.find(({ url }) => url.searchParams.has("redirect_uri"))?.url;
      expect(sent?.searchParams.get("redirect_uri")).toBe(CALLBACK);
      expect(user.cookies.value("__Host-Http-idpauth")).toHaveLength(43);
    });

    it("passes on the Host header with its port, and the path unchanged", async () => {
      const user = new CookieBrowser(proxy.browser);
      const target = "/seen/a%2Fb%20c%252F?x=%20%2F";
      const headers = { host: `${HOSTNAME}:8443` };
      expect((await user.get(target, { headers })).json()).toEqual({ target, ...headers });
    });

    it.each(PROTOCOLS)("%s carries a guarded page and a POST to the API", async (protocol) => {
      const { user } = await signedIn();
      const client = await clientOf(protocol, user);
      expect(await get(client, "/reports")).toEqual({ status: 200, body: "reports of ada" });
      const post = client.open("POST", "/api/orders/items");
      post.end(Buffer.from("two"));
      const response = await post.response;
      expect(response.status).toBe(200);
      expect(JSON.parse(await response.rest())).toMatchObject({ url: "/v2/items", bytes: 3 });
    });

    it.each(PROTOCOLS)(
      "an event stream over %s and a WebSocket deliver at once, and close when the user signs out",
      (protocol) => liveUntilSignOut(protocol, ""),
    );

    it("carries a WebSocket over HTTP/2 if it says that it can", async () => {
      const { user } = await signedIn();
      const client = await openHttp2(proxy, user);
      clients.push(client);
      const canOpen = client.session.remoteSettings.enableConnectProtocol === true;
      expect(canOpen).toBe(differences.socketsOverHttp2 === true);
      if (!canOpen) return;
      const socket = client.open("CONNECT", "/api/orders/ws", {
        ":protocol": "websocket",
        "sec-websocket-version": "13",
        origin: ORIGIN,
      });
      const response = await socket.response;
      // A frame with a text of five bytes (RFC 6455 section 5.2).
      expect([response.status, (await response.next()).slice(-5)]).toEqual([200, "hello"]);
      const rest = response.rest().catch(() => "broken off");
      await user.get("/idpauth/logout/?response=json");
      expect(["", "broken off"]).toContain(await rest);
    });

    it.each(PROTOCOLS)(
      "an upload of 32 MB over %s reaches the API as it arrives, and whole",
      async (protocol) => {
        const { user } = await signedIn();
        const client = await clientOf(protocol, user);
        for (const headers of [{ "content-length": UPLOAD.length }, {}]) {
          const begins = upstream.uploadBegins();
          const request = client.open("POST", "/api/orders/files", headers);
          void request.send(UPLOAD.subarray(0, MEGABYTE));
          await begins;
          request.end(UPLOAD.subarray(MEGABYTE));
          const response = await request.response;
          expect(response.status).toBe(200);
          expect(JSON.parse(await response.rest())).toMatchObject({
            bytes: UPLOAD.length,
            hash: HASH,
          });
        }
      },
    );

    it.each(PROTOCOLS)(
      "a 413 during an upload over %s reaches the browser, and the next request works",
      async (protocol) => {
        const { user } = await signedIn();
        const client = await clientOf(protocol, user);
        const headers = { "content-length": UPLOAD.length };
        const request = client.open("POST", "/api/orders/small", headers);
        const seen = { response: false };
        const response = request.response.then((arrived) => {
          seen.response = true;
          return arrived;
        });
        let sent = 0;
        while (!seen.response && sent < UPLOAD.length) {
          const piece = UPLOAD.subarray(sent, (sent += MEGABYTE / 4));
          // A proxy may accept no more after it has responded. After the first MB, each piece waits
          // for another request, so that the response has time to arrive. Caddy needs the pieces.
          const taken = request.send(piece);
          const isPaced = sent > MEGABYTE && differences.lateResponse !== true;
          await Promise.race([isPaced ? taken.then(() => user.get("/seen")) : taken, response]);
        }
        expect(sent === UPLOAD.length).toBe(differences.lateResponse === true);
        const { status, rest } = await response;
        expect([status, await rest()], proxy.log()).toEqual([413, "too large"]);
        request.finish(UPLOAD.subarray(sent));
        expect(await get(client, "/reports")).toEqual({ status: 200, body: "reports of ada" });
      },
    );

    it.each(PROTOCOLS)(
      "over %s, a response without a length that breaks off looks complete only where the page says so",
      async (protocol) => {
        const { user } = await signedIn();
        const client = await clientOf(protocol, user);
        const request = client.open("GET", "/api/orders/broken");
        request.end();
        const end = await request.response.then(({ rest }) => rest()).catch(() => "broken off");
        const looksComplete = differences.looksComplete?.includes(protocol) === true;
        expect(end).toBe(looksComplete ? "a part" : "broken off");
      },
    );

    it.each([
      ["no trust, with BASE_URL", {}, "127.0.0.1"],
      ["Express's trust proxy", { baseUrl: undefined, trustedProxies: 1 }, BROWSER_ADDRESS],
      ["trustProxy", { baseUrl: undefined, trustProxy: true }, BROWSER_ADDRESS],
    ])(
      "[BCP-13] with %s, forged forwarded headers change neither the redirect URI nor the address that the API sees",
      async (_setting, options, address) => {
        upstream.use({ ...options, baseUrl: "baseUrl" in options ? undefined : ORIGIN });
        const user = new CookieBrowser(proxy.browser);
        const login = await user.navigate("/idpauth/login/", { headers: FORGED });
        const sent = new URL(login.location ?? "");
        expect(sent.searchParams.get("redirect_uri")).toBe(CALLBACK);
        expect((await user.follow("/reports", { headers: FORGED })).text).toBe("reports of ada");
        const { headers } = (await user.get("/api/orders/items", { headers: FORGED })).json() as {
          headers: Record<string, string>;
        };
        expect(headers).toMatchObject({
          "x-forwarded-for": address,
          "x-forwarded-host": HOSTNAME,
          "x-forwarded-proto": "https",
          forwarded: `for=${address};host="${HOSTNAME}";proto=https`,
        });
        expect(JSON.stringify(headers)).not.toMatch(/203\.0\.113\.9|evil/);
        upstream.use({ baseUrl: ORIGIN });
      },
    );
  });

  describe.skipIf(PROGRAMS[name] === undefined).each([
    ["strips", { pathPrefix: "/portal" }],
    ["keeps", { below: "/portal", mountPath: "/portal/idpauth/" }],
  ] as const)("with the page's configuration that %s the prefix", (configuration, options) => {
    running(configuration, options);

    it("signs in, and carries the API's event stream and WebSocket", async () => {
      const { landed } = await signedIn("/portal/reports");
      const sent = landed.trail.find(({ url }) => url.searchParams.has("redirect_uri"))?.url;
      expect(sent?.searchParams.get("redirect_uri")).toBe(
        `${ORIGIN}/portal/idpauth/login-callback`,
      );
      await liveUntilSignOut("HTTP/2", "/portal");
    });

    it("passes the rest of the path on, unchanged except where the page says so", async () => {
      const user = new CookieBrowser(proxy.browser);
      const { target } = (await user.get("/portal/seen/a%2Fb%20c?x=%2F")).json() as {
        target: string;
      };
      const prefix = configuration === "strips" ? "" : "/portal";
      const isRecoded = configuration === "strips" && differences.recodesPath === true;
      expect(target).toBe(`${prefix}/seen/${isRecoded ? "a/b%20c" : "a%2Fb%20c"}?x=%2F`);
    });

    it("passes on nothing outside the prefix", async () => {
      const user = new CookieBrowser(proxy.browser);
      const before = upstream.requests();
      for (const target of ["/seen", "/portalseen", "/idpauth/session"]) await user.get(target);
      expect(upstream.requests()).toBe(before);
      await user.get("/portal/seen");
      expect(upstream.requests()).toBe(before + 1);
    });
  });
});

describe.skipIf(PROGRAMS.nginx === undefined)("nginx's complete configuration", () => {
  const { complete } = configurationsOf("nginx");
  let upstream: Upstream;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    upstream = await startUpstream();
    upstream.use({ baseUrl: ORIGIN });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(() => upstream.stop());

  async function start(port = upstream.port): Promise<RunningProxy> {
    const proxy = await startProxy("nginx", {
      configuration: complete,
      upstreams: { "localhost:3000": port },
    });
    stops.push(() => proxy.stop());
    return proxy;
  }

  it("logs a sign-in without its queries, so that no code and no state is in a log", async () => {
    const proxy = await start();
    const user = new CookieBrowser(proxy.browser);
    const { text, trail } = await user.follow("/reports?month=10");
    expect(text).toBe("reports of ada");
    await eventually(async () => {
      expect(proxy.accessLog()).toContain('"GET /idpauth/login-callback HTTP/1.1" 302');
    });
    const callback = trail.find(({ url }) => url.pathname.endsWith("/login-callback"))?.url;
    const secrets = ["code", "state"].map((name) => callback?.searchParams.get(name) ?? "");
    expect(secrets.filter((secret) => secret.length < 20)).toEqual([]);
    for (const text of ["?", "month=10", ...secrets]) {
      expect(proxy.accessLog()).not.toContain(text);
      expect(proxy.log()).not.toContain(text);
    }
  });

  it("logs requests above the limit in the access log alone, and requests without a response with their query in the error log", async () => {
    const target = "/idpauth/login-callback?code=a-code";
    const limiting = await start();
    const many = new CookieBrowser(limiting.browser);
    await Promise.all(Array.from({ length: 80 }, () => many.get(target)));
    await eventually(async () => {
      expect(limiting.accessLog()).toContain('"GET /idpauth/login-callback HTTP/1.1" 429');
    });
    expect(limiting.log()).not.toContain("a-code");

    const alone = await start(await freePort());
    expect((await new CookieBrowser(alone.browser).get(target)).status).toBe(502);
    await eventually(async () => {
      expect(alone.log()).toContain(`"GET ${target} HTTP/1.1"`);
    });
    expect(alone.accessLog()).not.toContain("a-code");
  });

  it("with the locations for maintenance responds with 503 outside /idpauth/, and sessions continue", async () => {
    const [, maintenance = ""] = blocksOf("how-to/upgrades-and-keys.md", "nginx");
    const proxy = await start();
    const user = new CookieBrowser(proxy.browser);
    expect((await user.follow("/reports")).text).toBe("reports of ada");
    const client = await openHttp2(proxy, user);
    stops.push(async () => client.close());
    const request = client.open("GET", "/api/orders/events");
    request.end();
    const events = await request.response;
    expect(await events.next()).toBe("data: first\n\n");

    const pass = `proxy_pass http://127.0.0.1:${String(upstream.port)};`;
    const open = `  location / {\n    ${pass}\n  }\n`;
    const closed = maintenance.replace("proxy_pass http://localhost:3000;", pass);
    expect(closed).toContain(pass);
    proxy.reload(open, closed);
    await expect.poll(async () => (await user.get("/reports")).status).toBe(503);
    const { headers } = await user.get("/reports");
    expect(headers).toMatchObject({
      "retry-after": "600",
      "strict-transport-security": "max-age=31536000",
    });
    expect((await user.get("/idpauth/session")).json()).toMatchObject({ authenticated: true });
    const other = new CookieBrowser(proxy.browser);
    expect((await other.follow("/idpauth/login/")).status).toBe(200);
    expect((await user.get("/idpauth/logout/?response=json")).status).toBe(200);
    // The old worker still serves it, and the sign-out ends it.
    expect(await events.rest().catch(() => "broken off")).toMatch(/^(?:|broken off)$/);

    proxy.reload(closed, open);
    await expect.poll(async () => (await other.get("/reports")).text).toBe("reports of ada");
  });
});
