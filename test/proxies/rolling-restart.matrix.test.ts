import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { buildPackage } from "../support/build.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";
import { endingWithUs } from "../support/postgres-server.js";
import { startRedis, type RedisServer } from "../support/redis-server.js";
import {
  blocksOf,
  configurationsOf,
  HOSTNAME,
  ORIGIN,
  PROGRAMS,
  startProxy,
  type ProxyName,
  type RunningProxy,
} from "./programs.js";

// docs/how-to/upgrades-and-keys.md#rolling-restart: two processes of the application of
// docs/deploy/containers.md are replaced by its steps while users send requests.

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGE = "how-to/upgrades-and-keys.md";
const PAGE_TEXT = readFileSync(path.join(ROOT, "docs", PAGE), "utf8");
const CONNECTIONS = 20;

/** The page's block in the complete configuration of docs/deploy/proxies.md. */
function configurationOf(proxy: "haproxy" | "nginx"): string {
  const [block = ""] = blocksOf(PAGE, proxy);
  const { complete } = configurationsOf(proxy);
  const changed =
    proxy === "haproxy"
      ? complete.replace(/^backend app\n[^]*/m, () => block)
      : block + complete.replace("proxy_pass http://localhost:3000;", "proxy_pass http://app;");
  expect(changed).not.toContain("localhost:3000");
  return changed;
}

let provider: TestProvider;
let redis: RedisServer;
let folder = "";
const stops: (() => unknown)[] = [];
const lastStops: (() => unknown)[] = [];

