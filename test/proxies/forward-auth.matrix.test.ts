import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import express from "express";
import { WebSocketServer } from "ws";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { cookieNameFor } from "../../src/sessions/cookie.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { listen } from "../adapters/applications/listen.js";
import { openSocket } from "./clients.js";
import {
  blocksOf,
  BROWSER_ADDRESS,
  HOSTNAME,
  ORIGIN,
  PROGRAMS,
  startProxy,
  type RunningProxy,
} from "./programs.js";

// docs/deploy/forward-auth.md: an application that isn't ours behind each proxy, with the page's
// configuration and the page's Node.js app.

const PAGE = "deploy/forward-auth.md";
const PAGE_TEXT = readFileSync(path.resolve(import.meta.dirname, "../../docs", PAGE), "utf8");
const COOKIE = "__Host-Http-idpauth";

/** Who signs in at the test provider. */
const SUBJECT = "ada-1815";

/** Headers of a browser that poses as another user. */
const FORGED = {
  "x-user": ["mallory", "mallory"],
  "X-USER": "mallory",
  x_user: "mallory",
  "x.user": "mallory",
  "x~user": "mallory",
  "x!user": "mallory",
  "x-forwarded-for": "203.0.113.9",
  "x-forwarded-host": "evil.example",
  "x-forwarded-proto": "http",
};
/** Headers of a browser that asks for another page. */
const FORGED_PAGES = {
  "x-original-uri": "/admin",
  "x-forwarded-uri": "/admin",
  "x-forwarded-method": "GET",
};

/** A request as the application behind the proxy got it. */
interface Seen {
  readonly target: string;
  readonly cookies: readonly string[];
  /** Bytes. */
  readonly body: number;
  /** Under each name that a server of CGI or WSGI, or PHP, takes for `X-User`. */
  readonly users: readonly string[];
  /** `X-Forwarded-For`, `-Host` and `-Proto`. */
  readonly forwarded: readonly string[];
}

const FORWARDED = [BROWSER_ADDRESS, HOSTNAME, "https"];
/** More than nginx accepts by default. */
const UPLOAD = 2 * 1024 * 1024;

function seenOf({ url = "", rawHeaders }: IncomingMessage, body: number): Seen {
  const under = (name: string): string[] =>
    rawHeaders.filter(
      (_value, at) =>
        at % 2 === 1 && rawHeaders[at - 1]?.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_") === name,
    );
  const forwarded = ["FOR", "HOST", "PROTO"].flatMap((each) => under(`X_FORWARDED_${each}`));
  return { target: url, cookies: under("COOKIE"), body, users: under("X_USER"), forwarded };
}

const PROXIES = [
  { proxy: "nginx", sample: 0, unavailable: 500 },
  { proxy: "caddy", sample: 1, unavailable: 503 },
  { proxy: "haproxy", sample: 0, unavailable: 503 },
] as const;

