import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { storeKeyOf } from "../../src/sessions/cookie.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { CookieBrowser, type BrowserResponse } from "../../src/testing/browser/cookie-browser.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../support/express-application.js";
import { watchedStore, type WatchedStore } from "../support/watched-store.js";

const SIGNED_OUT = '{"authenticated":false,"user":null}';
const DAY = 86_400;

let application: ExpressApplication;
let store: WatchedStore;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await application.stop();
});

async function start(options: ExpressApplicationOptions = {}): Promise<CookieBrowser> {
  store = watchedStore(new TestClock());
  application = await startExpressApplication({ store, ...options });
  return application.browser();
}

async function signIn(browser: CookieBrowser): Promise<BrowserResponse> {
  const login = await browser.navigate("/idpauth/login/");
  return browser.navigate(await application.provider.signInCode(login.location ?? ""));
}

const probeWith = (cookie: string | string[]) =>
  application.browser().get("/idpauth/session", { headers: { cookie } });

describe("[CK-1] [ASVS-3.3.1] the size of the cookie", () => {
  it("[CK-1] name and value are the same few octets for every session: 100 scopes, 200 KB of claims, one claim", async () => {
    const sizes = new Set<number>();
    for (const [scope, person] of [
      [["openid"], { sub: "x" }],
      [
        ["openid", ...Array.from({ length: 100 }, (_, index) => `scope-${String(index)}`)],
        { sub: "x", name: "N".repeat(200_000) },
      ],
    ] as const) {
      const browser = await start({
        scope: [...scope],
        provider: { claimsInIdToken: false, person },
      });
      const done = await signIn(browser);
      expect([done.status, done.setCookies.length]).toEqual([302, 1]);
      sizes.add(Buffer.byteLength(done.setCookies[0]?.split(";")[0] ?? ""));
      if ("name" in person)
        expect((await browser.get("/idpauth/session")).json().user.name).toHaveLength(200_000);
      else await application.stop();
    }
    expect([...sizes]).toEqual(["idpauth=".length + 43]);
  });

  it("[CK-1] two hundred abandoned logins in one browser leave one cookie of that size", async () => {
    const browser = await start();
    for (let login = 0; login < 200; login += 1) await browser.navigate("/idpauth/login/");
    expect(browser.cookies.all().map(({ name, value }) => [name, value.length])).toEqual([
      ["idpauth", 43],
    ]);
  });
});

describe("[CK-2] contradictory options", () => {
  it.each(["__Host-sid", "__Secure-sid", "__host-sid", "__SECURE-sid"])(
    "[CK-2] the cookie name %s with a BASE_URL of http, or none, does not start",
    async (cookieName) => {
      await start();
      await expect(
        startExpressApplication({ cookieName, baseUrl: "http://app.example" }),
      ).rejects.toThrow(/E011/);
      await expect(startExpressApplication({ cookieName })).rejects.toThrow(/E011/);
    },
  );

  it.each(["", " ", "a b", "a;b", "a=b", "a,b", 'a"b', "é", "a\r\nb", "(sid)"])(
    "[CK-2] %j is no cookie name",
    async (cookieName) => {
      await start();
      await expect(startExpressApplication({ cookieName })).rejects.toThrow(/E006/);
    },
  );
});

describe("[CK-3] [ASVS-3.3.1] deletion", () => {
  it.each([
    ["http", "http://app.example", {}],
    ["https", "https://app.example", {}],
    ["https, with a name of one's own", "https://app.example", { cookieName: "sid" }],
  ])(
    "[CK-3] over %s a browser that keeps cookies forgets it, and only it",
    async (_name, origin, options) => {
      await start({ baseUrl: origin, ...options });
      const browser = new CookieBrowser({ origin, proxied: { [origin]: application.port } });
      browser.cookies.plant({ name: "theme", value: "dark", domain: "app.example" });
      await signIn(browser);
      expect(browser.cookies.all()).toHaveLength(2);
      await browser.navigate("/idpauth/logout/");
      expect(browser.cookies.all().map(({ name }) => name)).toEqual(["theme"]);
    },
  );
});

