import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { CookieBrowser, CookieJar } from "../../src/testing/browser/cookie-browser.js";

describe("what is kept, and sent where", () => {
  const HERE = "http://app.example/idpauth/login/";
  const SECURE = "https://app.example/idpauth/login/";

  it.each<[why: string, from: string, line: string, to: string, sent: string | undefined]>([
    ["the same path", HERE, "a=1; Path=/", HERE, "a=1"],
    [
      "another port is the same host",
      "http://app.example:1/",
      "a=1",
      "http://app.example:2/",
      "a=1",
    ],
    ["another host", HERE, "a=1; Path=/", "http://other.example/", undefined],
    ["a subdomain, without Domain", HERE, "a=1; Path=/", "http://www.app.example/", undefined],
    [
      "a subdomain, with Domain",
      HERE,
      "a=1; Path=/; Domain=app.example",
      "http://www.app.example/",
      "a=1",
    ],
    [
      "a name that only ends alike",
      HERE,
      "a=1; Path=/; Domain=app.example",
      "http://evilapp.example/",
      undefined,
    ],
    [
      "a Domain of another site",
      HERE,
      "a=1; Path=/; Domain=other.example",
      "http://other.example/",
      undefined,
    ],
    [
      "a Domain that is the end of an address",
      "http://127.0.0.1/",
      "a=1; Domain=0.0.1",
      "http://127.0.0.1/",
      undefined,
    ],
    ["below the path", HERE, "a=1; Path=/idpauth", "http://app.example/idpauth/session", "a=1"],
    [
      "a path that only begins alike",
      HERE,
      "a=1; Path=/idpauth",
      "http://app.example/idpauthx",
      undefined,
    ],
    ["above the path", HERE, "a=1; Path=/idpauth", "http://app.example/", undefined],
    [
      "no Path: the folder of the page that set it",
      HERE,
      "a=1",
      "http://app.example/idpauth/login/x",
      "a=1",
    ],
    ["no Path: not above that folder", HERE, "a=1", "http://app.example/idpauth/", undefined],
    [
      "not Secure, and kept without TLS",
      "http://127.0.0.1:1/",
      "a=1; HttpOnly; SameSite=Lax",
      "http://127.0.0.1:1/",
      "a=1",
    ],
    ["Secure, set without TLS", HERE, "a=1; Path=/; Secure", SECURE, undefined],
    ["Secure, sent with TLS only", SECURE, "a=1; Path=/; Secure", HERE, undefined],
    ["Secure, sent with TLS", SECURE, "a=1; Path=/; Secure", SECURE, "a=1"],
    ["SameSite=None without Secure", SECURE, "a=1; Path=/; SameSite=None", SECURE, undefined],
    ["__Host- as it must be", SECURE, "__Host-a=1; Path=/; Secure", SECURE, "__Host-a=1"],
    ["__Host- without Secure", SECURE, "__Host-a=1; Path=/", SECURE, undefined],
    ["__Host- with a path", SECURE, "__Host-a=1; Path=/idpauth; Secure", SECURE, undefined],
    [
      "__Host- without a written path",
      "https://app.example/",
      "__Host-a=1; Secure",
      "https://app.example/",
      undefined,
    ],
    [
      "__Host- with Domain",
      SECURE,
      "__Host-a=1; Path=/; Secure; Domain=app.example",
      SECURE,
      undefined,
    ],
    ["__Secure- without Secure", SECURE, "__Secure-a=1; Path=/", SECURE, undefined],
    ["Max-Age=0", HERE, "a=1; Path=/; Max-Age=0", HERE, undefined],
    ["a date gone by", HERE, "a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", HERE, undefined],
    [
      "Max-Age wins over Expires",
      HERE,
      "a=1; Path=/; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      HERE,
      "a=1",
    ],
    ["an equals sign within the value", HERE, "a=b=c; Path=/", HERE, "a=b=c"],
    [
      "4096 bytes of name and value",
      HERE,
      `a=${"x".repeat(4095)}; Path=/`,
      HERE,
      `a=${"x".repeat(4095)}`,
    ],
    ["one byte more", HERE, `a=${"x".repeat(4096)}; Path=/`, HERE, undefined],
  ])("%s", (_why, from, line, to, sent) => {
    const jar = new CookieJar();
    jar.take(new URL(from), line);
    expect(jar.header(new URL(to))).toBe(sent);
  });

  it("a cookie is replaced, and deleted, only under the same name, hostname and path", () => {
    const jar = new CookieJar();
    const url = new URL(HERE);
    jar.take(url, "a=1; Path=/");
    jar.take(url, "a=2; Path=/");
    expect(jar.header(url)).toBe("a=2");
    jar.take(url, "a=; Path=/idpauth; Max-Age=0");
    expect(jar.header(url)).toBe("a=2");
    jar.take(url, "a=; Path=/; Max-Age=0");
    expect(jar.all()).toEqual([]);
  });

  it("a cookie set with TLS is neither replaced nor deleted without", () => {
    const jar = new CookieJar();
    jar.take(new URL(SECURE), "a=1; Path=/; Secure");
    expect(jar.take(new URL(HERE), "a=2; Path=/")).toBe(false);
    expect(jar.take(new URL(HERE), "a=; Path=/; Max-Age=0")).toBe(false);
    expect(jar.value("a")).toBe("1");
  });

  it("longer paths go first, then older cookies", () => {
    const jar = new CookieJar();
    const url = new URL(HERE);
    for (const line of ["a=1; Path=/", "b=2; Path=/", "c=3; Path=/idpauth", "a=4; Path=/"])
      jar.take(url, line);
    expect(jar.header(url)).toBe("c=3; a=4; b=2");
  });

  it("cookies end with their Max-Age, by the time that is handed in, and at the latest after 400 days", () => {
    let now = 0;
    const jar = new CookieJar(() => now);
    const url = new URL(HERE);
    jar.take(url, "short=1; Path=/; Max-Age=10");
    jar.take(url, "long=1; Path=/; Max-Age=999999999");
    jar.take(url, "session=1; Path=/");
    now = 9_999;
    expect(jar.all()).toHaveLength(3);
    now = 10_000;
    expect(jar.value("short")).toBeUndefined();
    now = 400 * 86_400_000;
    expect(jar.all().map(({ name }) => name)).toEqual(["session"]);
  });
});

