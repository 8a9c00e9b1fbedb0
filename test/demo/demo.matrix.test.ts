import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { BrowserResponse, CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider } from "../../src/testing/provider/test-provider.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { choose, DemoProcess } from "./demo-process.js";

const running: DemoProcess[] = [];
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL")));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

function start(env?: Readonly<Record<string, string>>): DemoProcess {
  const demo = new DemoProcess(env);
  running.push(demo);
  return demo;
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const HOSTS = ["express", "fastify", "hono", "koa", "node", "fetch"] as const;
const SURROUNDINGS: readonly Readonly<Record<string, string>>[] = [
  {},
  { DEMO_SESSIONS: "memory" },
  { DEMO_SESSIONS: "host" },
  ...HOSTS.slice(1).map((host) => ({ DEMO_HOST: host })),
  { DEMO_HOST: "fastify", DEMO_SESSIONS: "host" },
];

/** Opens an event stream. The inner promise gives its text when it has ended. */
async function openStream(
  browser: CookieBrowser,
  address: string,
): Promise<{ readonly text: Promise<string> }> {
  const response = await fetch(address, {
    headers: { cookie: browser.cookies.header(new URL(address)) ?? "" },
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^text\/event-stream/),
  ]);
  return { text: response.text() };
}

describe.each(SURROUNDINGS)("the demo with %o", (env) => {
  it("signs a user in who requested a guarded page, and redirects them back to it", async () => {
    const demo = start(env);
    const browser = await demo.browser();

    const home = await browser.navigate("/");
    expect(home.status).toBe(200);
    for (const link of ["/reports", "/api/reports", "/api/userinfo", "/idpauth/"])
      expect(home.text).toContain(`href="${link}"`);

    const choice = await browser.follow("/reports?month=10");
    expect(choice.text).toContain("Who is signing in?");
    for (const name of ["Ada Lovelace", "Grace Hopper", "Alan Turing"])
      expect(choice.text).toContain(name);

    const reports = await choose(browser, choice, "ada");
    expect(reports.status).toBe(200);
    expect(reports.url.href).toBe(`${await demo.origin()}/reports?month=10`);
    expect(reports.text).toContain("Signed in as Ada Lovelace");
    expect(reports.text).toContain("ada@example.com");

    const asJson = await browser.get("/api/reports");
    expect(asJson.status).toBe(200);
    expect(asJson.json().user).toEqual({
      email: "ada@example.com",
      name: "Ada Lovelace",
      picture: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/pictures\/ada\.svg$/),
    });

    const userinfo = await browser.get("/api/userinfo");
    expect(userinfo.status).toBe(200);
    expect(userinfo.json()).toMatchObject({
      sub: "ada",
      email: "ada@example.com",
      email_verified: true,
      name: "Ada Lovelace",
    });

    const stream = await openStream(browser, `${await demo.origin()}/api/stream`);
    expect((await browser.follow("/idpauth/logout/")).status).toBe(200);
    expect((await browser.get("/api/reports")).status).toBe(401);
    expect(await stream.text).toMatch(
      /^(?:event: tick\ndata: \d+\n\n)*event: ended\ndata: logout\n\n$/,
    );

    expect(demo.stdout).toContain(`Host:     ${env["DEMO_HOST"] ?? "express"}\n`);
    const { code, stderr } = await demo.kill();
    expect([code, stderr.match(/[EW]\d{3}/g)]).toEqual([
      0,
      env["DEMO_SESSIONS"] === "host" ? ["W006"] : null,
    ]);
  });
});

it.each(HOSTS)(
  "the embedded provider ends a session of the demo with %s, and its event stream closes with that reason",
  async (host) => {
    const demo = start({ DEMO_HOST: host });
    const browser = await demo.browser();
    await choose(browser, await browser.follow("/reports"), "ada");
    const stream = await openStream(browser, `${await demo.origin()}/api/stream`);
    const issuer = /Provider: (\S+)/.exec(demo.stdout)?.[1] ?? "";
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const ended = await browser.get(`${issuer}/end/ada`, {
      method: "POST",
      headers: form,
      body: "",
    });
    expect(ended.text).toContain("The application accepted 1 of 1 logout tokens.");
    expect(await stream.text).toMatch(/event: ended\ndata: logged_out_at_provider\n\n$/);
    expect((await browser.get("/api/reports")).status).toBe(401);
  },
);

