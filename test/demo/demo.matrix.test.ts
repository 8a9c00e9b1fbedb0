import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { startDemoProcess, type DemoProcess } from "../../scripts/demo-process.mjs";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { leaveOpen } from "../samples/hostile-client.js";
import { closed } from "../support/closed.js";
import { race, signedIn } from "./demo-user.js";

const PATIENCE = 240_000;

describe("the demo", () => {
  let demo: DemoProcess;
  beforeAll(async () => {
    demo = await startDemoProcess("main.js");
  }, PATIENCE);
  afterAll(() => demo.end());

  it("has two providers, whose users see their own name", async () => {
    const [staff, customer] = await Promise.all([
      signedIn(demo.origin, "staff"),
      signedIn(demo.origin, "customers"),
    ]);
    expect((await staff.get("/api/me")).json()).toMatchObject({ name: "Ada Lovelace" });
    expect((await customer.get("/api/me")).json()).toMatchObject({ name: "Mary Somerville" });
  });

  it("sends 200 requests after the tokens have expired: all succeed, with one token request", async () => {
    const user = await signedIn(demo.origin, "staff");
    const before = (await user.get("/idpauth/session?details=true")).json() as {
      expires_in: number;
    };
    expect(before.expires_in).toBeGreaterThan(250);
    expect(await race(user, "/demo/race")).toMatchObject({ succeeded: 200, tokenRequests: 1 });
    expect(await race(user, "/demo/race")).toMatchObject({ succeeded: 200, tokenRequests: 1 });
  }, 60_000);

  it("nobody succeeds in the race without a session", async () => {
    const stranger = new CookieBrowser({ origin: demo.origin });
    expect(await race(stranger, "/demo/race")).toMatchObject({ succeeded: 0, tokenRequests: 0 });
  });

  it("the API behind the proxy gets a token of the user, from either provider", async () => {
    for (const [provider, sub] of [
      ["staff", "ada"],
      ["customers", "mary"],
    ] as const) {
      const user = await signedIn(demo.origin, provider);
      expect((await user.get("/api/orders/items")).json()).toMatchObject({ token: { sub } });
    }
    const stranger = new CookieBrowser({ origin: demo.origin });
    expect((await stranger.get("/api/orders/items")).status).toBe(401);
  });

  it("an old sign-in doesn't suffice for a transfer", async () => {
    const user = await signedIn(demo.origin, "staff");
    const transfer = () => user.get("/api/transfer", { method: "POST" });
    expect((await transfer()).json()).toMatchObject({ maxAge: 60 });
    await race(user, "/demo/race");
    const refused = await transfer();
    expect([refused.status, refused.json()]).toMatchObject([
      401,
      { error: "insufficient_user_authentication" },
    ]);
  });

  it("other sites can't use the controls", async () => {
    const user = await signedIn(demo.origin, "staff");
    for (const address of ["/demo/race", "/demo/outage?of=store", "/demo/kill?name=app"]) {
      const from = "https://other.example/";
      expect((await user.get(address, { method: "POST", from })).status).toBe(403);
      expect((await fetch(demo.origin + address, { method: "POST" })).status).toBe(403);
    }
    expect((await user.get("/api/me")).status).toBe(200);
  });

  it("no request ends the demo", async () => {
    const { hostname, port } = new URL(demo.origin);
    const socket = connect(Number(port), hostname);
    socket.end(`GET // HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);

    const user = await signedIn(demo.origin, "staff");
    const open = new WebSocket(`${demo.origin.replace("http", "ws")}/api/orders/socket`, {
      headers: { cookie: user.cookies.header(new URL(demo.origin)) ?? "" },
      origin: demo.origin,
    });
    open.once("open", () => {
      open.send("longer than the API accepts".repeat(100));
    });
    await closed(open);
    expect((await user.get("/api/me")).status).toBe(200);
  });

  it("another spelling of the hostname leads to the address that the demo prints", async () => {
    const address = demo.origin.replace("127.0.0.1", "localhost");
    const response = await fetch(`${address}/?a=b`, { redirect: "manual" });
    expect(response.headers.get("location")).toBe(`${demo.origin}/?a=b`);
  });

  it("a port that can't be used is an error that says what to do", async () => {
    const { port } = new URL(demo.origin);
    await expect(startDemoProcess("main.js", { PORT: port })).rejects.toThrow(
      /ended with 1 .*EADDRINUSE.*Set PORT to a free port/s,
    );
    await expect(startDemoProcess("main.js", { PORT: "http" })).rejects.toThrow(
      'PORT is "http", which isn\'t a port',
    );
  });
});

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "on %s the demo ends with 0 and leaves nothing, even while a stream is open and strangers leave connections open",
  async (signal) => {
    const demo = await startDemoProcess("main.js");
    const user = await signedIn(demo.origin, "staff");
    const stream = await fetch(`${demo.origin}/api/orders/stream`, {
      headers: { cookie: user.cookies.header(new URL(demo.origin)) ?? "" },
    });
    expect(stream.status).toBe(200);
    const text = stream.text().catch(() => "broken off");
    await leaveOpen(Number(new URL(demo.origin).port), "/api/orders/socket");
    expect(await demo.end(signal)).toMatchObject({ code: 0, left: [], stderr: "" });
    expect(await text).toMatch(/parcel 1|broken off/);
  },
  PATIENCE,
);