const servers: Server[] = [];

async function serve(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ origin: string; port: number }> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port };
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe("the browser", () => {
  it("keeps what it is given and shows what it sends", async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === "/in")
        response.setHeader("Set-Cookie", ["sid=1; Path=/; HttpOnly", "theme=dark; Path=/"]);
      response
        .setHeader("Content-Type", "application/json")
        .end(JSON.stringify({ cookie: request.headers.cookie ?? null, method: request.method }));
    });
    const browser = new CookieBrowser({ origin });
    const first = await browser.get("/in");
    expect(first.json()).toEqual({ cookie: null, method: "GET" });
    expect(first.setCookies).toHaveLength(2);
    expect((await browser.get("/", { method: "POST", body: "x" })).json()).toEqual({
      cookie: "sid=1; theme=dark",
      method: "POST",
    });
    expect((await browser.get("/", { headers: { Cookie: "sid=stolen" } })).json().cookie).toBe(
      "sid=stolen",
    );
    expect(browser.cookies.value("sid")).toBe("1");
  });

  it("never follows a redirect by itself, and gives Location byte for byte", async () => {
    const { origin } = await serve((_request, response) =>
      response.writeHead(302, { Location: "/a%2Fb?c=%C3%A9#d" }).end(),
    );
    const response = await new CookieBrowser({ origin }).get("/");
    expect([response.status, response.location]).toEqual([302, "/a%2Fb?c=%C3%A9#d"]);
  });

  it("sends a path as it is written", async () => {
    const { origin } = await serve((request, response) => response.end(request.url));
    const browser = new CookieBrowser({ origin });
    expect((await browser.get("//idpauth/../%64ebug?a=|")).text).toBe("//idpauth/../%64ebug?a=|");
  });

  it("follows redirects across origins, with each hostname's own cookies and the headers of a click", async () => {
    const seen: string[] = [];
    const note = (request: IncomingMessage) =>
      seen.push(
        `${request.method} ${request.headers.host?.split(":")[0]} ${request.headers.cookie ?? "-"} ${String(request.headers.accept?.split(",", 1))}`,
      );
    const app = await serve((request, response) => {
      note(request);
      if (request.url === "/done") response.end("done");
      else
        response
          .writeHead(302, {
            "Set-Cookie": "app=1; Path=/",
            Location: `http://provider.test:${provider.port}/`,
          })
          .end();
    });
    const provider = await serve((request, response) => {
      note(request);
      response
        .writeHead(303, {
          "Set-Cookie": "op=1; Path=/",
          Location: `http://app.test:${app.port}/done`,
        })
        .end();
    });
    const browser = new CookieBrowser();
    const end = await browser.follow(`http://app.test:${app.port}/`, { method: "POST", body: "x" });
    expect([end.text, end.url.pathname, end.trail.map(({ status }) => status)]).toEqual([
      "done",
      "/done",
      [302, 303, 200],
    ]);
    expect(seen).toEqual([
      "POST app.test - text/html",
      "GET provider.test - text/html",
      "GET app.test app=1 text/html",
    ]);
  });

  it("sends the headers of a navigation or of a script's fetch, and Fetch Metadata only to trustworthy addresses", async () => {
    const app = await serve(({ headers }, response) => {
      const { accept = "", "sec-fetch-mode": mode, "sec-fetch-dest": dest } = headers;
      response.end(JSON.stringify([accept.slice(0, 9), headers["sec-fetch-site"], mode, dest]));
    });
    const browser = new CookieBrowser();
    const sent = async (host: string) => {
      const url = `http://${host}:${app.port}/`;
      const responses = [await browser.get(url), await browser.navigate(url)];
      return responses.map((response) => response.json() as unknown);
    };
    expect(await sent("127.0.0.1")).toEqual([
      ["*/*", "same-origin", "cors", "empty"],
      ["text/html", "none", "navigate", "document"],
    ]);
    expect(await sent("app.test")).toEqual([
      ["*/*", null, null, null],
      ["text/html", null, null, null],
    ]);
  });

  it("follows with cookies and a password that it was given, and sends them to no other origin", async () => {
    const seen: string[] = [];
    const note = (who: string, { headers }: IncomingMessage) =>
      seen.push(
        `${who}: ${headers.cookie ?? "-"} ${headers.authorization ?? "-"} ${String(headers["x-mine"])}`,
      );
    const app = await serve((request, response) => {
      note("app", request);
      const [cookie, location] = {
        "/": [[], "/moved"],
        "/moved": [["old=; Path=/; Max-Age=0", "login=1; Path=/"], provider.origin],
        "/back": [["sid=new; Path=/"], "/done"],
      }[request.url!] ?? [[], undefined];
      response.setHeader("Set-Cookie", cookie as string[]);
      if (location === undefined) response.end("done");
      else response.writeHead(302, { Location: location }).end();
    });
    const provider = await serve((request, response) => {
      note("provider", request);
      response.writeHead(302, { Location: `http://app.test:${app.port}/back` }).end();
    });
    const browser = new CookieBrowser({ origin: `http://app.test:${app.port}` });
    const headers = { Cookie: "sid=given; old=1", Authorization: "Basic eA==", "X-Mine": "1" };
    expect((await browser.follow("/", { headers })).text).toBe("done");
    expect(seen).toEqual([
      "app: sid=given; old=1 Basic eA== 1",
      "app: sid=given; old=1 Basic eA== 1",
      "provider: - - 1",
      "app: sid=given; login=1 - 1",
      "app: login=1; sid=new - 1",
    ]);
  });

  it("reads no further than its limit", async () => {
    const { origin } = await serve((request, response) =>
      response.end("x".repeat(Number(request.url!.slice(1)))),
    );
    const browser = new CookieBrowser({ origin });
    expect((await browser.get("/1000", { maxBytes: 1000 })).text).toHaveLength(1000);
    await expect(browser.get("/1001", { maxBytes: 1000 })).rejects.toThrow("more than 1000 bytes");
  });

  it.each(["reports", ""])("says what form an address has: %o is none", async (target) => {
    await expect(new CookieBrowser({ origin: "http://127.0.0.1:1" }).get(target)).rejects.toThrow(
      /^Pass a path that begins with \/, or an absolute URL\.$/,
    );
  });

  it("gives up on a circle", async () => {
    const { origin } = await serve((_request, response) =>
      response.writeHead(302, { Location: "/" }).end(),
    );
    await expect(new CookieBrowser({ origin }).follow("/")).rejects.toThrow("redirects");
  });

  it("stands behind a proxy that ends TLS, where Secure cookies live", async () => {
    const { port } = await serve((request, response) => {
      response.setHeader("Set-Cookie", "__Host-sid=1; Path=/; Secure; HttpOnly");
      response.end(
        [
          request.headers.host,
          request.headers["x-forwarded-proto"],
          request.headers.cookie ?? "-",
        ].join(" "),
      );
    });
    const browser = new CookieBrowser({
      origin: "https://app.example",
      proxied: { "https://app.example": port },
    });
    expect((await browser.get("/")).text).toBe("app.example https -");
    expect((await browser.get("https://app.example/")).text).toBe("app.example https __Host-sid=1");
  });

  it("stands behind a proxy that takes a prefix off the path, and passes nothing else on", async () => {
    const { port } = await serve((request, response) => response.end(request.url));
    const proxied = { "http://app.example": { port, strips: "/portal" } };
    const browser = new CookieBrowser({ origin: "http://app.example", proxied });
    for (const [asked, seen] of [
      ["/portal/a%2Fb?c=/portal", "/a%2Fb?c=/portal"],
      ["/portal//x", "//x"],
      ["/portal", "/"],
      ["/portal?a", "/?a"],
    ] as const) {
      expect((await browser.get(asked)).text).toBe(seen);
    }
    for (const asked of ["/", "/portals", "/x/portal/", "/PORTAL/"]) {
      await expect(browser.get(asked)).rejects.toThrow(`below /portal, not ${asked}`);
    }
  });

  it("lets its user abort a request", async () => {
    const { origin } = await serve(() => undefined);
    const leave = new AbortController();
    const waiting = new CookieBrowser({ origin }).get("/", { signal: leave.signal });
    leave.abort();
    await expect(waiting).rejects.toThrow("abort");
  });
});

