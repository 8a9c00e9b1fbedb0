// What adapters make of a request's body: `IdpRequest.body`.
import type { Server } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { idpAuth as express } from "../../src/adapters/express/express.js";
import { idpAuth as fastify } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as hono } from "../../src/adapters/hono/hono.js";
import { idpAuth as koa } from "../../src/adapters/koa/koa.js";
import { idpAuth as node } from "../../src/adapters/node/node.js";
import type { FrameworkAdapter } from "../../src/adapter.js";
import { BARE, bareHono, serveBare } from "./applications/bare.js";
import { Connection } from "./applications/connection.js";

const made = vi.hoisted(() => [] as FrameworkAdapter<never>[]);
vi.mock(import("../../src/auth/create-idp-auth.js"), async (load) => {
  const original = await load();
  const createIdpAuth: typeof original.createIdpAuth = (options, adapter) => {
    made.push(adapter);
    return original.createIdpAuth(options, adapter);
  };
  return { ...original, createIdpAuth };
});

const CREATE = {
  "node:http": node,
  "Express 4": express,
  "Express 5": express,
  Fastify: fastify,
  Koa: koa,
  Hono: hono,
  fetch: fetchStyle,
};
type Name = keyof typeof BARE;
const NAMES = Object.keys(BARE) as Name[];
/** On Hono the text of a body that was parsed can be read again. */
const OBJECTS: Name[] = ["node:http", "Express 4", "Express 5", "Fastify", "Koa"];

function adapterOf(name: Name): FrameworkAdapter<never> {
  CREATE[name]();
  return made.at(-1)!;
}

const open: { server: Server; connection: Connection }[] = [];
afterEach(() => {
  for (const { server, connection } of open.splice(0)) {
    connection.end();
    server.close().closeAllConnections();
  }
});

/** A connection to an application that responds with what `read` makes of each request's body. */
async function connected(
  name: Name,
  read: (body: unknown) => Promise<string>,
  { bare = BARE[name], parsed = false } = {},
) {
  const adapter = adapterOf(name);
  const { server, port } = await serveBare(
    bare,
    (raw) => read(adapter.request(raw).body?.()),
    parsed,
  );
  const connection = new Connection(port);
  open.push({ server, connection });
  return connection;
}

/** A request's head and body; without a body, the head of one in chunks. */
function post(body?: string, type = "application/x-www-form-urlencoded"): string {
  const framing =
    body === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
  return `POST / HTTP/1.1\r\nHost: app.example\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n${body ?? ""}`;
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

async function whole(body: unknown): Promise<string> {
  if (body === undefined) return "undefined";
  if (!isIterable(body)) return `parsed ${JSON.stringify(body)}`;
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) text += decoder.decode(bytes, { stream: true });
  return `read ${text}`;
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

describe.each(NAMES)("%s: a body that no parser has read", (name) => {
  it("is read as its chunks arrive", async () => {
    const arrived: string[] = [];
    let next = (): void => undefined;
    const connection = await connected(name, async (body) => {
      for await (const bytes of body as AsyncIterable<Uint8Array>) {
        arrived.push(Buffer.from(bytes).toString());
        next();
      }
      return arrived.join("|");
    });
    connection.write(post());
    for (const text of ["logout", "_tok", "en=abc"]) {
      const received = new Promise<void>((resolve) => (next = resolve));
      connection.write(chunk(text));
      await received;
    }
    connection.write("0\r\n\r\n");
    expect(await connection.response()).toEqual({ status: 200, text: "logout|_tok|en=abc" });
  });

  it("may be left early: the response is sent, and the connection serves the next request", async () => {
    const connection = await connected(name, async (body) => {
      let size = 0;
      for await (const bytes of body as AsyncIterable<Uint8Array>) {
        size += bytes.length;
        if (size > 65_536) return "too large";
      }
      return `read ${size}`;
    });
    connection.write(post("x".repeat(300_000)) + post("y".repeat(1000)));
    expect(await connection.response()).toEqual({ status: 200, text: "too large" });
    expect(await connection.response()).toEqual({ status: 200, text: "read 1000" });
  });

  it("may be left while its next chunk is awaited", async () => {
    const connection = await connected(name, async (body) => {
      const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      const first = Buffer.from((await chunks.next()).value as Uint8Array).toString();
      if (first.startsWith("second")) return first;
      const pending = chunks.next().then(
        () => undefined,
        () => undefined,
      );
      await chunks.return?.();
      void pending;
      return `left after ${first}`;
    });
    connection.write(post() + chunk("first"));
    expect(await connection.response()).toEqual({ status: 200, text: "left after first" });
    connection.write(`${chunk("more")}0\r\n\r\n${post("second request")}`);
    expect(await connection.response()).toEqual({ status: 200, text: "second request" });
  });

  it("is undefined when it is read again", async () => {
    const adapter = adapterOf(name);
    const { server, port } = await serveBare(BARE[name], async (raw) => {
      const first = await whole(adapter.request(raw).body?.());
      return `${first}, then ${await whole(adapter.request(raw).body?.())}`;
    });
    const connection = new Connection(port);
    open.push({ server, connection });
    connection.write(post("a=b"));
    expect((await connection.response()).text).toBe("read a=b, then undefined");
  });

  it("is empty or undefined for a request without one", async () => {
    const connection = await connected(name, whole);
    connection.write("GET / HTTP/1.1\r\nHost: app.example\r\n\r\n");
    expect((await connection.response()).text).toMatch(/^(?:read |undefined)$/);
  });
});

describe.each(OBJECTS)("%s: a body that the framework's parser has read", (name) => {
  it("is what the parser made of it", async () => {
    const connection = await connected(name, whole, { parsed: true });
    connection.write(post("logout_token=abc&x=1"));
    expect((await connection.response()).text).toBe('parsed {"logout_token":"abc","x":"1"}');
  });
});

describe.each(["Express 4", "Express 5"] as const)("%s", (name) => {
  it("gives the unread body where the parsers did not know its type", async () => {
    const connection = await connected(name, whole, { parsed: true });
    connection.write(post("logout_token=abc", "text/plain"));
    expect((await connection.response()).text).toBe("read logout_token=abc");
  });
});

describe("Hono", () => {
  it.each([
    ["parseBody", bareHono((c) => c.req.parseBody())],
    ["text", bareHono((c) => c.req.text())],
    ["formData", bareHono((c) => c.req.formData())],
    ["arrayBuffer", bareHono((c) => c.req.arrayBuffer())],
    ["blob", bareHono((c) => c.req.blob())],
  ])("gives the body again after the application called c.req.%s()", async (_method, bare) => {
    const connection = await connected("Hono", whole, { bare, parsed: true });
    connection.write(post("logout_token=a%2Bb&x=1"));
    expect((await connection.response()).text).toBe("read logout_token=a%2Bb&x=1");
  });
});

describe("fetch", () => {
  it("has no body where the application has read it", async () => {
    const connection = await connected("fetch", whole, { parsed: true });
    connection.write(post("logout_token=abc"));
    expect((await connection.response()).text).toBe("undefined");
  });
});
