import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { signIn, startTestProvider, type TestProvider } from "../../src/testing/index.js";
import { buildPackage } from "../support/build.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { startRedis, type RedisServer } from "../support/redis-server.js";

// The servers of the guides as processes of their own, each from the file that its page shows. They
// get SIGTERM while they have everything open that a shutdown knows.

const SNIPPETS = path.resolve(import.meta.dirname, "../../docs/snippets");
const FRAMEWORKS = ["express", "fastify", "koa", "hono", "node"];
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let provider: TestProvider;
let orders: Orders;
let redis: RedisServer;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  await buildPackage();
  provider = await startTestProvider();
  orders = await startOrders();
  redis = await startRedis();
});
afterEach(() => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await provider.stop();
  orders.close();
  await redis.stop();
});

interface Orders {
  readonly url: string;
  /** Sends the second half of each download. */
  finishDownloads(): void;
  /** What the open streams and sockets got. */
  readonly ends: string[];
  close(): void;
}

/** The API behind the proxies. */
async function startOrders(): Promise<Orders> {
  const halves: (() => void)[] = [];
  const ends: string[] = [];
  const sockets = new Set<Duplex>();
  const server = http.createServer((request, response) => {
    if (request.url === "/stream") {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: 1\n\n");
      response.on("close", () => ends.push("stream"));
    } else if (request.url === "/file") {
      response.writeHead(200, { "Content-Length": "10" }).write("first");
      halves.push(() => response.end("again"));
    } else {
      let size = 0;
      request.on("data", (chunk: Buffer) => (size += chunk.length));
      request.on("end", () => response.end(String(size)));
    }
  });
  server.on("upgrade", (_request, socket) => {
    sockets.add(socket);
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    socket.on("end", () => ends.push("socket"));
    socket.on("error", () => ends.push("socket failed")).resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    finishDownloads() {
      for (const half of halves.splice(0)) half();
    },
    ends,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close().closeAllConnections();
    },
  };
}