describe("[BFF-3] every Set-Cookie", () => {
  it.each([
    ["http", "http://app.example", "idpauth", ["HttpOnly", "Path=/", "SameSite=Lax"]],
    [
      "https",
      "https://app.example",
      "__Host-Http-idpauth",
      ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"],
    ],
  ])(
    "[BFF-3] over %s of login, further login, callback, refresh and logout has the same attributes, the deletion's included",
    async (_scheme, origin, name, attributes) => {
      await start({ baseUrl: origin, provider: { idTokenSeconds: DAY } });
      const { provider, clock } = application;
      const browser = new CookieBrowser({
        origin,
        proxied: { [origin]: application.port },
        now: () => clock.now(),
      });
      const lines: [string, readonly string[]][] = [];
      const note = (what: string, { setCookies }: BrowserResponse) =>
        lines.push([what, setCookies]);
      note("login", await browser.navigate("/idpauth/login/"));
      const login = await browser.navigate("/idpauth/login/");
      note("further login", login);
      note("callback", await browser.navigate(await provider.signInCode(login.location ?? "")));
      clock.advance(DAY * 1_000);
      note("refresh", await browser.get("/idpauth/session"));
      expect(provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(1);
      note("logout", await browser.navigate("/idpauth/logout/"));
      const parsed = lines.map(([what, setCookies]) => {
        const [pair = "", ...rest] = setCookies.join("\n").split("; ");
        const life = rest.find((attribute) => attribute.startsWith("Max-Age="));
        return [
          what,
          pair.replace(/=[\w-]{43}$/, "=value"),
          life,
          rest.filter((attribute) => attribute !== life).sort(),
        ];
      });
      const set = (what: string) => [what, `${name}=value`, "Max-Age=34560000", attributes];
      expect(parsed).toEqual([
        ...["login", "further login", "callback", "refresh"].map(set),
        ["logout", `${name}=`, "Max-Age=0", attributes],
      ]);
      expect(browser.cookies.all()).toEqual([]);
    },
  );
});

describe("[CK-5] several cookies of the name", () => {
  it("[CK-5] planted before or after, in one header or in two lines: the value that the store knows is found, nothing fails", async () => {
    const browser = await start();
    await signIn(browser);
    const own = `idpauth=${browser.cookies.value("idpauth") ?? ""}`;
    for (const planted of [
      `idpauth=${"A".repeat(43)}`,
      "idpauth=",
      "idpauth=x",
      `idpauth=${"A".repeat(8000)}`,
    ]) {
      for (const header of [`${planted}; ${own}`, `${own}; ${planted}`]) {
        expect((await probeWith(header)).json().authenticated, header.slice(0, 60)).toBe(true);
      }
      for (const lines of [
        [planted, own],
        [own, planted],
      ]) {
        const head = lines.map((line) => `Cookie: ${line}\r\n`).join("");
        const answer = await rawRequest(
          application.port,
          `GET /idpauth/session HTTP/1.1\r\nHost: x\r\n${head}Connection: close\r\n\r\n`,
        );
        expect([
          answer.status,
          (JSON.parse(answer.body) as { authenticated: boolean }).authenticated,
        ]).toEqual([200, true]);
      }
    }
  });

  it("[CK-5] at most four are looked up, and five unknown ones are no session", async () => {
    const browser = await start();
    await signIn(browser);
    const own = `idpauth=${browser.cookies.value("idpauth") ?? ""}`;
    const planted = Array.from({ length: 4 }, (_, index) => `idpauth=${String(index).repeat(43)}`);
    store.operations.length = 0;
    expect((await probeWith([...planted.slice(1), own].join("; "))).json().authenticated).toBe(
      true,
    );
    expect((await probeWith([...planted, own].join("; "))).text).toBe(SIGNED_OUT);
    expect(store.operations).toEqual(Array.from({ length: 8 }, () => "get"));
  });
});

describe("[CK-6] a manipulated cookie", () => {
  const flipped = (value: string, at: number) =>
    `${value.slice(0, at)}${value[at] === "A" ? "B" : "A"}${value.slice(at + 1)}`;
  /** By what is done to a good value, and whether what comes of it has the form of one. */
  const MANIPULATIONS: readonly (readonly [
    what: string,
    change: (value: string) => string,
    wellFormed: boolean,
  ])[] = [
    ["empty", () => "", false],
    ["one letter short", (value) => value.slice(0, 42), false],
    ["one letter short in front", (value) => value.slice(1), false],
    ["half of it", (value) => value.slice(0, 21), false],
    ["one letter long", (value) => `${value}A`, false],
    ["twice in a row", (value) => value + value, false],
    ["8 KB", (value) => value.repeat(190), false],
    ["%00 at the end", (value) => `${value}%00`, false],
    ["%00 within", (value) => `${value.slice(0, 40)}%00`, false],
    ["percent-encoded", (value) => `%${value.charCodeAt(0).toString(16)}${value.slice(1)}`, false],
    ["quoted", (value) => `"${value}"`, false],
    ["signed as another middleware does", (value) => `s%3A${value}.c2lnbmF0dXJl`, false],
    ["as JSON", (value) => `j:{"id":"${value}"}`, false],
    ["letters of standard base64", (value) => `${value.slice(0, 41)}+/`, false],
    ["padding", (value) => `${value.slice(0, 42)}=`, false],
    ["a comma", (value) => `${value.slice(0, 42)},`, false],
    ["a blank within", (value) => `${value.slice(0, 20)} ${value.slice(21)}`, false],
    ["a tab within", (value) => `${value.slice(0, 20)}\t${value.slice(21)}`, false],
    ["bytes outside of ASCII", (value) => `${value.slice(0, 42)}\u00e9`, false],
    ["a path", () => "../../../../etc/passwd", false],
    ["the name of a member of every object", () => "__proto__", false],
    ["what the store calls it", (value) => storeKeyOf(value), true],
    ["first letter changed", (value) => flipped(value, 0), true],
    ["middle letter changed", (value) => flipped(value, 21), true],
    ["last letter changed", (value) => flipped(value, 42), true],
    ["backwards", (value) => [...value].reverse().join(""), true],
    [
      "the other letter case",
      (value) =>
        value.replace(/[a-z]/gi, (letter) =>
          letter < "a" ? letter.toLowerCase() : letter.toUpperCase(),
        ),
      true,
    ],
    ["another letter for the same bytes", (value) => sameBytes(value), true],
  ];
  const ENDPOINTS = [
    "/idpauth/",
    "/idpauth/session",
    "/idpauth/login-callback?state=x&code=y",
    "/idpauth/nothing",
    "/idpauth/debug",
  ];

  it.each(MANIPULATIONS)(
    "[CK-6] %s: no session, no failure; a wrong form costs no look-up, and the real one goes on",
    async (_what, change, wellFormed) => {
      const browser = await start();
      await signIn(browser);
      const cookie = `idpauth=${change(browser.cookies.value("idpauth") ?? "")}`;
      store.operations.length = 0;
      expect((await probeWith(cookie)).text).toBe(SIGNED_OUT);
      expect(store.operations).toEqual(wellFormed ? ["get"] : []);
      for (const target of ENDPOINTS) {
        const answer = await application.browser().navigate(target, { headers: { cookie } });
        expect([answer.status < 500, answer.setCookies], target).toEqual([true, []]);
      }
      const login = await application
        .browser()
        .navigate("/idpauth/login/", { headers: { cookie } });
      expect([
        login.status,
        login.setCookies.length,
        login.setCookies[0]?.includes(cookie.slice(8) || "\0"),
      ]).toEqual([302, 1, false]);
      expect(
        (await application.browser().navigate("/idpauth/logout/", { headers: { cookie } })).status,
      ).toBe(302);
      expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
    },
  );

  it("[CK-6] a null byte in the header is refused before it comes to us, and the application goes on", async () => {
    const browser = await start();
    await signIn(browser);
    const value = browser.cookies.value("idpauth") ?? "";
    const head = `GET /idpauth/session HTTP/1.1\r\nHost: x\r\nCookie: idpauth=${value}\0\r\nConnection: close\r\n\r\n`;
    expect((await rawRequest(application.port, head)).status).toBe(400);
    expect((await browser.get("/idpauth/session")).json().authenticated).toBe(true);
  });

  /** The last of 43 letters carries four bits of six: others there decode to the same bytes. */
  function sameBytes(value: string): string {
    const bytes = Buffer.from(value, "base64url");
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = [...letters].find(
      (letter) =>
        letter !== value[42] && Buffer.from(value.slice(0, 42) + letter, "base64url").equals(bytes),
    );
    expect(last).toBeDefined();
    return value.slice(0, 42) + (last ?? "");
  }
});

/**
 * A cache before the application, for everybody (RFC 9111), that heeds Cache-Control and no more:
 * it knows nothing of Vary.
 */
async function startCache(
  port: number,
): Promise<{ readonly origin: string; readonly stored: Set<string> }> {
  const kept = new Map<string, { status: number; headers: IncomingHttpHeaders; body: string }>();
  const server = createServer((incoming, response) => {
    const key = `${incoming.method ?? ""} ${incoming.url ?? ""}`;
    const hit = kept.get(key);
    const answer = (found: NonNullable<typeof hit>, how: string) => {
      const { "transfer-encoding": _chunked, ...headers } = found.headers;
      response.writeHead(found.status, { ...headers, "x-cache": how }).end(found.body);
    };
    if (hit !== undefined) {
      answer(hit, "hit");
      return;
    }
    const onwards = httpRequest({
      port,
      host: "127.0.0.1",
      path: incoming.url,
      method: incoming.method,
      headers: incoming.headers,
      agent: false,
    });
    onwards.on("response", (message) => {
      const chunks: Buffer[] = [];
      message.on("data", (chunk: Buffer) => chunks.push(chunk));
      message.on("end", () => {
        const found = {
          status: message.statusCode ?? 502,
          headers: message.headers,
          body: Buffer.concat(chunks).toString("utf8"),
        };
        if (!/no-store|private|no-cache/i.test(message.headers["cache-control"] ?? ""))
          kept.set(key, found);
        answer(found, "miss");
      });
    });
    incoming.pipe(onwards);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  );
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    get stored() {
      return new Set(kept.keys());
    },
  };
}

describe("[CK-7] [ASVS-14.3.2] caches", () => {
  it("[CK-7] behind a cache that serves everybody what it may keep, nobody is given another's response or cookie", async () => {
    await start({
      debug: true,
      routes(app, auth) {
        app.get("/public", (_request, response) => void response.send("public"));
        app.get(
          "/guarded",
          auth.idpRequired,
          (_request, response) => void response.set("Cache-Control", "private").send("guarded"),
        );
      },
    });
    const cache = await startCache(application.port);
    const [ada, bob, nobody] = [1, 2, 3].map(() => new CookieBrowser({ origin: cache.origin })) as [
      CookieBrowser,
      CookieBrowser,
      CookieBrowser,
    ];
    // It does keep what it may.
    expect((await ada.get("/public")).headers["x-cache"]).toBe("miss");
    expect((await bob.get("/public")).headers["x-cache"]).toBe("hit");

    const targets = [
      "/idpauth/",
      "/idpauth/session",
      "/idpauth/session?details=true",
      "/idpauth/debug",
      "/idpauth/nothing",
      "/idpauth/login-callback",
      "/idpauth/login/?scheme=x",
      "/guarded",
    ];
    for (const [who, sub] of [
      [ada, "ada"],
      [bob, "bob"],
    ] as const) {
      for (const target of targets) await who.navigate(target);
      const login = await who.navigate("/idpauth/login/");
      const callback = await application.provider.signInCode(login.location ?? "", {
        sub,
        email: `${sub}@example.com`,
        name: sub,
      });
      expect((await who.navigate(callback)).setCookies).toHaveLength(1);
      for (const target of targets)
        expect((await who.navigate(target)).headers["x-cache"], target).toBe("miss");
      expect((await who.get("/idpauth/session")).json().user.email).toBe(`${sub}@example.com`);
      expect((await who.navigate("/idpauth/")).text).toContain(`${sub}@example.com`);
      expect((await nobody.get("/idpauth/session")).text).toBe(SIGNED_OUT);
      expect((await nobody.navigate("/guarded")).status).toBe(302);
    }
    const out = await ada.navigate("/idpauth/logout/");
    expect([out.headers["x-cache"], out.setCookies.length]).toEqual(["miss", 1]);
    expect((await ada.get("/idpauth/session")).text).toBe(SIGNED_OUT);
    expect((await bob.get("/idpauth/session")).json().user.email).toBe("bob@example.com");
    expect(cache.stored).toEqual(new Set(["GET /public"]));
    expect(nobody.cookies.all()).toEqual([]);
  });

  it("[CK-7] middleware of the application that makes everything cacheable does not reach our responses", async () => {
    await start({
      first: (app) =>
        void app.use((_request, response, next) => {
          response.set({ "Cache-Control": "public, max-age=3600", Vary: "Accept-Encoding" });
          next();
        }),
    });
    const browser = application.browser();
    const answers = [
      await browser.get("/idpauth/session"),
      await browser.navigate("/idpauth/"),
      await browser.navigate("/idpauth/login/"),
      await signIn(browser),
    ];
    for (const { headers } of answers) {
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers.vary?.split(/, */)).toEqual(
        expect.arrayContaining(["Cookie", "Accept-Encoding"]),
      );
    }
  });
});

