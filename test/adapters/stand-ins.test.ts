// Whole sign-ins through messages that no server has made.
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { LogEntry } from "../../src/index.js";
import { startTestProvider } from "../../src/testing/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import { signedInAs } from "../../src/testing/index.js";
import { STAND_INS, type Received, type Send, type Sent } from "./stand-ins.js";
import { stoppedAfterEach } from "../support/stopped-after-each.js";
import { UNREACHED } from "../support/options-for.js";

const running = stoppedAfterEach();

/** An API that responds with the request's method, body, Authorization and client. */
async function startApi(): Promise<string> {
  const server: Server = createServer((message: IncomingMessage, response) => {
    void text(message).then((body) => {
      const { method, headers } = message;
      if (message.url === "/v2/broken") {
        response.writeHead(200, { "Content-Length": "100" }).write("a part");
        setTimeout(() => response.destroy(), 50);
        return;
      }
      const events = message.url === "/v2/events";
      response.setHeader("Content-Type", events ? "text/event-stream" : "application/json");
      response.end(
        events
          ? "data: 1\n\n"
          : JSON.stringify({
              method,
              body,
              authorization: headers.authorization,
              from: headers["x-forwarded-for"],
            }),
      );
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  running.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v2/`;
}

/** A browser that keeps the session's cookie. */
function browserOf(send: Send) {
  let cookie = "";
  return async (sent: Sent): Promise<Received> => {
    const response = await send({
      ...sent,
      headers: {
        "sec-fetch-site": "same-origin",
        ...(cookie !== "" && { cookie }),
        ...sent.headers,
      },
    });
    const [set] = response.cookies;
    if (set !== undefined) cookie = /max-age=0/i.test(set) ? "" : (set.split(";", 1)[0] ?? "");
    return response;
  };
}

describe.each(Object.entries(STAND_INS))("%s", (_name, start) => {
  async function open() {
    const provider = await startTestProvider();
    running.push(() => provider.stop());
    const url = await startApi();
    const log: LogEntry[] = [];
    const { issuer, clientId, clientSecret } = provider;
    const send = await start({
      env: {},
      issuer,
      clientId,
      clientSecret,
      secretKey: "a secret key of at least 32 bytes!",
      baseUrl: "http://app.example",
      apis: { orders: { url, path: "/api/orders/" } },
      log: (entry) => void log.push(entry),
    });
    const browser = browserOf(send);
    async function signIn(): Promise<void> {
      const login = await browser({ path: "/idpauth/login/" });
      expect([login.status, login.text]).toEqual([302, ""]);
      const callback = new URL(await provider.signInCode(login.headers["location"] ?? ""));
      const back = await browser({ path: `${callback.pathname}${callback.search}` });
      expect([back.status, back.headers["location"]]).toEqual([302, "/idpauth/"]);
    }
    return { browser, signIn, provider, log };
  }

  it("a user signs in, sees guarded pages, and signs out", async () => {
    const { browser, signIn } = await open();
    const page = await browser({
      path: "/reports",
      headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
    });
    expect([page.status, page.headers["location"]?.split("?")[0]]).toEqual([
      302,
      "/idpauth/login/",
    ]);
    expect((await browser({ path: "/reports" })).status).toBe(401);
    await signIn();
    const reports = await browser({ path: "/reports" });
    expect([reports.status, JSON.parse(reports.text)]).toMatchObject([
      200,
      { email: "ada@example.com" },
    ]);
    expect(reports.headers["cache-control"]).toBe("private, no-store");
    expect(reports.headers["vary"]).toMatch(/cookie/i);
    const index = await browser({ path: "/idpauth/" });
    expect([index.status, index.headers["content-type"]]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(JSON.parse((await browser({ path: "/idpauth/session" })).text)).toMatchObject({
      authenticated: true,
    });
    const logout = await browser({ path: "/idpauth/logout/?response=json" });
    expect([logout.status, JSON.parse(logout.text)]).toMatchObject([200, { status: "logged_out" }]);
    expect((await browser({ path: "/reports" })).status).toBe(401);
  });

  it("requests reach the API with their bodies and the user's token", async () => {
    const { browser, signIn, provider, log } = await open();
    expect((await browser({ path: "/api/orders/items" })).status).toBe(401);
    await signIn();
    const token = provider.issued.findLast(({ kind }) => kind === "access_token")?.value;
    for (const [method, body] of [
      ["GET", undefined],
      ["POST", '{ "a": 1.0 }'],
      ["PUT", "x".repeat(100_000)],
      ["POST", "x".repeat(100_000)],
      ["DELETE", undefined],
    ] as const) {
      const response = await browser({
        method,
        path: "/api/orders/items",
        ...(body !== undefined && { body, headers: { "content-type": "application/json" } }),
      });
      expect([response.status, JSON.parse(response.text), log]).toMatchObject([
        200,
        { method, body: body ?? "", authorization: `Bearer ${String(token)}` },
        log.filter(({ code }) => code !== "api_failed"),
      ]);
    }
    const events = await browser({ path: "/api/orders/events" });
    expect([events.status, events.text, events.headers["content-type"]]).toEqual([
      200,
      "data: 1\n\n",
      "text/event-stream",
    ]);
  });
});

describe.each(Object.entries(STAND_INS))("over %s", (_name, start) => {
  it("a response that the API breaks off fails, and waits for nothing", async () => {
    const options = {
      ...UNREACHED,
      baseUrl: "http://app.example",
      apis: { orders: { url: await startApi(), path: "/api/orders/" } },
      store: memoryStore(),
      log: false as const,
    };
    const cookie = await signedInAs(nodeAuth(options), undefined, { tokens: { token: "at" } });
    const send = await start(options);
    const got = await send({ path: "/api/orders/broken", headers: { cookie } }).then(
      ({ status }) => status,
      () => "failed",
    );
    expect(["failed", 500]).toContain(got);
  });
});

describe("a message and a response as mocks of node:http make them", () => {
  const log: LogEntry[] = [];

  async function open() {
    const url = await startApi();
    const auth = nodeAuth({
      ...UNREACHED,
      baseUrl: "http://app.example",
      apis: { orders: { url, path: "/api/orders/" } },
      log: (entry) => void log.push(entry),
    });
    const cookie = await signedInAs(
      auth,
      { email: "ada@example.com" },
      { tokens: { token: "at" } },
    );
    const headers = {
      host: "app.example",
      cookie,
      "content-length": "2",
      "sec-fetch-site": "same-origin",
    };
    const message = Object.assign(new EventEmitter(), {
      method: "POST",
      url: "/api/orders/items",
      headers,
      body: {},
    });
    return { auth, message };
  }

  it("a body that is no stream, but parsed, is an error with a name, and does not reach the API", async () => {
    const { auth, message } = await open();
    const sent = await new Promise<object>((resolve) => {
      const response = {
        statusCode: 200,
        setHeader: () => undefined,
        getHeader: () => undefined,
        end: (text: string) => resolve({ status: response.statusCode, ...JSON.parse(text) }),
      };
      auth.listener(auth.proxyApi("orders")(() => undefined))(message as never, response as never);
    });
    expect(sent).toMatchObject({ status: 500, code: "api_body_consumed" });
    expect(log.map(({ code }) => code)).toContain("api_failed");
  });

  it("a response that takes no header ends no process", async () => {
    const { auth, message } = await open();
    const destroyed = new Promise<void>((resolve) => {
      const response = {
        getHeader: () => undefined,
        setHeader() {
          throw new Error("no headers");
        },
        destroy: resolve,
      };
      auth.listener(auth.idpRequired(() => undefined))(message as never, response as never);
    });
    await destroyed;
  });
});