interface Running {
  readonly origin: string;
  readonly pid: number;
  /** Headers with the cookie of a signed-in user. */
  readonly headers: Record<string, string>;
  readonly stderr: () => string;
  /** Sends SIGTERM. */
  stop(): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

async function startSignedIn(file: string, settings = {}): Promise<Running> {
  const running = await start(file, await freePort(), settings);
  const user = await signIn(running.origin);
  const headers = { cookie: user.cookie, "sec-fetch-site": "same-origin", "x-idpauth": "1" };
  return { ...running, headers };
}

async function start(file: string, port: number, settings = {}): Promise<Omit<Running, "headers">> {
  const origin = `http://localhost:${String(port)}`;
  const env = {
    ...provider.env,
    ...{ PATH: process.env["PATH"], NODE_ENV: "production", PORT: String(port) },
    ...{ BASE_URL: origin, IDP_EVENTS: "on", ORDERS_URL: orders.url },
    REDIS_URL: redis.url,
    ...settings,
  };
  const child = spawn(process.execPath, [path.join(SNIPPETS, file)], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  processes.push(child);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "exit").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  await eventually(async () => {
    if (child.exitCode !== null) return;
    await fetch(`${origin}/idpauth/session`);
  }, 30_000);
  expect(child.exitCode, stderr).toBe(null);
  return {
    origin,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    stop: () => void child.kill("SIGTERM"),
    ended,
  };
}

/** The text of a response as it arrives, and how it ended. */
function collected(response: IncomingMessage) {
  const got = { text: "", end: "open" };
  response.setEncoding("utf8").on("data", (chunk: string) => (got.text += chunk));
  response.on("end", () => (got.end = response.complete ? "whole" : "cut off"));
  response.on("error", () => (got.end = "cut off"));
  return got;
}

async function open({ origin, headers }: Running, target: string, accept = "*/*") {
  const outgoing = http.get(`${origin}${target}`, { headers: { ...headers, accept } });
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  expect(response.statusCode, target).toBe(200);
  return collected(response);
}

async function openSocket({ origin, headers }: Running) {
  const upgrade = http.get(`${origin}/api/orders/socket`, {
    headers: {
      ...{ ...headers, origin, connection: "Upgrade", upgrade: "websocket" },
      ...{ "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
    },
  });
  const [, socket] = (await once(upgrade, "upgrade")) as [IncomingMessage, Socket];
  const got = { end: "open" };
  socket.on("end", () => (got.end = "FIN"));
  socket.on("error", () => (got.end = "failed")).resume();
  return got;
}

function upload({ origin, headers }: Running) {
  const outgoing = http.request(`${origin}/api/orders/upload`, {
    method: "POST",
    headers: { ...headers, "content-length": "20000" },
  });
  const text = once(outgoing, "response").then(async ([message]) => {
    const got = collected(message as IncomingMessage);
    await once(message as IncomingMessage, "close");
    return got;
  });
  outgoing.write(Buffer.alloc(10_000));
  return { finish: () => outgoing.end(Buffer.alloc(10_000)), text };
}

describe.each(FRAMEWORKS)("docs/snippets/production/%s.mjs, after SIGTERM", (framework) => {
  it("ends what is open in order, finishes what is finite, and exits with 0", async () => {
    const running = await startSignedIn(`production/${framework}.mjs`);
    orders.ends.length = 0;
    const [events, stream, file, socket] = [
      await open(running, "/idpauth/events", "text/event-stream"),
      await open(running, "/api/orders/stream", "text/event-stream"),
      await open(running, "/api/orders/file"),
      await openSocket(running),
    ];
    const sending = upload(running);
    await eventually(async () => {
      expect([stream.text, file.text]).toEqual(["data: 1\n\n", "first"]);
    });
    await pause(100);
    running.stop();
    await eventually(async () => {
      expect([events.end, stream.end, socket.end]).toEqual(["whole", "whole", "FIN"]);
    }, 5_000);
    expect(events.text).not.toContain("event: ended");
    await eventually(async () => {
      expect(orders.ends.toSorted()).toEqual(["socket", "stream"]);
    }, 5_000);
    expect([file.end, await Promise.race([sending.text, pause(100)])]).toEqual(["open", undefined]);
    await expect(fetch(running.origin)).rejects.toThrow();
    sending.finish();
    orders.finishDownloads();
    expect(await sending.text).toEqual({ text: "20000", end: "whole" });
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(file).toEqual({ text: "firstagain", end: "whole" });
    expect(running.stderr()).not.toMatch(/Error|closed_late/);
  }, 60_000);
});

describe("docs/snippets/production/cluster.mjs, after SIGTERM", () => {
  it("ends its workers in order, also one that has replaced another, and exits with 0", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-cluster-"));
    const running = await startSignedIn("production/cluster.mjs", {
      SESSIONS: path.join(folder, "sessions.db"),
    });
    const workers = () =>
      execFileSync("pgrep", ["-P", String(running.pid)], { encoding: "utf8" })
        .trim()
        .split("\n");
    await eventually(async () => {
      expect(workers()).toHaveLength(availableParallelism());
    });
    const [crashed = ""] = workers();
    process.kill(Number(crashed), "SIGKILL");
    await eventually(async () => {
      expect(workers().filter((pid) => pid !== crashed)).toHaveLength(availableParallelism());
    }, 10_000);
    await pause(1_000); // the new worker handles SIGTERM
    const events = await open(running, "/idpauth/events", "text/event-stream");
    running.stop();
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(events.end).toBe("whole");
    expect(running.stderr()).not.toMatch(/Error|closed_late/);
    await expect(fetch(running.origin)).rejects.toThrow();
    rmSync(folder, { recursive: true });
  }, 60_000);
});

describe("two processes behind HAProxy", () => {
  /**
   * Needs no health checks: the connection to a server that closes is refused. `empty-response`: a
   * server of Node.js that closes also closes its unused connections, on one of which a request may
   * be on its way.
   */
  const configurationOf = (port: number, servers: readonly number[]) => `
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response
frontend front
  bind 127.0.0.1:${String(port)}
  default_backend processes
backend processes
  balance roundrobin
${servers.map((server) => `  server s${String(server)} 127.0.0.1:${String(server)}`).join("\n")}
`;

  it.each(FRAMEWORKS)(
    "%s: a restart of one after the other under load loses no request",
    async (framework) => {
      const file = `production/${framework}.mjs`;
      const ports = [await freePort(), await freePort()];
      const port = await freePort();
      const folder = mkdtempSync(path.join(tmpdir(), "idpauth-haproxy-"));
      writeFileSync(path.join(folder, "haproxy.cfg"), configurationOf(port, ports));
      const running = await Promise.all(ports.map((each) => start(file, each)));
      const balancer = spawn("haproxy", ["-db", "-f", path.join(folder, "haproxy.cfg")], {
        stdio: "ignore",
      });
      processes.push(balancer);
      const origin = `http://127.0.0.1:${String(port)}`;
      await eventually(() => fetch(`${origin}/idpauth/session`));

      let isOver = false;
      const statuses: Record<string, number> = {};
      const load = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const status = await fetch(`${origin}/idpauth/session`).then(
            async (response) => (await response.text(), String(response.status)),
            (error: unknown) => String(error),
          );
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      });
      for (const [index, each] of ports.entries()) {
        running[index]?.stop();
        expect(await running[index]?.ended).toEqual({ code: 0, signal: null });
        running[index] = await start(file, each);
      }
      isOver = true;
      await Promise.all(load);
      rmSync(folder, { recursive: true });
      expect(Object.keys(statuses), JSON.stringify(statuses)).toEqual(["200"]);
      expect(statuses["200"]).toBeGreaterThan(100);
    },
    120_000,
  );
});