describe("[CK-9] large headers", () => {
  it("[CK-9] a request with more than 16 KB of headers is 431 from Node itself, and the application goes on", async () => {
    const browser = await start();
    for (const head of [
      `Cookie: idpauth=${"A".repeat(17_000)}`,
      `X-Origin-Url: ${"a".repeat(17_000)}`,
    ]) {
      const answer = await rawRequest(
        application.port,
        `GET /idpauth/session HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`,
      );
      expect(answer.status).toBe(431);
    }
    expect((await browser.get("/idpauth/session")).status).toBe(200);
  });

  it("[CK-9] no address, however long, makes the guard or a login give a header that Node would refuse", async () => {
    await start({
      routes: (app, auth) =>
        void app.get(
          "/reports",
          auth.idpRequired,
          (_request, response) => void response.send("seen"),
        ),
    });
    const long = "&".repeat(14_000);
    for (const target of [
      `/reports?${long}`,
      `/reports?${"%22".repeat(4_600)}`,
      `/reports?x=${"a".repeat(14_000)}`,
    ]) {
      const browser = application.browser();
      const blocked = await browser.navigate(target);
      expect(blocked.status).toBe(302);
      expect(Buffer.byteLength(blocked.rawHeaders.join(""))).toBeLessThan(16_000);
      // And the way it leads to is one that can be gone.
      const login = await browser.navigate(blocked.location ?? "");
      expect([login.status, login.location?.startsWith(application.provider.issuer)]).toEqual([
        302,
        true,
      ]);
      const done = await browser.navigate(
        await application.provider.signInCode(login.location ?? ""),
      );
      expect([done.status, done.location]).toEqual([302, "/idpauth/"]);
    }
  });

  it("[CK-9] nor does a login that is first sent to BASE_URL: its query stays as long as it came", async () => {
    const away = "http://other.example";
    await start({ baseUrl: "http://app.example" });
    const browser = new CookieBrowser({ origin: away, proxied: { [away]: application.port } });
    for (const query of [
      "!".repeat(12_000),
      `origin_url=${"%22".repeat(4_000)}`,
      `scheme=DEFAULT&x=${"~'()*".repeat(2_400)}`,
    ]) {
      const sent = await browser.navigate(`/idpauth/login/?${query}`);
      expect([sent.status, sent.location]).toEqual([
        302,
        `http://app.example/idpauth/login/?${query}&idp_hop=1`,
      ]);
    }
  });
});