describe("the demo on each framework", () => {
  const ASKED: readonly (readonly [method: string, path: string, body?: string])[] = [
    ...[
      "/",
      "/demo.css",
      "/favicon.ico",
      "/nowhere",
      "/Reports",
      "/reports/",
      "/idpauth/session",
      "/idpauth/nothing",
    ].flatMap((address) => ["GET", "HEAD"].map((method) => [method, address] as const)),
    ["GET", "/reports?month=10"],
    ["GET", "/api/reports"],
    ["HEAD", "/reports"],
    ["GET", "/api/me"],
    ["POST", "/api/visits"],
    ["GET", "/api/visits"],
    ["GET", "/api/admin"],
    ["HEAD", "/admin"],
    ["GET", "/api/transfer"],
    ["HEAD", "/transfer"],
    ["POST", "/"],
    ["POST", "/reports"],
    ["POST", "/idpauth/session"],
    ...[
      "/app",
      "/app/",
      "/app/devices?from=mail",
      "/app/assets/nothing.js",
      "/app/api/nothing",
      "/application",
    ].flatMap((address) => ["GET", "HEAD"].map((method) => [method, address] as const)),
    ["GET", "/app/api/items"],
    ["POST", "/app/api/items", '{"text":"Weigh the cards"}'],
    ["POST", "/app/api/items", '{"text":""}'],
    ["POST", "/app/api/items", "x".repeat(5000)],
    ["POST", "/app/api/near-end"],
  ];

  it("responds the same, with the same headers, to a stranger and to a user", async () => {
    const provider = await startTestProvider();
    const port = String(await freePort());
    try {
      const seen = [];
      for (const host of HOSTS) {
        // One after the other at one address, which is in the answers.
        const demo = start({
          DEMO_HOST: host,
          DEMO_SESSIONS: "memory",
          PORT: port,
          IDP_ISSUER: provider.issuer,
          IDP_CLIENT_ID: provider.clientId,
          IDP_CLIENT_SECRET: provider.clientSecret,
        });
        const browser = await demo.browser();
        const answers = new Map<string, unknown>();
        for (const who of ["stranger", "user"]) {
          for (const [method, address, body = ""] of ASKED) {
            const headers = { "x-idpauth": "1", "content-type": "application/json" };
            const own = method === "POST" ? { method, headers, body } : { method };
            answers.set(
              `${who}: ${method} ${address} ${body}`,
              seenOf(await browser.get(address, own)),
            );
          }
          const foreign = { method: "POST", from: "https://other.example" };
          answers.set(`${who}: a POST of another site`, seenOf(await browser.get("/", foreign)));
          answers.set(
            `${who}: click on /reports`,
            seenOf(await browser.navigate("/reports?month=10")),
          );
          if (who === "stranger")
            expect((await browser.follow("/idpauth/login/")).status).toBe(200);
        }
        provider.fault("userinfo", { kind: "status", status: 500 });
        answers.set("no userinfo", seenOf(await browser.get("/api/userinfo")));
        provider.clearFaults();
        seen.push(answers);
        await demo.kill();
      }
      const [express, ...others] = seen;
      expect(express!.get("no userinfo")).toMatchObject({ status: 502 });
      expect(express!.get("stranger: GET /app/devices?from=mail ")).toMatchObject({
        status: 200,
        text: expect.stringContaining("/app/assets/") as string,
      });
      expect(express!.get("stranger: GET /app/assets/nothing.js ")).toMatchObject({ status: 404 });
      expect(express!.get('user: POST /app/api/items {"text":"Weigh the cards"}')).toMatchObject({
        status: 201,
      });
      expect(express!.get(`user: POST /app/api/items ${"x".repeat(5000)}`)).toMatchObject({
        status: 400,
      });
      expect(express!.get("user: a POST of another site")).toMatchObject({ status: 403 });
      for (const [index, other] of others.entries())
        expect([HOSTS[index + 1], other]).toEqual([HOSTS[index + 1], express]);
    } finally {
      await provider.stop();
    }
  });

  it.each(HOSTS)(
    "%s responds with 503 while the provider is down, and nobody is signed out",
    async (host) => {
      const provider = await startTestProvider({ idTokenSeconds: 1 });
      try {
        const client = {
          IDP_ISSUER: provider.issuer,
          IDP_CLIENT_ID: provider.clientId,
          IDP_CLIENT_SECRET: provider.clientSecret,
        };
        const browser = await start({
          DEMO_HOST: host,
          DEMO_SESSIONS: "memory",
          SCOPE: "openid offline_access",
          ...client,
        }).browser();
        await browser.follow("/reports");
        provider.fault("token", { kind: "status", status: 503 });
        await eventually(async () => expect((await browser.get("/api/reports")).status).toBe(503));
        const page = await browser.navigate("/reports");
        expect([page.status, page.setCookies]).toEqual([503, []]);
        expect(page.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
        provider.clearFaults();
        await eventually(async () => expect((await browser.get("/api/reports")).status).toBe(200));
      } finally {
        await provider.stop();
      }
    },
  );

  /**
   * Whatever a user can see; what differs from one moment or one connection to the next is left
   * out.
   */
  function seenOf({ status, headers, text }: BrowserResponse): object {
    const {
      date: _date,
      connection: _connection,
      "keep-alive": _alive,
      "content-length": _length,
      ...rest
    } = headers;
    const { "transfer-encoding": _encoding, "set-cookie": _cookies, ...same } = rest;
    return { status, headers: same, text };
  }
});

describe("the demo with its embedded provider", () => {
  it("responds to a script without a session with 401 on both guarded interfaces", async () => {
    const browser = await start().browser();
    for (const path of ["/api/reports", "/api/userinfo"]) {
      const answer = await browser.get(path);
      expect(answer.status).toBe(401);
      expect(answer.json()).toMatchObject({ authenticated: false, error: "login_required" });
    }
  });

  it("prints where to click and nothing that alarms without reason", async () => {
    const demo = start();
    const origin = await demo.origin();
    expect(demo.stdout).toMatch(/^Provider: http:\/\/127\.0\.0\.1:\d+ /m);
    expect(demo.stdout).toContain(`Demo:     ${origin}/`);
    const browser = await demo.browser();
    await choose(browser, await browser.follow("/reports"), "grace");
    const { stderr } = await demo.kill();
    expect(stderr).toBe("");
  });

  it("has no raw words for a sign-in that has ended", async () => {
    const browser = await start().browser();
    const choice = await browser.follow("/reports");
    await choose(browser, choice, "ada");
    const stale = await browser.navigate(choice.url);
    expect(stale.status).toBe(400);
    const paragraphs = [...stale.text.matchAll(/<p>(.*?)<\/p>/g)].map(([, text]) => text);
    expect(paragraphs).toEqual(["Go back to the application and sign in again."]);
  });

  it("has the user choose again at each sign-in, so that another user can sign in", async () => {
    const browser = await start().browser();
    await choose(browser, await browser.follow("/reports"), "ada");
    await choose(browser, await browser.follow("/idpauth/login/"), "alan");
    expect((await browser.get("/api/reports")).json().user.name).toBe("Alan Turing");
  });

  it("comes back with an explanation when the user cancels", async () => {
    const browser = await start().browser();
    const back = await choose(browser, await browser.follow("/reports"), "cancel");
    expect(back.status).toBe(200);
    expect(back.url.pathname + back.url.search).toBe("/idpauth/?error=access_denied");
  });

  it("renews a short ID token silently, again and again, as the provider rotates", async () => {
    const browser = await start({ DEMO_ID_TOKEN_SECONDS: "1" }).browser();
    await choose(browser, await browser.follow("/reports"), "ada");
    for (let round = 0; round < 3; round++) {
      const probe = await browser.get("/idpauth/session?details=true");
      expect(probe.json()).toMatchObject({ authenticated: true });
      // The provider's clock is the real one: wait for the second that the token names, no longer.
      await delay((probe.json().expires_in as number) * 1000 + 10);
    }
    expect((await browser.get("/api/reports")).status).toBe(200);
  });

  it("serves the pictures and the stylesheet that its pages name", async () => {
    const browser = await start().browser();
    const choice = await browser.follow("/reports");
    for (const file of ["/demo.css", "/pictures/ada.svg"])
      expect((await browser.get(new URL(file, choice.url))).status).toBe(200);
    expect((await browser.get("/demo.css")).headers["content-type"]).toContain("text/css");
  });

  it("honours IDP_MOUNT_PATH and IDP_TOKEN_ENDPOINT_AUTH_METHOD", async () => {
    const browser = await start({
      IDP_MOUNT_PATH: "/who/",
      IDP_TOKEN_ENDPOINT_AUTH_METHOD: "client_secret_basic",
    }).browser();
    expect((await choose(browser, await browser.follow("/reports"), "ada")).text).toContain(
      "Signed in as Ada Lovelace",
    );
  });

  it("works under localhost as well when BASE_URL is unset", async () => {
    const demo = start({ BASE_URL: "" });
    const browser = await demo.browser();
    const choice = await browser.follow(
      `${(await demo.origin()).replace("127.0.0.1", "localhost")}/reports`,
    );
    const reports = await choose(browser, choice, "ada");
    expect(reports.url.hostname).toBe("localhost");
    expect(reports.text).toContain("Signed in as Ada Lovelace");
  });

  it.each<[string, Record<string, string>, number[]]>([
    ["by default, without front-channel logout", {}, [400, 404, 302]],
    [
      "as the environment says",
      { IDP_BACKCHANNEL_LOGOUT: "off", IDP_FRONTCHANNEL_LOGOUT: "on", IDP_SESSIONS_PAGE: "off" },
      [404, 400, 404],
    ],
  ])("has the endpoints of logout %s", async (_, env, expected) => {
    const browser = await start(env).browser();
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const answers = [
      await browser.get("/idpauth/backchannel-logout", { method: "POST", headers: form, body: "" }),
      await browser.get("/idpauth/frontchannel-logout"),
      await browser.navigate("/idpauth/sessions"),
    ];
    expect(answers.map(({ status }) => status)).toEqual(expected);
  });

  it("responds to an unknown address with 404", async () => {
    expect((await (await start().browser()).navigate("/nowhere")).status).toBe(404);
  });
});

describe("a check that fails ends the demo with a non-zero code and the whole list on stderr", () => {
  it.each<[string, Record<string, string>, string[]]>([
    ["SECRET_KEY is empty: E001", { SECRET_KEY: "" }, ["E001"]],
    ["a client without its secret: E003", { IDP_CLIENT_ID: "client" }, ["E003"]],
    ["an issuer alone: E003", { IDP_ISSUER: "https://provider.example" }, ["E003"]],
    [
      "everything at once: E001, E003, E005",
      { SECRET_KEY: "", IDP_CLIENT_ID: "client", SCOPE: "email" },
      ["E001", "E003", "E005"],
    ],
    [
      "the same with the host's sessions",
      { SECRET_KEY: "", IDP_CLIENT_ID: "", DEMO_SESSIONS: "host" },
      ["E001", "E003"],
    ],
  ])("%s", async (_, env, codes) => {
    const { code, stderr } = await start(env).ended;
    expect(code).toBe(1);
    for (const expected of codes) expect(stderr).toContain(expected);
    expect(stderr).not.toContain("    at ");
  });

  it.each([
    ["DEMO_HOST", "rails", "there is: express, fastify, hono, koa, node, fetch"],
    [
      "DEMO_SESSIONS",
      "redis",
      'is "redis"; there is: memory, host, sqlite:PATH (or sqlite, the default), redis://',
    ],
    ["DEMO_SESSIONS", "sqlite:", "there is: memory, host, sqlite:PATH"],
    [
      "DEMO_SESSIONS",
      "mysql://me:hidden@127.0.0.1/sessions",
      "there is: memory, host, sqlite:PATH",
    ],
    ["DEMO_SESSIONS", "postgres://[/", "postgres://USER@HOST/DATABASE"],
    ["PORT", "http", "a whole number from 0 to 65535"],
    ["DEMO_ID_TOKEN_SECONDS", "0", "a whole number from 1"],
    ["DEMO_PROVIDERS", "3", "a whole number from 1 to 2"],
  ])("%s=%s is refused with what there is instead", async (name, value, expected) => {
    const { code, stderr } = await start({ [name]: value }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(name);
    expect(stderr).toContain(expected);
    expect(stderr).not.toContain("hidden");
  });

  it.each(["hono", "koa", "node", "fetch"])(
    "DEMO_SESSIONS=host is refused with DEMO_HOST=%s, and the frameworks with sessions are named",
    async (host) => {
      const { code, stderr } = await start({ DEMO_HOST: host, DEMO_SESSIONS: "host" }).ended;
      expect([code, stderr]).toEqual([
        1,
        `DEMO_SESSIONS is "host", but DEMO_HOST=${host} has no server-side sessions of its own. ` +
          "Hosts that have: express (express-session), fastify (@fastify/session).\n",
      ]);
    },
  );

  it.each(HOSTS)("%s does not start, and says why", async (host) => {
    const { code, stderr } = await start({
      DEMO_HOST: host,
      SECRET_KEY: "",
      IDP_CLIENT_ID: "client",
    }).ended;
    expect(code).toBe(1);
    for (const expected of ["E001", "E003"]) expect(stderr).toContain(expected);
    expect(stderr).not.toContain("    at ");
  });

  it("a port that is taken is said plainly", async () => {
    const port = await listening(createServer());
    const { code, stderr } = await start({ PORT: String(port) }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain("Set PORT to another one");
  });
});

describe("the demo with an outside provider", () => {
  const client = { IDP_CLIENT_ID: "client", IDP_CLIENT_SECRET: "secret" };

  it("starts while the provider is down: public pages work, the sign-in says 503", async () => {
    const closed = createServer();
    const port = await listening(closed);
    await new Promise((resolve) => closed.close(resolve));
    const demo = start({ ...client, IDP_ISSUER: `http://127.0.0.1:${port}` });
    const browser = await demo.browser();
    expect(demo.stdout).not.toContain("Provider:");
    expect((await browser.navigate("/")).status).toBe(200);
    expect((await browser.get("/api/reports")).status).toBe(401);
    expect((await browser.navigate("/idpauth/login/")).status).toBe(503);
  });

  it("ends on SIGTERM when the running requests have their responses", async () => {
    const provider = createServer();
    const asked = new Promise<ServerResponse>((resolve) =>
      provider.once("request", (_request, response) => resolve(response)),
    );
    const port = await listening(provider);
    const demo = start({ ...client, IDP_ISSUER: `http://127.0.0.1:${port}` });
    const browser = await demo.browser();
    const login = browser.navigate("/idpauth/login/");
    const discovery = await asked;
    // Twice at once, as when a terminal tells npm and the demo, and npm tells the demo.
    void demo.kill();
    const ended = demo.kill();
    discovery.writeHead(500).end();
    expect((await login).status).toBe(503);
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("ends on SIGTERM when a refresh is done whose user has left, so that nobody is signed out", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "demo-refresh-"));
    const provider = await startTestProvider({ idTokenSeconds: 1 });
    try {
      const env = {
        TMPDIR: folder,
        IDP_ISSUER: provider.issuer,
        IDP_CLIENT_ID: provider.clientId,
        IDP_CLIENT_SECRET: provider.clientSecret,
        SCOPE: "openid offline_access",
      };
      const first = start(env);
      const browser = await first.browser();
      expect((await browser.follow("/idpauth/login/")).status).toBe(200);
      // The provider's clock is the real one.
      await delay(2_010);
      // It spends the token, and then its answer is on the way for a while.
      const answer = provider.hold("token", { before: false });
      const leaving = new AbortController();
      const probe = browser.get("/idpauth/session", { signal: leaving.signal }).catch(() => "gone");
      await answer.arrived;
      leaving.abort();
      expect(await probe).toBe("gone");
      const ended = first.kill();
      await expect.poll(() => isListening(first)).toBe(false);
      answer.release();
      expect(await ended).toMatchObject({ code: 0, signal: null });

      const second = start(env);
      const after = await browser.get(`${await second.origin()}/idpauth/session`);
      expect(after.json()).toMatchObject({ authenticated: true });
      expect(provider.reuses).toBe(0);
    } finally {
      await provider.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  /** Whether it takes a connection. */
  async function isListening(demo: DemoProcess): Promise<boolean> {
    const socket = connect(Number(new URL(await demo.origin()).port), "127.0.0.1");
    try {
      await once(socket, "connect");
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
});

describe("SIGTERM, SIGINT and SIGHUP", () => {
  it.each([
    ["an idle connection", ""],
    ["half a request line", "GET /rep"],
    ["half the headers", "GET /reports HTTP/1.1\r\nHost: x\r\nAcc"],
  ])("%s, as browsers open them ahead of a click, does not keep the demo", async (_what, text) => {
    const demo = start();
    const { port } = new URL(await demo.origin());
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    if (text !== "") await new Promise((resolve) => socket.write(text, resolve));
    expect(await demo.kill()).toMatchObject({ code: 0, signal: null });
  });

  it("SIGHUP of a terminal that is gone ends it like the others", async () => {
    const demo = start();
    await demo.origin();
    demo.closeConsole();
    expect(await demo.kill("SIGHUP")).toMatchObject({ code: 0, signal: null });
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "%s ends the demo, though a browser keeps its connection and has begun another request",
    async (signal) => {
      const demo = start();
      const origin = new URL(await demo.origin());
      const socket = connect(Number(origin.port), "127.0.0.1");
      const answered = new Promise((resolve) => socket.once("data", resolve));
      socket.on("error", () => {});
      socket.write(`GET / HTTP/1.1\r\nHost: ${origin.host}\r\n\r\n`);
      await answered;
      await new Promise((resolve) => socket.write("GET /rep", resolve));
      expect(await demo.kill(signal)).toMatchObject({ code: 0, signal: null });
      socket.destroy();
    },
  );
});
