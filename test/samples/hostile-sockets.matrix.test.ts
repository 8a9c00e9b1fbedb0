import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { buildPackage } from "../support/build.js";
import { closed } from "../support/closed.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { startRedis, type RedisServer } from "../support/redis-server.js";
import {
  EXAMPLES,
  FASTIFY_REACT,
  PROXIES,
  SOCKET_IO,
  SOCKETS,
  STREAMS,
} from "./attacked-samples.js";
import { leaveOpen, openTcp, openWebSocket, sendHostile } from "./hostile-client.js";
import { hostileFrames, textFrame } from "./hostile-frames.js";
import { hostileRequests } from "./hostile-requests.js";
import { SampleProcess } from "./sample-process.js";

// Every sample with a socket or a stream, as a process that strangers attack. It must live on, serve
// its users, and end by itself.

const COUNT = 500;
/** What a browser's own page sends with its requests. */
const OWN_PAGE = { "sec-fetch-site": "same-origin", "x-idpauth": "1" };
const SEED = 47;
/** How long a process may take to end. Milliseconds. */
const END_MS = 5000;

const pathOf = (file: string): string => {
  if (file === SOCKET_IO) return "/socket.io/?EIO=4&transport=websocket";
  if (PROXIES.includes(file)) return "/api/orders/socket";
  return STREAMS.includes(file) ? "/api/stream" : "/api/ws";
};

let provider: TestProvider;
let redis: RedisServer;
/** Where samples write files. */
let folder = "";
/** The API behind the proxies, whose sockets survive. */
const orders = new WebSocketServer({ port: 0, host: "127.0.0.1", maxPayload: 65_536 });
orders.on("connection", (socket) => socket.on("error", () => undefined));
const processes: SampleProcess[] = [];

beforeAll(async () => {
  await buildPackage();
  provider = await startTestProvider();
  redis = await startRedis();
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-hostile-"));
});
afterEach(() => {
  for (const sample of processes.splice(0)) sample.kill();
});
afterAll(async () => {
  await provider.stop();
  await redis.stop();
  for (const socket of orders.clients) socket.terminate();
  orders.close();
  rmSync(folder, { recursive: true });
});

async function start(
  file: string,
  more: Readonly<Record<string, string>> = {},
): Promise<SampleProcess> {
  const { port } = orders.address() as AddressInfo;
  const settings = {
    ORDERS_URL: `http://127.0.0.1:${String(port)}/`,
    REDIS_URL: redis.url,
    // Of services that check tokens.
    JWKS_URI: `${provider.issuer}/jwks`,
    ORDERS_ISSUERS: provider.issuer,
    ...more,
  };
  const sample = await SampleProcess.start(file, provider, settings, folder);
  processes.push(sample);
  return sample;
}

async function endsByItself(sample: SampleProcess): Promise<void> {
  const ended = await sample.terminate();
  expect([ended.code, ended.signal], sample.stderr).toEqual([0, null]);
  expect(ended.milliseconds).toBeLessThan(END_MS);
}

describe.each([...SOCKETS, ...PROXIES])("%s", (file) => {
  it(`lives on after ${String(COUNT)} hostile frames, and still opens sockets`, async () => {
    const sample = await start(file);
    const headers = await sample.signedIn();
    const open = () => openWebSocket(sample.port, pathOf(file), headers);
    expect(await sendHostile(hostileFrames(COUNT, SEED), open), sample.stderr).toBe(COUNT);
    expect(sample.isAlive, sample.stderr).toBe(true);
    (await open()).destroy();
  });
});

describe.each(SOCKETS)("%s", (file) => {
  it("handles no message after the session's end, and closes a socket whose browser doesn't respond", async () => {
    const sample = await start(file);
    const headers = await sample.signedIn();
    const socket = await openWebSocket(sample.port, "/api/ws", headers);
    const ended = closed(socket);
    socket.write(textFrame("before"));
    await eventually(async () => expect(sample.stdout).toContain("before"), 10_000);
    const since = performance.now();
    await fetch(`${sample.origin}/idpauth/logout/?response=json`, { headers });
    const sending = setInterval(() => socket.write(textFrame("after")), 20);
    await Promise.race([ended, pause(10_000)]);
    clearInterval(sending);
    expect(performance.now() - since).toBeLessThan(END_MS);
    expect(sample.stdout).not.toContain("after");
  });
});

describe.each([...SOCKETS, ...STREAMS, ...PROXIES, SOCKET_IO])("%s", (file) => {
  it(`lives on after ${String(COUNT)} hostile requests, still serves its users, and ends by itself although browsers don't respond and strangers leave connections open`, async () => {
    const sample = await start(file);
    const headers = await sample.signedIn();
    const requests = hostileRequests(pathOf(file), COUNT, SEED);
    await sendHostile(requests, () => openTcp(sample.port));
    await eventually(async () => {
      // A connection of its own: one that was open may be closing.
      const response = await fetch(`${sample.origin}/idpauth/session`, {
        headers: { ...headers, connection: "close" },
      }).catch(() => undefined);
      expect(await response?.json(), sample.stderr).toMatchObject({ authenticated: true });
    }, 5_000);
    if (STREAMS.includes(file)) {
      const stream = await fetch(`${sample.origin}/api/stream`, { headers });
      expect(stream.status).toBe(200);
    } else await openWebSocket(sample.port, pathOf(file), headers);
    await leaveOpen(sample.port, pathOf(file));
    await endsByItself(sample);
  });
});

describe.each(EXAMPLES)("$file", ({ file, route }) => {
  it(`lives on after ${String(COUNT)} hostile requests, and ends by itself`, async () => {
    const sample = await start(file);
    const hasUsers = route !== "/";
    const headers = hasUsers ? { ...(await sample.signedIn()), ...OWN_PAGE } : {};
    await sendHostile(hostileRequests(route, COUNT, SEED), () => openTcp(sample.port));
    const { status } = await fetch(sample.origin + route, { headers });
    expect(status, sample.stderr).toBe(hasUsers ? 200 : 401);
    await leaveOpen(sample.port, route);
    await endsByItself(sample);
  });
});

describe(FASTIFY_REACT, () => {
  it(`lives on after ${String(COUNT)} hostile frames and requests, also those to its API, and ends by itself`, async () => {
    const apiPort = await freePort();
    const sample = await start(FASTIFY_REACT, { API_PORT: String(apiPort) });
    const headers = await sample.signedIn();
    const stream = await fetch(`${sample.origin}/api/stream`, { headers });
    expect(stream.status).toBe(200);
    // A client of the API that isn't the application.
    const { value: token } = provider.issued.findLast(({ kind }) => kind === "access_token")!;
    const open = () => openWebSocket(apiPort, "/chat", { authorization: `Bearer ${token}` });
    await sendHostile(hostileRequests("/api/chat", COUNT, SEED), () => openTcp(sample.port));
    expect(await sendHostile(hostileFrames(COUNT, SEED), open), sample.stderr).toBe(COUNT);
    await open();
    await openWebSocket(sample.port, "/api/chat", headers);
    for (const port of [apiPort, sample.port]) await leaveOpen(port, "/chat");
    await endsByItself(sample);
  });
});
