// One process that serves several origins, over sockets and with a real framework.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import {
  startExpressApplication,
  type ExpressApplication,
  type ExpressApplicationOptions,
} from "../support/express-application.js";

const [A, B, ALIAS] = ["https://a.shop.example", "https://b.shop.example", "https://alias.example"];
const LIST = [A, "https://*.shop.example"];
const SHOPS = new Map([
  ["a.shop.example", A],
  ["b.shop.example", B],
  ["alias.example", A],
]);

let application: ExpressApplication;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await application.stop();
});

async function start(options: ExpressApplicationOptions = {}): Promise<CookieBrowser> {
  application = await startExpressApplication({
    baseUrl: LIST,
    first: (app) => app.set("trust proxy", 1),
    routes(app, auth) {
      app.get("/cart", auth.idpRequired, (_request, response) => response.send("the cart"));
      app.post("/cart", auth.csrf, (_request, response) => response.send("changed"));
      app.get("/open", async (request, response) => {
        response.json({ user: (await auth.getSession(request))?.user.id ?? null });
      });
    },
    ...options,
  });
  const { port } = application;
  return application.browser({
    origin: A,
    proxied: { [A]: port, [B]: port, [ALIAS]: port, "https://stranger.example": port },
  });
}

/** Signs in at the page, and gives the callback's address. */
async function signIn(browser: CookieBrowser, page: string): Promise<URL> {
  const signedIn = await browser.follow(page);
  expect([signedIn.status, signedIn.url.href, signedIn.text]).toEqual([200, page, "the cart"]);
  const callback = signedIn.trail.find(({ url }) => url.pathname === "/idpauth/login-callback");
  return callback?.url ?? new URL(page);
}

const cookieOf = (browser: CookieBrowser, domain: string) =>
  browser.cookies
    .all()
    .filter((cookie) => cookie.domain === domain)
    .map(({ name, value }) => `${name}=${value}`)
    .join("; ");

describe.each<[string, ExpressApplicationOptions]>([
  ["a list", { baseUrl: LIST }],
  ["a function", { baseUrl: (host) => Promise.resolve(SHOPS.get(host)) }],
  ["a list, with the framework's sessions", { baseUrl: LIST, session: "host" }],
])("with %s", (_name, options) => {
  it("users sign in at each origin, and each has a cookie of its own", async () => {
    const browser = await start(options);
    await signIn(browser, `${A}/cart`);
    expect((await browser.navigate(`${B}/cart`)).status).toBe(302);
    await signIn(browser, `${B}/cart`);
    const cookies = browser.cookies.all().filter(({ name }) => /idpauth|connect/.test(name));
    expect(cookies.map(({ domain, hostOnly }) => [domain, hostOnly])).toEqual([
      ["a.shop.example", true],
      ["b.shop.example", true],
    ]);
  });

  it("a cookie that is carried to another origin is signed out there, and goes on at its own", async () => {
    const browser = await start(options);
    await signIn(browser, `${A}/cart`);
    const headers = { cookie: cookieOf(browser, "a.shop.example") };
    expect((await browser.get(`${A}/open`)).json()).toMatchObject({ user: expect.any(String) });
    expect((await browser.get(`${B}/open`, { headers })).json()).toEqual({ user: null });
    expect((await browser.navigate(`${B}/cart`, { headers })).status).toBe(302);
    await browser.navigate(`${B}/idpauth/logout/`, { headers, from: B });
    expect((await browser.navigate(`${A}/cart`)).status).toBe(200);
  });

  it("a callback that is carried to another origin is 400, with the login's cookie, too", async () => {
    const browser = await start(options);
    const login = await browser.navigate(`${A}/idpauth/login/`);
    const callback = new URL(await application.provider.signInCode(login.location ?? ""));
    expect(callback.origin).toBe(A);
    const headers = { cookie: cookieOf(browser, "a.shop.example") };
    const strayed = `${B}${callback.pathname}${callback.search}`;
    const refused = await browser.navigate(strayed, { headers });
    expect([refused.status, application.provider.requestsTo("token").length]).toEqual([400, 0]);
    expect((await browser.navigate(callback)).status).toBe(302);
    expect((await browser.navigate(`${A}/cart`)).status).toBe(200);
  });

  it("a form must come from the origin that it is sent to", async () => {
    const browser = await start(options);
    const send = (to: string, from: string) =>
      browser.get(`${to}/cart`, {
        method: "POST",
        headers: { origin: from, "sec-fetch-site": [] },
      });
    expect((await send(A, A)).status).toBe(200);
    expect((await send(B, B)).status).toBe(200);
    expect((await send(A, B)).status).toBe(403);
  });

  it("a host that isn't the application's gets 421, and routes of the application are its own", async () => {
    const browser = await start(options);
    await signIn(browser, `${A}/cart`);
    const headers = { cookie: cookieOf(browser, "a.shop.example") };
    for (const base of ["https://stranger.example", application.origin]) {
      for (const path of ["/cart", "/idpauth/", "/idpauth/login/", "/idpauth/style.css"]) {
        const { status, text, setCookies } = await browser.navigate(`${base}${path}`, { headers });
        expect([path, status, setCookies]).toEqual([path, 421, []]);
        expect(text).not.toMatch(/stranger|127\.0\.0\.1/);
      }
      expect((await browser.get(`${base}/cart`, { method: "POST", headers })).status).toBe(421);
      expect((await browser.get(`${base}/open`, { headers })).json()).toEqual({ user: null });
    }
    expect((await browser.navigate(`${A}/cart`)).status).toBe(200);
  });

  it("headers of a proxy that isn't trusted choose no origin", async () => {
    const browser = await start({ ...options, first: (app) => app.set("trust proxy", false) });
    const headers = { "x-forwarded-host": "b.shop.example", "x-forwarded-proto": "http" };
    const login = await browser.navigate(`${A}/idpauth/login/`, { headers });
    expect(new URL(login.location ?? "").searchParams.get("redirect_uri")).toBe(
      `${A}/idpauth/login-callback`,
    );
  });
});

