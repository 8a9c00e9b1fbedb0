// The rules for paths of an API, as a browser meets them: over HTTP, as a WebSocket, and on a fetch
// server.
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { ApiRule, GuardRule, LogEntry } from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, nodeApi, optionsFor, ORIGIN, rawBrowser } from "./parties.js";

const servers: http.Server[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await closeAll();
});

const RULES: readonly ApiRule[] = [
  { path: "admin", allow: ({ user }) => user.email === "boss@example.com" },
  { path: "payments", maxAge: 300 },
  { path: "payments/archive", allow: () => false },
  { methods: ["DELETE"], allow: () => false },
];

async function started(email = "ada@example.com", rules = RULES, rule: GuardRule = {}) {
  const reached: string[] = [];
  const { api, server: origin } = await nodeApi((message, response) => {
    reached.push(`${String(message.method)} ${String(message.url)}`);
    response.end("ok");
  });
  origin.on("upgrade", (message, socket) => {
    reached.push(`WebSocket ${String(message.url)}`);
    socket.end(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
  });
  const { apis, ...options } = optionsFor(api.url.href);
  const log: LogEntry[] = [];
  const auth = nodeAuth({
    ...options,
    log: (entry) => log.push(entry),
    apis: { orders: { ...apis.orders, paths: [";", "//"], rules } },
  });
  const server = http.createServer(
    auth.listener(
      auth.proxyApi("orders", rule)((_request, response) => response.writeHead(404).end()),
    ),
  );
  server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const tokens = { token: "users-token" };
  const cookie = await signedInAs(auth, { email, auth_time: 1 }, { tokens });
  /** Sends a request, and another one for a WebSocket. Returns both statuses. */
  async function statuses(target: string, method = "GET", cookies = cookie): Promise<number[]> {
    const common = [
      `${method} /api/orders/${target} HTTP/1.1`,
      "Host: app.example",
      `Origin: ${ORIGIN}`,
      `Cookie: ${cookies}`,
    ];
    const found: number[] = [];
    for (const lines of [["Connection: close"], ["Connection: Upgrade", "Upgrade: websocket"]]) {
      const { socket, received } = await rawBrowser(port);
      socket.write([...common, ...lines, "", ""].join("\r\n"));
      await expect.poll(() => received.isClosed).toBe(true);
      found.push(Number(received.text.slice(9, 12)));
    }
    return found;
  }
  return { auth, statuses, reached, log, port, cookie };
}

describe("a rule for a path", () => {
  it("holds over HTTP and for WebSockets, in every spelling of the path", async () => {
    const { statuses, reached } = await started();
    const refused = ["admin", "Admin/users", "admin;x=1/users", "/admin", "admin%3Bx", "admin%20"];
    for (const target of refused)
      expect([target, await statuses(target)]).toEqual([target, [403, 403]]);
    for (const target of ["%61dmin", "%2561dmin", "x/../admin", "x%5Cadmin"])
      expect([target, await statuses(target)]).toEqual([target, [400, 400]]);
    expect(reached).toEqual([]);
    expect(await statuses("administration?x=/admin")).toEqual([200, 101]);
    expect(reached).toEqual([
      "GET /v2/administration?x=/admin",
      "WebSocket /v2/administration?x=/admin",
    ]);
  });

  it("lets the users pass whom it allows", async () => {
    const { statuses, reached } = await started("boss@example.com");
    expect(await statuses("admin/users")).toEqual([200, 101]);
    expect(reached).toEqual(["GET /v2/admin/users", "WebSocket /v2/admin/users"]);
  });

  it("demands a step-up, but of nobody whom another rule forbids the path", async () => {
    const { statuses } = await started();
    expect(await statuses("payments")).toEqual([401, 401]);
    expect(await statuses("payments/archive")).toEqual([403, 403]);
    expect(await statuses("payments", "GET", "none=1")).toEqual([401, 401]);
    const reversed = await started(undefined, [...RULES].reverse());
    expect(await reversed.statuses("payments/archive")).toEqual([403, 403]);
  });

  it("and the proxy's own act as one: one login for all, one event, and no login for who is forbidden", async () => {
    const rules: readonly ApiRule[] = [
      { path: "payments", maxAge: 300 },
      { path: "archive", acr: "silver" },
    ];
    const own: GuardRule = { maxAge: 3600, acr: "gold" };
    const { auth, port, cookie, statuses } = await started(undefined, rules, own);
    const events: unknown[] = [];
    auth.on("blocked", ({ reason }) => void events.push(reason));
    const answer = await fetch(`http://127.0.0.1:${port}/api/orders/payments`, {
      headers: { cookie },
    });
    expect([answer.status, await answer.json()]).toEqual([
      401,
      expect.objectContaining({ max_age: "300", acr_values: "gold" }),
    ]);
    expect(events.splice(0)).toEqual(["step_up_required"]);
    expect(await statuses("archive")).toEqual([401, 401]);
    expect(events.splice(0)).toEqual(["step_up_required", "step_up_required"]);
    // No further login helps whom one has given one of two classes.
    const claims = { acr: "silver", auth_time: Math.floor(Date.now() / 1000) };
    const silver = await signedInAs(auth, claims, { tokens: { token: "users-token" } });
    expect(await statuses("archive", "GET", silver)).toEqual([403, 403]);
    expect(events.splice(0)).toEqual(["forbidden", "forbidden"]);
    const forbidden = await started(undefined, rules, { allow: () => false });
    forbidden.auth.on("blocked", ({ reason }) => void events.push(reason));
    expect(await forbidden.statuses("payments")).toEqual([403, 403]);
    expect(events).toEqual(["forbidden", "forbidden"]);
  });

  it("that throws is 500 for a WebSocket, too, and the log names the place", async () => {
    const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const allow = () => Promise.reject(new Error("a secret of the database"));
    const { statuses, reached, log } = await started(undefined, [{ allow }]);
    expect(await statuses("items")).toEqual([500, 500]);
    // The listener's own for the request over HTTP.
    expect([reached, written.mock.calls.length]).toEqual([[], 1]);
    expect(log.filter(({ level }) => level === "error")).toMatchObject([
      { code: "function_threw", details: { api: "orders", place: expect.stringMatching(/^at /) } },
    ]);
    expect(JSON.stringify(log)).not.toContain("a secret");
  });

  it("holds for its methods", async () => {
    const { statuses } = await started();
    const [status] = await statuses("items/5", "DELETE");
    expect(status).toBe(403);
    expect(await statuses("items/5")).toEqual([200, 101]);
  });

  it("holds on a fetch server", async () => {
    const reached: unknown[] = [];
    const { api } = await nodeApi((message, response) => {
      reached.push(message.url);
      response.end("ok");
    });
    const { apis, ...options } = optionsFor(api.url.href);
    const auth = fetchAuth({ ...options, apis: { orders: { ...apis.orders, rules: RULES } } });
    const proxy = auth.proxyApi("orders")(() => new Response(null, { status: 404 }));
    const cookie = await signedInAs(auth, undefined, { tokens: { token: "users-token" } });
    const statusOf = async (target: string) =>
      (await proxy(new Request(`${ORIGIN}/api/orders/${target}`, { headers: { cookie } }))).status;
    expect([await statusOf("ADMIN"), await statusOf("%61dmin"), await statusOf("items")]).toEqual([
      403, 400, 200,
    ]);
    expect(reached).toEqual(["/v2/items"]);
  });

  it("counts for the checks of the start as a guard does", () => {
    const start = (rule: ApiRule, issuer = "https://accounts.google.com") => {
      const { apis, env, ...options } = optionsFor("https://orders.internal/");
      const auth = nodeAuth({
        ...options,
        env: { ...env, IDP_ISSUER: issuer },
        apis: { orders: { ...apis.orders, rules: [rule] } },
      });
      return auth.start().map(({ code }) => code);
    };
    expect(start({ path: "x", maxAge: 60 })).toContain("W016");
    expect(start({ path: "x", allow: () => true })).not.toContain("W016");
    expect(() => start({ path: "x", provider: "partners" })).toThrow(/E027[^]*"partners"/);
  });
});