beforeAll(async () => {
  await buildPackage();
  provider = await startTestProvider();
  lastStops.push(() => provider.stop());
  redis = await startRedis();
  lastStops.push(() => redis.stop());
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-rolling-restart-"));
  lastStops.push(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/idpauth"));
  for (const name of ["express", "redis"])
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(folder, "node_modules", name));
  writeFileSync(path.join(folder, "server.mjs"), withOrders());
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
afterAll(async () => {
  for (const stop of lastStops.reverse()) await stop();
});

/**
 * The page's application, with a route whose requests must not be handled twice, a report that ends
 * when the process gets a message, and a route that needs an access token.
 */
function withOrders(): string {
  const text = readFileSync(path.join(ROOT, "docs/snippets/containers/server.mjs"), "utf8");
  const mounted = "auth.mount(app);\n";
  expect(text).toContain(mounted);
  return text.replace(
    mounted,
    `$&app.use((_req, res, next) => { res.set("X-Process", String(process.pid)); next(); });
app.post("/orders/:id", auth.idpRequired, async (req, res) => {
  await client.incr("order:" + req.params.id);
  let size = 0;
  for await (const chunk of req) size += chunk.length;
  res.send(String(size));
});
app.get("/report", auth.idpRequired, (_req, res) => {
  res.set("X-Accel-Buffering", "no").write("begun, ");
  process.once("message", () => res.end("ended"));
  process.channel.unref();
});
app.get("/token", auth.idpRequired, async (req, res) => {
  res.send((await auth.getAccessToken(req)) ? "token" : "no token");
});
`,
  );
}

interface RunningProcess {
  readonly pid: string;
  readonly port: number;
  /** Ends the reports that are under way. */
  endReports(): void;
  /** SIGTERM, until it has exited. */
  stop(): Promise<void>;
}

async function startProcess(port: number, drainSeconds: string): Promise<RunningProcess> {
  const [command, ...args] = [...(await endingWithUs("KILL")), process.execPath, "server.mjs"];
  const child: ChildProcess = spawn(command, args, {
    cwd: folder,
    env: {
      ...provider.env,
      ...{ PATH: process.env["PATH"], PORT: String(port), DRAIN_SECONDS: drainSeconds },
      ...{ BASE_URL: ORIGIN, REDIS_URL: redis.url },
    },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = once(child, "exit");
  stops.push(() => child.kill("SIGKILL"));
  await eventually(async () => {
    if (child.exitCode !== null) return;
    expect((await fetch(`http://localhost:${String(port)}/healthz`)).status).toBe(200);
  });
  return {
    pid: String(child.pid),
    port,
    endReports: () => void child.send("end"),
    async stop() {
      child.kill("SIGTERM");
      expect(await ended, errors).toEqual([0, null]);
    },
  };
}

/** The rest of a response, with its status. */
async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return `${String(response.statusCode)} ${text}`;
}

interface Running {
  /** The reports end now, and then the refresh, once the reports' connections have closed. */
  end(): Promise<readonly string[]>;
  /** Requests the user's access token through the proxy, and counts the refreshes since `end()`. */
  token(): Promise<{ text: string; refreshes: number }>;
}

/**
 * Begins what lasts until `end()`: a report through the proxy, one over a connection that stays
 * open, and a refresh whose user has left.
 */
async function beginLong(
  { pid, port, endReports }: RunningProcess,
  proxy: RunningProxy,
  cookie: string,
): Promise<Running> {
  const direct = new http.Agent({ keepAlive: true });
  const secured = new Agent({ ca: proxy.certificate, servername: HOSTNAME });
  stops.push(() => direct.destroy());
  stops.push(() => secured.destroy());
  const get = (target: string, cookies: string) =>
    http.get({
      ...{ host: "127.0.0.1", port, path: target, agent: direct },
      headers: { host: HOSTNAME, cookie: cookies },
    });
  const [unproxied] = (await once(get("/report", cookie), "response")) as [IncomingMessage];
  const proxied = await eventually(async () => {
    const outgoing = request({
      ...{ host: "127.0.0.1", port: proxy.port, path: "/report", agent: secured },
      headers: { host: HOSTNAME, cookie },
    });
    const [response] = (await once(outgoing.end(), "response")) as [IncomingMessage];
    if (response.headers["x-process"] === pid) return response;
    outgoing.destroy();
    throw new Error("The other process has responded.");
  });

  provider.settings.accessTokenSeconds = 0;
  const expired = new CookieBrowser(proxy.browser);
  await expired.follow("/idpauth/login/");
  provider.settings.accessTokenSeconds = 3600;
  const hold = provider.hold("token");
  stops.push(() => hold.release());
  const leaving = get("/token", expired.cookies.header(new URL(ORIGIN)) ?? "");
  leaving.on("error", () => undefined);
  await hold.arrived;
  leaving.destroy();
  const refreshes = () => provider.requestsTo("token", { grant_type: "refresh_token" }).length;
  let before = 0;
  return {
    async end() {
      before = refreshes();
      const closed = once(unproxied.socket, "close");
      endReports();
      const texts = await Promise.all([textOf(proxied), textOf(unproxied)]);
      // The server has nothing left to wait for, and the refresh still runs.
      await closed;
      hold.release();
      return texts;
    },
    async token() {
      const { text } = await expired.get("/token");
      return { text, refreshes: refreshes() - before };
    },
  };
}

interface Load {
  /** Waits until this process has responded to a request from now on. */
  reaches(process: RunningProcess): Promise<void>;
  /** How many responses of each kind there were, and the names of the orders. */
  end(): Promise<{ counts: Readonly<Record<string, number>>; orders: readonly string[] }>;
}

/** Each connection sends one request after the other. */
function startLoad(proxy: ProxyName, { port, certificate }: RunningProxy, cookie: string): Load {
  let isOver = false;
  const counts: Record<string, number> = {};
  const orders: string[] = [];
  let processes = new Set<string>();
  const headers = { host: HOSTNAME, cookie, "sec-fetch-site": "same-origin" };

  async function send(agent: Agent, method: string, target: string): Promise<string> {
    const outgoing = request({
      ...{ host: "127.0.0.1", port, servername: HOSTNAME, ca: certificate, agent },
      ...{ method, path: target, headers },
    });
    outgoing.end(method === "POST" ? "x".repeat(1000) : undefined);
    try {
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      processes.add(String(response.headers["x-process"]));
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
      const said = text.replace(/^.*("authenticated":) ?(true).*$/s, "$1 $2").slice(0, 80);
      return `${method} ${String(response.statusCode)} ${said}`;
    } catch (error) {
      // As browsers do: nginx closes unused connections when it reloads. HAProxy doesn't reload.
      const isReset = (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (proxy === "nginx" && outgoing.reusedSocket && isReset) return send(agent, method, target);
      return `${method} ${String(error)}`;
    }
  }

  const ends = Array.from({ length: CONNECTIONS }, async (_each, connection) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let number = 0; !isOver; number += 1) {
      const order = `${String(connection)}-${String(number)}`;
      const kinds = [
        ["GET", "/"],
        ["GET", "/idpauth/session"],
        ["POST", `/orders/${order}`],
      ] as const;
      const [method, target] = kinds[number % kinds.length] as (typeof kinds)[number];
      const got = await send(agent, method, target);
      if (method === "POST") orders.push(order);
      counts[got] = (counts[got] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    }
    agent.destroy();
  });
  return {
    async reaches({ pid }) {
      processes = new Set();
      await eventually(async () => {
        expect([...processes]).toContain(pid);
      });
    },
    async end() {
      isOver = true;
      await Promise.all(ends);
      return { counts, orders };
    },
  };
}

describe.each(["haproxy", "nginx"] as const)("two processes behind %s", (proxy) => {
  it.skipIf(PROGRAMS[proxy] === undefined)(
    "are replaced one after the other without losing a request, and nobody is signed out",
    async () => {
      const [first, second] = [await freePort(), await freePort()];
      const [, section = ""] = PAGE_TEXT.split(new RegExp(`^### ${proxy}$`, "im"));
      const [, drain = ""] = /DRAIN_SECONDS=(\d+)/.exec(section) ?? [];
      const running = [await startProcess(first, drain), await startProcess(second, drain)];
      const front = await startProxy(proxy, {
        configuration: configurationOf(proxy),
        upstreams: { "localhost:3001": first, "localhost:3002": second },
      });
      stops.push(() => front.stop());
      const user = new CookieBrowser(front.browser);
      await user.follow("/");
      const cookie = user.cookies.header(new URL(ORIGIN)) ?? "";
      const load = startLoad(proxy, front, cookie);
      for (const process of running) await load.reaches(process);
      for (const stopping of running) {
        const { port } = stopping;
        const long = await beginLong(stopping, front, cookie);
        const line = `server 127.0.0.1:${String(port)}`;
        if (proxy === "nginx") front.reload(`${line};`, `${line} down;`);
        const stopped = stopping.stop();
        await expect
          .poll(() => fetch(`http://localhost:${String(port)}/healthz`).catch(() => "closed"), {
            timeout: 30_000,
          })
          .toBe("closed");
        const report = "200 begun, ended";
        expect(await long.end()).toEqual([report, report]);
        await stopped;
        expect(await long.token()).toEqual({ text: "token", refreshes: 0 });
        const replacement = await startProcess(port, drain);
        if (proxy === "nginx") front.reload(`${line} down;`, `${line};`);
        await load.reaches(replacement);
      }
      const { counts, orders } = await load.end();
      const client = await createClient({ url: redis.url }).connect();
      const handled = await Promise.all(orders.map((order) => client.getDel(`order:${order}`)));
      client.destroy();
      expect(handled.filter((times) => times !== "1")).toEqual([]);
      const many: unknown = expect.toSatisfy((count: number) => count > 50);
      expect(counts, front.log()).toEqual({
        "GET 200 Hello": many,
        'GET 200 "authenticated": true': many,
        "POST 200 1000": many,
      });
    },
    120_000,
  );
});
