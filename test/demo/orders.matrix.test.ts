import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { eventually } from "../support/eventually.js";
import { choose, DemoProcess } from "./demo-process.js";

const running: DemoProcess[] = [];

afterEach(() => Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL"))));

async function start(
  env: Readonly<Record<string, string>>,
): Promise<{ demo: DemoProcess; browser: CookieBrowser }> {
  const demo = new DemoProcess(env);
  running.push(demo);
  return { demo, browser: await demo.browser() };
}

const signIn = async (browser: CookieBrowser, person = "ada", path = "/orders") =>
  choose(browser, await browser.follow(path), person);

const apiOf = (demo: DemoProcess) => /^Orders: +(\S+)/m.exec(demo.stdout)?.[1] ?? "";
const OWN = { "x-idpauth": "1" };

/**
 * Opens an event stream, and reads its first event. `ended` resolves when it ends, however that
 * happens.
 */
async function openStream(browser: CookieBrowser, address: string) {
  const response = await fetch(address, {
    headers: { cookie: browser.cookies.header(new URL(address)) ?? "" },
  });
  const reader = response.body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  const ended = (async () => {
    while (!(await reader.read()).done);
  })().catch(() => undefined);
  return { status: response.status, first, ended };
}

/**
 * Opens a WebSocket. Returns its first message, or the status that refuses it, and a promise of the
 * code with which it closes.
 */
async function openSocket(browser: CookieBrowser, origin: string, from = origin) {
  const address = `${origin}/api/orders/socket`;
  const headers = { cookie: browser.cookies.header(new URL(address)) ?? "", origin: from };
  const socket = new WebSocket(address.replace(/^http/, "ws"), { headers });
  const closed = new Promise<number>((resolve) => void socket.once("close", resolve));
  const first = await new Promise<string | number | undefined>((resolve, reject) => {
    socket.once("message", (data: Buffer) => {
      resolve(data.toString());
    });
    socket.once("unexpected-response", (_request, response) => {
      resolve(response.statusCode);
      socket.terminate();
    });
    socket.on("error", reject);
  });
  return { first, closed };
}

const FRAMEWORKS = ["express", "fastify", "hono", "koa", "node", "fetch"] as const;
const WITH_SOCKETS: readonly string[] = ["express", "fastify", "hono", "koa", "node"];

describe.each(FRAMEWORKS)("the orders API behind the demo with %s", (host) => {
  let demo: DemoProcess;
  beforeAll(() => {
    demo = new DemoProcess({ DEMO_HOST: host, DEMO_SESSIONS: "memory", DEMO_MAX_AGE: "90" });
  });
  afterAll(async () => {
    const { code, stderr } = await demo.kill();
    expect(code).toBe(0);
    // @hono/node-server, which runs the demo with Hono and with fetch, logs each response whose
    // stream fails: the session has ended.
    if (host !== "hono" && host !== "fetch") expect(stderr).toBe("");
  });

  it("gets the user's token and no cookie, and isn't reached by signed-out users and other sites", async () => {
    const browser = await demo.browser();
    expect((await browser.get("/api/orders/items")).json()).toMatchObject({
      error: "login_required",
    });
    expect((await fetch(`${apiOf(demo)}items`)).status).toBe(401);
    expect(
      (await fetch(`${apiOf(demo)}items`, { headers: { authorization: "Bearer forged" } })).status,
    ).toBe(401);

    expect((await signIn(browser)).text).toContain("/orders.js");
    const items = await browser.get("/api/orders/items");
    expect([items.status, items.json()]).toEqual([
      200,
      {
        items: expect.any(Array) as unknown[],
        token: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
        cookie: null,
      },
    ]);
    const body = JSON.stringify({ text: "Two gears" });
    const json = { "content-type": "application/json" };
    const added = await browser.get("/api/orders/items", {
      method: "POST",
      body,
      headers: { ...OWN, ...json },
    });
    expect([added.status, added.json()]).toEqual([201, { id: 4, text: "Two gears" }]);
    expect(
      (
        await browser.get("/api/orders/items", {
          method: "POST",
          body,
          headers: json,
          from: "https://other.example",
        })
      ).status,
    ).toBe(403);
    expect((await browser.get("/api/orders/items")).json().items).toHaveLength(4);
  });

  it("gets a refreshed token after it has refused one, and the browser sees one response", async () => {
    const browser = await demo.browser();
    await signIn(browser, "grace");
    const before = (await browser.get("/api/orders/items")).json().token as string;
    const { status, ...response } = await browser.get("/api/orders/refused");
    const { refused, accepted } = response.json();
    expect([status, refused, accepted === refused]).toEqual([200, before, false]);
    expect((await browser.get("/api/orders/items")).json()).toMatchObject({ token: accepted });
  });

  it("can require a new sign-in, which its approval then accepts", async () => {
    const browser = await demo.browser();
    await signIn(browser);
    const approve = () => browser.get("/api/orders/approvals", { method: "POST", headers: OWN });
    const challenge = await approve();
    expect([challenge.status, challenge.json()]).toEqual([
      401,
      {
        authenticated: true,
        error: "insufficient_user_authentication",
        max_age: "90",
        login_url: "/idpauth/login/?max_age=90&api=orders",
      },
    ]);
    await signIn(browser, "ada", challenge.json().login_url as string);
    expect(await approve()).toMatchObject({ status: 201 });
  });

  it("sends an event stream and a WebSocket, which close when the user signs out", async () => {
    const [browser, origin] = [await demo.browser(), await demo.origin()];
    await signIn(browser);
    const stream = await openStream(browser, `${origin}/api/orders/stream`);
    expect([stream.status, stream.first]).toEqual([200, "event: tick\ndata: 1\n\n"]);
    const page = (await browser.get("/orders")).text;
    expect(page.includes("Open the WebSocket")).toBe(WITH_SOCKETS.includes(host));
    if (WITH_SOCKETS.includes(host)) {
      expect((await openSocket(browser, origin, "https://other.example")).first).toBe(403);
      const socket = await openSocket(browser, origin);
      expect(socket.first).toBe("tick 1");
      await browser.get("/idpauth/logout/?response=json");
      expect(await socket.closed).toBe(1006);
      expect((await openSocket(browser, origin)).first).toBe(401);
    } else await browser.get("/idpauth/logout/?response=json");
    await stream.ended;
    expect((await browser.get("/api/orders/items")).status).toBe(401);
  });
});

it("the orders API starts again on the same port after its process was killed, and ends with the demo, also if that is killed", async () => {
  const { demo, browser } = await start({});
  await signIn(browser);
  const stream = await openStream(browser, `${await demo.origin()}/api/orders/stream`);
  const [, pid = ""] = /^Orders: .*\(.*pid (\d+)\)/m.exec(demo.stdout) ?? [];
  process.kill(Number(pid), "SIGKILL");
  await stream.ended;
  await eventually(async () => {
    expect((await browser.get("/api/orders/items")).status).toBe(200);
  });
  await demo.kill("SIGKILL");
  await eventually(async () => {
    await expect(fetch(apiOf(demo))).rejects.toThrow();
  });
});

it("an open event stream and a WebSocket of the orders API don't keep the demo from ending", async () => {
  const { demo, browser } = await start({});
  await signIn(browser);
  const stream = await openStream(browser, `${await demo.origin()}/api/orders/stream`);
  const socket = await openSocket(browser, await demo.origin());
  expect(await demo.kill()).toMatchObject({ code: 0, signal: null });
  await stream.ended;
  expect(await socket.closed).toBe(1006);
});

it("users of both providers reach the orders API", async () => {
  const { browser } = await start({ DEMO_PROVIDERS: "2" });
  await choose(browser, await browser.follow("/idpauth/login/?provider=customers"), "mary");
  expect((await browser.get("/api/orders/items")).status).toBe(200);
});
