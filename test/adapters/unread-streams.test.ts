// Event streams whose browsers don't read what was sent, when the process stops.
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, expect, it, vi } from "vitest";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { EventStream, LogEntry } from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, listen, optionsFor } from "../apis/parties.js";

type Options = Parameters<typeof nodeAuth>[0];
type Opened = (stream: EventStream) => void;
interface Started {
  readonly server: Server;
  readonly auth: Parameters<typeof signedInAs>[0] & {
    close(limits: { timeout: number }): Promise<void>;
  };
}

/** Applications whose whole address space is one event stream. */
const STARTS: Readonly<Record<string, (options: Options, opened: Opened) => Started>> = {
  "node:http"(options, opened) {
    const auth = nodeAuth(options);
    const notices = auth.idpRequired(async (request, response) => {
      opened(await auth.eventStream(request, response));
    });
    return { server: createServer(auth.listener(notices)), auth };
  },
  "Hono on Node.js"(options, opened) {
    const [app, auth] = [new Hono(), honoAuth(options)];
    auth.mount(app);
    app.get("/", auth.idpRequired, async (c) => {
      const stream = await auth.eventStream(c);
      opened(stream);
      return stream.response;
    });
    return { server: createAdaptorServer({ fetch: app.fetch }) as Server, auth };
  },
  "a fetch server"(options, opened) {
    const auth = fetchAuth(options);
    auth.start();
    const notices = auth.idpRequired(async (request) => {
      const stream = await auth.eventStream(request);
      opened(stream);
      return stream.response;
    });
    return { server: createAdaptorServer({ fetch: notices }) as Server, auth };
  },
};

afterEach(async () => {
  vi.restoreAllMocks();
  await closeAll();
});

/** Sends events until the stream has taken none for many turns of the event loop. */
async function fill({ send }: EventStream): Promise<void> {
  const part = "x".repeat(16_384);
  for (let idle = 0; idle < 500; idle += 1) {
    while (send(part)) idle = 0;
    await nextTurn();
  }
}

it.each(Object.entries(STARTS))(
  "%s: a stream whose browser doesn't read holds the server no longer than the shutdown's timeout",
  async (_name, start) => {
    vi.spyOn(console, "error").mockReturnValue();
    const logged: LogEntry[] = [];
    let opened!: Opened;
    const promise = new Promise<EventStream>((resolve) => (opened = resolve));
    const { apis: _apis, ...options } = optionsFor("http://127.0.0.1/");
    const { server, auth } = start({ ...options, log: (entry) => void logged.push(entry) }, opened);
    const port = await listen(server);
    const browser = connect(port, "127.0.0.1").pause();
    const cookie = await signedInAs(auth);
    browser.write(`GET / HTTP/1.1\r\nHost: app.example\r\nCookie: ${cookie}\r\n\r\n`);
    await fill(await promise);
    const serverClosed = new Promise((resolve) => server.close(resolve));
    await auth.close({ timeout: 0.1 });
    await serverClosed;
    browser.destroy();
    expect(logged.map(({ code }) => code)).toContain("closed_late");
  },
);