describe("Sec-Fetch-Site", () => {
  const APP = "http://a.app.localhost:";
  type Way = readonly [
    why: string,
    from: string | null | undefined,
    trail: readonly string[],
    sent: string | undefined,
  ];

  /**
   * Requests the first address, whose response redirects to the next one, and returns what the last
   * request sent.
   */
  async function sent(
    how: "get" | "navigate" | "follow",
    from: Way[1],
    trail: Way[2],
  ): Promise<unknown> {
    let asked = 0;
    let site: unknown;
    const { port } = await serve((request, response) => {
      site = request.headers["sec-fetch-site"];
      asked += 1;
      if (trail[asked] === undefined) response.end();
      else response.writeHead(302, { Location: at(trail[asked]!) }).end();
    });
    const at = (address: string) => (address.endsWith(":") ? `${address}${port}/` : address);
    const proxied = {
      "https://app.example": port,
      "http://app.example": port,
      "https://www.app.example": port,
      "https://other.example": port,
    };
    await new CookieBrowser({ proxied })[how](
      at(trail[0]!),
      from === undefined ? {} : { from: from && at(from) },
    );
    return site;
  }

  it.each<Way>([
    ["a typed address", null, [APP], "none"],
    ["a typed address that redirects to another site", null, [APP, "https://app.example/"], "none"],
    ["an address without a page is typed", undefined, [APP], "none"],
    ["a link of the same origin", APP, [APP], "same-origin"],
    ["a link of another port", "http://a.app.localhost:1/", [APP], "same-site"],
    ["a link of a sibling domain", "http://b.app.localhost:", [APP], "same-site"],
    ["a link of another scheme", "https://a.app.localhost/", [APP], "cross-site"],
    ["a link of another site", "https://other.example/", [APP], "cross-site"],
    [
      "a link of another site, by way of two redirects",
      "https://other.example/",
      [APP, APP, APP],
      "cross-site",
    ],
    [
      "a link of the same origin, by way of another site",
      APP,
      [APP, "https://other.example/", APP],
      "cross-site",
    ],
    [
      "a link of the same origin, by way of a sibling",
      APP,
      [APP, "http://b.app.localhost:", APP],
      "same-site",
    ],
    ["addresses have no subdomains", "http://127.0.0.2:1/", ["http://127.0.0.1:"], "cross-site"],
    ["https", "https://www.app.example/", ["https://app.example/"], "same-site"],
    ["plain http", "http://app.example/", ["http://app.example/"], undefined],
    [
      "plain http that redirects to https",
      "https://other.example/",
      ["http://app.example/", "https://app.example/"],
      "cross-site",
    ],
  ])("of %s", async (_why, from, trail, expected) => {
    expect(await sent("follow", from, trail)).toBe(expected);
  });

  it("of a script is that of a page of the requested origin, unless set otherwise", async () => {
    expect(await sent("get", undefined, [APP])).toBe("same-origin");
    expect(await sent("get", null, [APP])).toBe("none");
    expect(await sent("get", "https://other.example/", [APP])).toBe("cross-site");
    expect(await sent("navigate", undefined, [APP])).toBe("none");
    expect(await sent("navigate", APP, [APP])).toBe("same-origin");
  });

  it("is what a header says, and absent if the header has no value", async () => {
    const { origin } = await serve((request, response) =>
      response.end(String(request.headers["sec-fetch-site"])),
    );
    const browser = new CookieBrowser({ origin });
    expect((await browser.get("/", { headers: { "Sec-Fetch-Site": "same-site" } })).text).toBe(
      "same-site",
    );
    expect((await browser.navigate("/", { headers: { "sec-fetch-site": [] } })).text).toBe(
      "undefined",
    );
  });
});