describe("[CK-10] the cookie's life", () => {
  it.each([
    [{}, 14 * DAY, 400 * DAY],
    [{ sessionMaxAge: 3600 }, 14 * DAY, 3600 + DAY],
    [{ sessionMaxAge: 20 * DAY }, 21 * DAY, 21 * DAY],
    [{ sessionMaxAge: 500 * DAY }, 501 * DAY, 400 * DAY],
    [{ sessionTtl: 600 }, 600, 400 * DAY],
    [{ sessionTtl: 600 * DAY }, 600 * DAY, 400 * DAY],
  ])(
    "[CK-10] with %j the record lives for %i seconds and alone decides; the cookie's Max-Age is %i, which browsers keep in full",
    async (options, life, cookieLife) => {
      const browser = await start(options);
      const done = await signIn(browser);
      const maxAge = Number(/Max-Age=(\d+)/.exec(done.setCookies[0] ?? "")?.[1]);
      expect(maxAge).toBe(cookieLife);
      const now = Math.floor(application.clock.now() / 1000);
      // The sign-in leaves a trace under the key of the pending login, for ten minutes.
      const sessions = (await store.entries()).filter(({ subject }) => subject !== undefined);
      expect(sessions.map(({ expiresAt }) => expiresAt - now)).toEqual([life]);
      const kept = browser.cookies.all()[0]?.expiresAt ?? 0;
      expect(Math.round(kept / 1000) - now).toBe(cookieLife);
    },
  );
});
