// How each adapter sends a reply whose body is a stream, beyond what the suite can see of the
// endpoints.
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import { sendReply } from "../../src/adapters/fastify/fastify-message.js";
import { toResponse } from "../../src/adapters/fetch/fetch.js";
import { respond } from "../../src/adapters/hono/hono-message.js";
import { setReply } from "../../src/adapters/koa/koa-message.js";
import { writeReply } from "../../src/adapter.js";
import type { AnyReply } from "../../src/adapter.js";
import { listen } from "./applications/listen.js";

const running: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

/** An application that responds to every request with this reply. */
const APPLICATIONS: Readonly<
  Record<
    string,
    (reply: () => AnyReply, onError: (error: unknown) => void) => Promise<RequestListener>
  >
> = {
  "node:http": async (reply) => (_request, response) => writeReply(response, reply()),
  Express: async (reply) =>
    express().use((_request, response) => writeReply(response, reply())) as RequestListener,
  async Koa(reply, onError) {
    const callback = new Koa()
      .on("error", onError)
      .use((ctx) => setReply(ctx, reply()))
      .callback();
    return (request, response) => void callback(request, response);
  },
  async Fastify(reply) {
    const app = fastify();
    app.get("/", (_request, to) => sendReply(to, reply()));
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
  async Hono(reply) {
    const app = new Hono().get("/", (c) => respond(c, reply()));
    const listener = getRequestListener(app.fetch);
    return (request, response) => void listener(request, response);
  },
  async fetch(reply) {
    const listener = getRequestListener(() => toResponse(reply()), {
      errorHandler: () => undefined,
    });
    return (request, response) => void listener(request, response);
  },
};

/** A stream whose second part a test controls. */
function stream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let cancel: () => void = () => undefined;
  const cancelled = new Promise<void>((resolve) => (cancel = resolve));
  const body = new ReadableStream<Uint8Array>({
    start(its) {
      controller = its;
      its.enqueue(Buffer.from("first"));
    },
    cancel: () => cancel(),
  });
  const headers = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
    Vary: "Cookie",
  };
  const reply: AnyReply = { status: 200, headers, setCookies: ["a=1", "b=2"], body };
  return { reply, cancelled, fail: () => controller?.error(new Error("broken")) };
}

describe.each(Object.keys(APPLICATIONS))("%s sends a stream", (name) => {
  const errors: unknown[] = [];

  async function open(reply: AnyReply) {
    const server = await listen(
      await APPLICATIONS[name]!(
        () => reply,
        (error) => errors.push(error),
      ),
    );
    running.push(server);
    const leave = new AbortController();
    const response = await fetch(`http://127.0.0.1:${String(server.port)}/`, {
      signal: leave.signal,
    });
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value ?? []).toString()).toBe("first");
    return { response, reader, leave };
  }

  it("with its headers and cookies, at once and without a length", async () => {
    const { response } = await open(stream().reply);
    const { headers } = response;
    expect([
      headers.get("content-type"),
      headers.get("content-length"),
      headers.getSetCookie(),
    ]).toEqual(["text/event-stream", null, ["a=1", "b=2"]]);
    expect(headers.get("vary")).toMatch(/cookie/i);
  });

  it("and cancels it when the browser leaves, which is no error", async () => {
    const { reply, cancelled } = stream();
    const { leave } = await open(reply);
    leave.abort();
    await cancelled;
    expect(errors).toEqual([]);
  });

  it("and breaks the connection when the stream fails, so that the response does not seem complete", async () => {
    const { reply, fail } = stream();
    const { reader } = await open(reply);
    fail();
    await expect(reader.read()).rejects.toThrow();
  });
});

it("node:http2 sends a stream, and cancels it when the browser leaves", async () => {
  const { reply, cancelled } = stream();
  const server = createHttp2Server((_request, response) => writeReply(response, reply));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connectHttp2(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  running.push({
    async stop() {
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const request = client.request({ ":path": "/" });
  const [first] = (await once(request, "data")) as [Buffer];
  expect(first.toString()).toBe("first");
  request.close();
  await cancelled;
});

it.each<[string, (reply: AnyReply) => unknown]>([
  ["node:http", (reply) => writeReply({ headersSent: true } as never, reply)],
  ["Koa", (reply) => setReply({ headerSent: true } as never, reply)],
  ["Fastify", (reply) => sendReply({ sent: true }, reply)],
])("on %s the stream of a reply is cancelled if other code has responded", async (_name, send) => {
  const { reply, cancelled } = stream();
  send(reply);
  await cancelled;
});
