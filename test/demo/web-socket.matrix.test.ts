import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { choose, DemoProcess } from "./demo-process.js";

const running: DemoProcess[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((demo) => demo.kill("SIGKILL")));
});

async function start(env: Readonly<Record<string, string>>) {
  const demo = new DemoProcess(env);
  running.push(demo);
  const browser = await demo.browser();
  return { demo, browser, origin: await demo.origin() };
}

function connect(browser: CookieBrowser, address: string, origin: string | undefined): WebSocket {
  const cookie = browser.cookies.header(new URL("/", address)) ?? "";
  return new WebSocket(`${address.replace(/^http/, "ws")}/ws`, {
    headers: { cookie, ...(origin !== undefined && { origin }) },
  });
}

/** Returns the status with which the server refuses the handshake. */
function refused(socket: WebSocket): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (request, response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    socket.on("open", () => {
      reject(new Error("The socket opened."));
    });
    socket.on("error", () => undefined);
  });
}

/**
 * Returns the first message, and a promise of the code and the reason with which the socket closes.
 */
async function opened(socket: WebSocket) {
  const closed = new Promise<[code: number, reason: string]>((resolve) => {
    socket.once("close", (code, reason) => {
      resolve([code, reason.toString()]);
    });
  });
  const message = await new Promise<string>((resolve, reject) => {
    socket.once("message", (data: Buffer) => {
      resolve(data.toString());
    });
    socket.once("error", reject);
  });
  return { message, closed };
}

const FRAMEWORKS = ["express", "fastify", "hono", "koa", "node"] as const;

describe.each(FRAMEWORKS)("/ws of the demo with %s", (host) => {
  it("opens for signed-in users of the own origin, and closes with the reason when the provider ends the session", async () => {
    const { demo, browser, origin } = await start({ DEMO_HOST: host });
    expect(await refused(connect(browser, origin, origin))).toBe(401);

    await choose(browser, await browser.follow("/reports"), "ada");
    for (const foreign of [undefined, "http://evil.example", "null"]) {
      expect(await refused(connect(browser, origin, foreign))).toBe(403);
    }
    expect((await browser.get("/ws", { headers: { origin } })).status).toBe(426);

    const { message, closed } = await opened(connect(browser, origin, origin));
    expect(message).toBe("tick 1");
    const issuer = /Provider: (\S+)/.exec(demo.stdout)?.[1] ?? "";
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const ended = await browser.get(`${issuer}/end/ada`, {
      method: "POST",
      headers: form,
      body: "",
    });
    expect(ended.text).toContain("The application accepted 1 of 1 logout tokens.");
    expect(await closed).toEqual([4401, "logged_out_at_provider"]);
    expect(await refused(connect(browser, origin, origin))).toBe(401);
    expect((await demo.kill()).code).toBe(0);
  });

  it("closes when the demo ends, and does not keep it", async () => {
    const { demo, browser, origin } = await start({ DEMO_HOST: host, DEMO_SESSIONS: "memory" });
    await choose(browser, await browser.follow("/reports"), "ada");
    const { closed } = await opened(connect(browser, origin, origin));
    expect(await demo.kill()).toMatchObject({ code: 0, signal: null });
    expect(await closed).toEqual([1001, ""]);
  });
});

it("without BASE_URL, /ws opens under each address of the demo, for pages of the same address", async () => {
  const { browser, origin } = await start({ BASE_URL: "" });
  const local = origin.replace("127.0.0.1", "localhost");
  await choose(browser, await browser.follow(`${local}/reports`), "ada");
  expect(await refused(connect(browser, local, origin))).toBe(403);
  const socket = connect(browser, local, local);
  expect((await opened(socket)).message).toBe("tick 1");
  socket.terminate();
});

it("the fetch adapter has no WebSockets, so /ws is not found and the page's script opens none", async () => {
  const { browser, origin } = await start({ DEMO_HOST: "fetch" });
  await choose(browser, await browser.follow("/reports"), "ada");
  expect(await refused(connect(browser, origin, origin))).toBe(404);
  expect((await browser.get("/stream.js")).text).not.toContain("WebSocket(");
});
