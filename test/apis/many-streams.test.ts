// One session can't hold any number of connections open: its event streams, those of APIs and its
// WebSockets have one number of places.
import { once } from "node:events";
import http from "node:http";
import { Socket, type AddressInfo } from "node:net";
import { expect, it, vi } from "vitest";
import { idpAuth } from "../../src/adapters/node/node.js";
import { signedInAs } from "../../src/testing/index.js";
import { closedAfterEach } from "./closed-after-each.js";
import { nodeApi, optionsFor, ORIGIN, rawBrowser } from "./parties.js";

const servers = closedAfterEach();

const TARGETS = {
  own: "/notices",
  proxied: "/api/orders/stream",
  socket: "/api/orders/socket",
} as const;
type Kind = keyof typeof TARGETS;

async function started(streamsPerSession?: number) {
  const open = new Set<object>();
  const { api, server: origin } = await nodeApi((message, response) => {
    if (message.url !== "/v2/stream") return void response.end("short");
    open.add(response);
    response.once("close", () => open.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
  });
  origin.on("upgrade", (_message, socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket)).on("error", () => undefined);
    socket.resume().on("end", () => socket.end());
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
  });
  const auth = idpAuth({ ...optionsFor(api.url.href), streamsPerSession });
  const notices = auth.idpRequired(async (request, response) => {
    await auth.eventStream(request, response);
  });
  const server = http.createServer(
    auth.listener(
      auth.proxyApi("orders")((request, response) =>
        request.url === TARGETS.own ? notices(request, response) : response.writeHead(404).end(),
      ),
    ),
  );
  server.on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade) || upgrade[1].destroy());
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const session = () => signedInAs(auth, undefined, { tokens: { token: "users-token" } });
  /** Requests a stream, and returns the head of the response with what closes it. */
  async function stream(kind: Kind, cookie: string) {
    const { socket, received } = await rawBrowser(port);
    const lines = [
      `GET ${TARGETS[kind]} HTTP/1.1`,
      "Host: app.example",
      `Cookie: ${cookie}`,
      "Sec-Fetch-Site: same-origin",
      ...(kind === "socket"
        ? [`Origin: ${ORIGIN}`, "Connection: Upgrade", "Upgrade: websocket"]
        : []),
    ];
    socket.write([...lines, "", ""].join("\r\n"));
    await expect.poll(() => received.text).toContain("\r\n\r\n");
    return { status: Number(received.text.slice(9, 12)), received, leave: () => socket.destroy() };
  }
  return { stream, session, port, open };
}

it.each([
  ["own", "proxied", "socket"],
  ["socket", "own", "proxied"],
  ["proxied", "socket", "own"],
] as const)(
  "%s and %s take the places of a session, and %s gets 429 until one is given back",
  async (first, second, third) => {
    const { stream, session, port, open } = await started(2);
    const cookie = await session();
    const one = await stream(first, cookie);
    const other = await stream(second, cookie);
    for (const { status } of [one, other]) expect([101, 200]).toContain(status);
    const held = open.size;
    const refused = await stream(third, cookie);
    expect(refused.status).toBe(429);
    expect(refused.received.text).toContain("too_many_streams");
    expect(refused.received.text).toMatch(/^retry-after: 10\r$/im);
    // What the API has opened for it is closed.
    await expect.poll(() => open.size).toBe(held);
    const others = await stream(third, await session());
    expect([101, 200]).toContain(others.status);
    const short = await fetch(`http://127.0.0.1:${port}/api/orders/items`, { headers: { cookie } });
    expect(await short.text()).toBe("short");
    one.leave();
    await expect
      .poll(async () => {
        const again = await stream(third, cookie);
        if (again.status === 429) again.leave();
        return again.status;
      })
      .not.toBe(429);
  },
);

it("an API's stream without a place is closed, also if the browser doesn't read the refusal", async () => {
  const { session, port, open } = await started(1);
  const { socket, received } = await rawBrowser(port);
  const request = `GET ${TARGETS.proxied} HTTP/1.1\r\nHost: app.example\r\nCookie: ${await session()}\r\n\r\n`;
  // The others' refusals wait behind the first response, which doesn't end.
  socket.write(request.repeat(5));
  await expect.poll(() => received.text).toContain(": open");
  await new Promise((resolve) => setTimeout(resolve, 500));
  await expect.poll(() => open.size).toBe(1);
});

it.each(["proxied", "socket"] as const)(
  "the system asks whether the browser of a stream (%s) is still there, so that one which vanished gives its place back",
  async (kind) => {
    const { stream, session, port } = await started();
    const asked = vi.spyOn(Socket.prototype, "setKeepAlive");
    await stream(kind, await session());
    // Undici has it asked of the API, too.
    const ofBrowser = () =>
      asked.mock.calls.filter((_, at) => (asked.mock.contexts[at] as Socket).localPort === port);
    await expect.poll(ofBrowser).toEqual([[true, 60_000]]);
    asked.mockRestore();
  },
);

it("the places are 64 by default, and 0 is no maximum", async () => {
  for (const [streamsPerSession, last] of [
    [undefined, 429],
    [0, 200],
  ] as const) {
    const { stream, session } = await started(streamsPerSession);
    const cookie = await session();
    const opened = [];
    for (let count = 0; count < 65; count += 1) opened.push((await stream("own", cookie)).status);
    expect(opened).toEqual([...Array.from({ length: 64 }, () => 200), last]);
  }
});