for (const { proxy, sample, unavailable } of PROXIES)
  describe.skipIf(PROGRAMS[proxy] === undefined)(`forward auth behind ${proxy}`, () => {
    const stops: (() => unknown)[] = [];
    const seen: Seen[] = [];
    /** The pages that the Node.js app heard of. */
    const pages: (string | undefined)[] = [];
    /** What the Node.js app got, as {@link Seen.forwarded}. */
    const asked: (readonly string[])[] = [];
    let running: RunningProxy;
    /** What the check responds instead. */
    let check: ((response: express.Response) => void) | undefined;

    /** The page's Node.js app. */
    function checkingApplication(provider: TestProvider, options: IdpAuthOptions): express.Express {
      const code = blocksOf(PAGE, "js")[sample] ?? "";
      const body = `${code.replace(/^import .*$/gm, "").replace("app.listen(3000);", "")}\nreturn app;`;

      const start = new Function("express", "idpAuth", body) as (
        ...given: readonly unknown[]
      ) => express.Express;
      const { clientId, clientSecret, issuer } = provider;
      const auth = () =>
        idpAuth({
          ...{ env: {}, log: false, secretKey: "a secret key of at least 32 bytes" },
          ...{ clientId, clientSecret, issuer, baseUrl: ORIGIN },
          ...options,
        });
      const application = start(express, auth);
      return express()
        .use((request, _response, next) => {
          asked.push(seenOf(request, 0).forwarded);
          next();
        })
        .use("/auth", (request, _response, next) => {
          const page = request.get(sample === 0 ? "X-Original-URI" : "X-Forwarded-Uri");
          if (sample === 1 || request.path === "/login") pages.push(page);
          next();
        })
        .get("/auth/check", (_request, response, next) => {
          if (check === undefined) next();
          else check(response);
        })
        .use(application);
    }

    async function start(
      configuration: string,
      options: IdpAuthOptions = {},
    ): Promise<RunningProxy> {
      const provider = await startTestProvider();
      stops.push(() => provider.stop());
      const checking = await listen(checkingApplication(provider, options));
      stops.push(() => checking.stop());
      const dashboard = await listen((request, response) => {
        let body = 0;
        request.on("data", (chunk: Buffer) => (body += chunk.length));
        request.on("end", () => {
          seen.push(seenOf(request, body));
          response.setHeader("Set-Cookie", "dashboard=1").end("dashboard");
        });
      });
      const sockets = new WebSocketServer({ server: dashboard.server });
      sockets.on("connection", (socket, request) => {
        seen.push(seenOf(request, 0));
        socket.send("hello");
      });
      stops.push(() => {
        for (const socket of sockets.clients) socket.terminate();
        return dashboard.stop();
      });
      const upstreams = { "localhost:3000": checking.port, "localhost:8080": dashboard.port };
      let replaced = {};
      if (proxy === "haproxy") {
        const folder = mkdtempSync(path.join(tmpdir(), "idpauth-forward-auth-"));
        stops.push(() => {
          rmSync(folder, { recursive: true });
        });
        const file = path.join(folder, "forward-auth.lua");
        const script = blocksOf(PAGE, "lua")[0] ?? "";
        writeFileSync(file, script.replace("127.0.0.1:3000", `127.0.0.1:${String(checking.port)}`));
        replaced = { "/etc/haproxy/forward-auth.lua": file };
      }
      const started = await startProxy(proxy, { configuration, upstreams, replaced });
      stops.push(() => started.stop());
      return started;
    }

    beforeAll(async () => {
      running = await start(blocksOf(PAGE, proxy)[0] ?? "");
    });
    afterAll(async () => {
      for (const stop of stops.splice(0).reverse()) await stop();
    });
    beforeEach(() => {
      seen.length = 0;
      pages.length = 0;
      asked.length = 0;
      check = undefined;
    });

    const open = (): CookieBrowser => new CookieBrowser(running.browser);
    const signedIn = async (): Promise<CookieBrowser> => {
      const user = open();
      await user.follow("/reports");
      seen.length = 0;
      return user;
    };
    /** The value of the user's session cookie. */
    const sessionOf = (user: CookieBrowser): string =>
      new RegExp(`${COOKIE}=([^;]+)`).exec(user.cookies.header(new URL(ORIGIN)) ?? "")?.[1] ?? "";

    it("a signed-out browser goes to the login and back to its page, and the application gets the user", async () => {
      const user = open();
      const blocked = await user.navigate("/reports?month=10&year=2026", { headers: FORGED });
      expect(blocked.status).toBe(302);
      expect(blocked.location).toContain("/idpauth/login/?");
      expect(seen).toEqual([]);
      const landed = await user.follow("/reports?month=10&year=2026");
      expect(landed.text).toBe("dashboard");
      expect(seen).toMatchObject([{ target: "/reports?month=10&year=2026", users: [SUBJECT] }]);
    });

    it("no spelling of X-User that a browser sends reaches the application", async () => {
      const user = await signedIn();
      await user.get("/reports", { headers: FORGED });
      await user.follow("/reports", { headers: FORGED });
      expect(seen.map(({ users }) => users)).toEqual([[SUBJECT], [SUBJECT]]);
    });

    it("forged X-Forwarded- headers reach neither the application nor the Node.js app", async () => {
      const user = open();
      await user.follow("/reports", { headers: FORGED });
      await user.get("/idpauth/session", { headers: FORGED });
      expect(seen).toMatchObject([{ forwarded: FORWARDED }]);
      expect(asked.length).toBeGreaterThan(3);
      expect(asked).toEqual(asked.map(() => FORWARDED));
    });

    it("with the cookie's name that the page gives, the application gets no session of a different mount path", async () => {
      const name = cookieNameFor(null, "/partners/idpauth/", true);
      expect(PAGE_TEXT).toContain(`\`${name}\``);
      const configuration = (blocksOf(PAGE, proxy)[0] ?? "").replaceAll(COOKIE, name);
      const other = await start(configuration, { cookieName: name });
      const user = new CookieBrowser(other.browser);
      await user.follow("/reports");
      await user.get("/reports");
      const session = user.cookies.value(name) ?? "";
      expect(session).toHaveLength(43);
      const cookies = seen.flatMap((each) => each.cookies);
      expect(cookies).toEqual([`${name}=`, expect.stringContaining("dashboard=1")]);
      expect(cookies.join()).not.toContain(session);
    });

    if (proxy === "nginx") {
      it("no spelling of X-User reaches the application, even if nginx accepts underscores in names", async () => {
        const configuration = (blocksOf(PAGE, "nginx")[0] ?? "").replace(
          "server {",
          "server {\n  underscores_in_headers on;",
        );
        const lenient = await start(configuration);
        const user = new CookieBrowser(lenient.browser);
        await user.follow("/reports", { headers: FORGED });
        expect(seen).toMatchObject([{ users: [SUBJECT] }]);
      });
    }

    it.each([
      ["without X-User", undefined],
      ["with an empty X-User", ""],
    ])("a check %s names nobody", async (_without, value) => {
      const user = await signedIn();
      check = (response) => {
        if (value !== undefined) response.setHeader("X-User", value);
        response.sendStatus(204);
      };
      await user.get("/reports", { headers: FORGED });
      expect(seen.flatMap(({ users }) => users)).toEqual([]);
      // The application sees that nginx's request has no user.
      expect(seen).toHaveLength(proxy === "nginx" ? 1 : 0);
    });

    it.each([
      ["forbids the request", 403, (response: express.Response) => response.sendStatus(403)],
      ["can't tell", unavailable, (response: express.Response) => response.sendStatus(503)],
      [
        "gives no response",
        expect.toSatisfy((status: number) => status >= 500),
        (response: express.Response) => response.destroy(),
      ],
    ])(
      "if the check %s, the request doesn't reach the application",
      async (_what, status, reply) => {
        const user = await signedIn();
        check = reply;
        expect((await user.get("/reports", { headers: FORGED })).status).toEqual(status);
        expect(seen).toEqual([]);
      },
    );

    it.each([
      "/reports%2f..%2fadmin",
      "/reports/%252e%252e/admin",
      "/reports//2026",
      "/reports;page=1/a;b",
      "/reports%3Fmonth=1",
      "/a%20b%C3%BC?q=%2f%20+&r",
      "/idpauth%2f..%2freports",
      "/reports?a=1&return_to=/admin&origin_url=https%3A%2F%2Fother.example&scheme=x",
    ])("%s is the same page for the check, the login and the application", async (target) => {
      const user = open();
      const landed = await user.follow(target, { headers: FORGED_PAGES });
      expect(landed.url.href).toBe(`${ORIGIN}${target}`);
      expect(pages[0]).toBe(target);
      await user.get(target);
      expect(seen.map((each) => each.target)).toEqual([target, target]);
    });

    it.each(["/idpauth/../reports", "/reports/%2e%2e/idpauth/session", "//other.example/reports"])(
      "%s doesn't reach the application without a session, and doesn't lead to another one",
      async (target) => {
        const user = open();
        await user.get(target, { headers: FORGED });
        expect(seen).toEqual([]);
        const landed = await user.follow(target);
        expect(landed.url.origin).toBe(ORIGIN);
      },
    );

    it("with two cookies of the session's name, the user is the session's, in any order", async () => {
      const user = await signedIn();
      const session = sessionOf(user);
      const planted = `${COOKIE}=${"x".repeat(43)}`;
      for (const cookie of [
        `${planted}; ${COOKIE}=${session}`,
        `${COOKIE}=${session}; ${planted}`,
        `a=1;  ${planted};${COOKIE}=${session}; b=2`,
      ]) {
        seen.length = 0;
        expect((await user.get("/reports", { headers: { cookie } })).status).toBe(200);
        expect(seen).toMatchObject([{ users: [SUBJECT] }]);
      }
    });

    it("the application gets its own cookies, and the value of no session cookie", async () => {
      const user = await signedIn();
      const session = `${COOKIE}=${sessionOf(user)}`;
      const sent = async (...cookies: string[]): Promise<string> => {
        seen.length = 0;
        expect((await user.get("/reports", { headers: { cookie: cookies } })).status).toBe(200);
        return seen.flatMap((each) => each.cookies).join("; ");
      };
      expect(await sent(session)).toBe(`${COOKIE}=`);
      expect(await sent(`${session}; a=1; b=2`)).toBe(`${COOKIE}=; a=1; b=2`);
      expect(await sent(`a=1; ${session}; b=2`)).toBe(`a=1; ${COOKIE}=; b=2`);
      expect(await sent(`a=1; b=2; ${session}`)).toBe(`a=1; b=2; ${COOKIE}=`);
      expect(await sent(`a=1; my${session}; ${session}`)).toBe(`a=1; my${session}; ${COOKIE}=`);
      for (const cookies of [
        [`${session}; a=1; ${session}`],
        [`a=1; ${session};${session}`],
        [`${session}; ${session}; ${session}`],
        [`a=1;   ${session}`],
        [`a=1`, session],
        [session, `${session}; a=1`],
      ]) {
        expect(await sent(...cookies), cookies.join("\n")).not.toContain(sessionOf(user));
      }
    });

    // The page's nginx speaks HTTP/1.1.
    if (proxy !== "nginx") {
      it("also over HTTP/2, where browsers send each cookie in a field of its own", async () => {
        const user = await signedIn();
        const session = `${COOKIE}=${sessionOf(user)}`;
        const { port, certificate: ca } = running;
        const client = connect(`https://127.0.0.1:${String(port)}`, { ca, servername: HOSTNAME });
        // Node.js sends the pairs of a list apart; its types know only one string.
        const cookie = ["a=1", session, "b=2", session] as unknown as string;
        const headers = { ":path": "/reports", ":authority": HOSTNAME, ...FORGED, cookie };
        const stream = client.request(headers);
        const [{ ":status": status }] = (await once(stream, "response")) as [IncomingHttpHeaders];
        client.destroy();
        expect(status).toBe(200);
        expect(seen).toMatchObject([
          { cookies: [`a=1; ${COOKIE}=; b=2; ${COOKIE}=`], users: [SUBJECT] },
        ]);
      });
    }

    it("a signed-out script or form gets 401, and nobody reaches the check from outside", async () => {
      const user = open();
      expect((await user.get("/api/numbers", { headers: FORGED })).status).toBe(401);
      const form = { method: "POST", body: "a=1", headers: FORGED_PAGES };
      expect((await user.navigate("/api/numbers", form)).status).toBe(401);
      expect((await user.get("/auth/check")).status).toBe(proxy === "nginx" ? 404 : 401);
      expect(seen).toEqual([]);
    });

    it("an upload reaches the application", async () => {
      const user = await signedIn();
      await user.get("/reports", { method: "POST", body: "a".repeat(UPLOAD) });
      expect(seen).toMatchObject([{ body: UPLOAD, users: [SUBJECT] }]);
    });

    it("a WebSocket opens for a signed-in user, and for nobody else", async () => {
      const socket = openSocket(running, await signedIn(), "/live");
      const [message] = (await once(socket, "message")) as [Buffer];
      expect(message.toString()).toBe("hello");
      socket.terminate();
      expect(seen).toMatchObject([{ target: "/live", users: [SUBJECT], forwarded: FORWARDED }]);
      const [error] = (await once(openSocket(running, open(), "/live"), "error")) as [Error];
      expect(error.message).toContain("401");
      expect(seen).toHaveLength(1);
    });
  });