it("a function that names another origin sends the login there first", async () => {
  const browser = await start({ baseUrl: (host) => SHOPS.get(host) });
  const signedIn = await browser.follow(`${ALIAS}/cart`);
  expect([signedIn.status, signedIn.url.href]).toEqual([200, `${A}/cart`]);
});

it("a function that throws is 503 for endpoints, guards and csrf, and is asked once at a time", async () => {
  let asked = 0;
  let arrived = 0;
  let settle: () => void = () => undefined;
  let fails = true;
  const browser = await start({
    first(app) {
      app.set("trust proxy", 1);
      app.use((_request, _response, next) => {
        arrived += 1;
        next();
      });
    },
    async baseUrl(host) {
      asked += 1;
      await new Promise<void>((resolve) => (settle = resolve));
      if (fails) throw new Error("the database is down");
      return SHOPS.get(host);
    },
  });
  const all = Promise.all([
    browser.navigate(`${A}/cart`),
    browser.navigate(`${A}/idpauth/`),
    browser.get(`${A}/cart`, { method: "POST" }),
  ]);
  await expect.poll(() => [asked, arrived]).toEqual([1, 3]);
  await new Promise((resolve) => setImmediate(resolve));
  settle();
  expect((await all).map(({ status }) => status)).toEqual([503, 503, 503]);
  expect(asked).toBe(1);
  fails = false;
  const again = browser.navigate(`${A}/cart`);
  await expect.poll(() => asked).toBe(2);
  settle();
  expect((await again).status).toBe(302);
});

it("a proxied API and its WebSockets are those of the origin", async () => {
  const upstream = createServer((request, response) => {
    response.end(request.headers["x-forwarded-host"]);
  });
  new WebSocketServer({ server: upstream }).on("connection", (socket, { headers }) => {
    socket.send(String(headers["x-forwarded-host"]));
  });
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  closing.push(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const url = `http://127.0.0.1:${String((upstream.address() as AddressInfo).port)}/`;
  const browser = await start({
    baseUrl: (host) => Promise.resolve(SHOPS.get(host)),
    apis: { orders: { url, path: "/api/" } },
    routes(app, auth) {
      let server: Server | undefined;
      app.use((request, _response, next) => {
        server ??= (request.socket as unknown as { server: Server }).server.on(
          "upgrade",
          auth.proxyUpgrade,
        );
        next();
      });
      app.use(auth.proxyApi("orders"));
      app.get("/cart", auth.idpRequired, (_request, response) => response.send("the cart"));
    },
  });
  await signIn(browser, `${A}/cart`);
  const cookie = cookieOf(browser, "a.shop.example");
  expect((await browser.get(`${A}/api/x`)).text).toBe("a.shop.example");
  expect((await browser.get(`${B}/api/x`, { headers: { cookie } })).status).toBe(401);
  expect(
    (await browser.get("https://stranger.example/api/x", { headers: { cookie } })).status,
  ).toBe(421);
  const open = async (host: string, origin: string) => {
    const socket = new WebSocket(`ws://127.0.0.1:${String(application.port)}/api/x`, {
      headers: { host, origin, cookie, "x-forwarded-proto": "https" },
    });
    const heard = await Promise.race([
      once(socket, "message").then(([data]) => String(data)),
      once(socket, "unexpected-response").then(
        ([, response]) => (response as { statusCode: number }).statusCode,
      ),
      once(socket, "error").then(([error]) => (error as Error).message),
    ]);
    socket.terminate();
    return heard;
  };
  expect(await open("a.shop.example", A)).toBe("a.shop.example");
  expect(await open("a.shop.example", B)).toBe(403);
  expect(await open("b.shop.example", B)).toBe(401);
  expect(await open("stranger.example", "https://stranger.example")).toBe(403);
});