describe("a raw request", () => {
  it("sends exactly these bytes", async () => {
    const { port } = await serve((request, response) =>
      response
        .setHeader(
          "X-Cookies",
          String(request.rawHeaders.filter((name) => name === "Cookie").length),
        )
        .end(request.url),
    );
    const response = await rawRequest(
      port,
      "GET //idpauth//debug;x HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\nCookie: a=2\r\n\r\n",
    );
    expect([response.status, response.body, response.header("x-cookies")]).toEqual([
      200,
      "//idpauth//debug;x",
      "2",
    ]);
  });

  it("puts a chunked body together, and expects none after HEAD", async () => {
    const { port } = await serve((_request, response) => {
      response.write("één");
      response.end(" en twee");
    });
    expect((await rawRequest(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")).body).toBe("één en twee");
    const head = await rawRequest(port, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect([head.status, head.body]).toEqual([200, ""]);
  });

  it("shows the server's own refusals, and an end without a response", async () => {
    const { port } = await serve((request) => request.socket.destroy());
    expect((await rawRequest(port, "NONSENSE\r\n\r\n")).status).toBe(400);
    expect(
      (await rawRequest(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`))
        .status,
    ).toBe(431);
    expect((await rawRequest(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")).status).toBe(0);
  });
});

it("a cookie with Domain outlives the deletion of one without", () => {
  const jar = new CookieJar();
  const url = new URL("https://app.example/");
  jar.take(url, "s=1; Domain=app.example; Path=/");
  jar.take(url, "s=; Path=/; Max-Age=0");
  expect(jar.header(url)).toBe("s=1");
});

it("an https origin that nothing stands before is refused, and not requested over plain HTTP", async () => {
  await expect(new CookieBrowser().get("https://app.example/")).rejects.toThrow(
    /Set the option `proxied` for https:\/\/app\.example\./,
  );
});
