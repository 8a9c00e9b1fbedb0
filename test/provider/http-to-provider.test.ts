import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.js";
import {
  createProviderHttp,
  MAX_RESPONSE_BYTES,
  untilAborted,
} from "../../src/provider/http-to-provider.js";
import { rejection, unavailable } from "./rig.js";

let server: Server | undefined;
/** Requests whose socket is still open and held by them. */
let held = 0;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  server = createServer((_request, response) => {
    held += 1;
    response.on("close", () => {
      held -= 1;
    });
    answer(response);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

const http = createProviderHttp({ clock: systemClock, timeout: 0.05, fetch });
const patient = createProviderHttp({ clock: systemClock, timeout: 10, fetch });
const GET = { method: "GET", headers: {} };

describe("one request to the provider", () => {
  it("gives status, headers and text as they came, without a byte order mark", async () => {
    const url = await serve((response) =>
      response.writeHead(418, { "X-A": "b" }).end("\uFEFF{}\uFEFF"),
    );
    const { status, headers, text } = await patient.send(url, GET);
    expect([status, headers.get("x-a"), text]).toEqual([418, "b", "{}\uFEFF"]);
  });

  it("takes a body of exactly 1 MiB and no byte more", async () => {
    let bytes = MAX_RESPONSE_BYTES;
    const url = await serve((response) => response.end(Buffer.alloc(bytes, "x")));
    expect((await patient.send(url, GET)).text).toHaveLength(MAX_RESPONSE_BYTES);
    bytes += 1;
    expect(await rejection(patient.send(url, GET))).toBe(unavailable("too_large"));
  });

  it("[F6] counts the bytes of a compressed body after decoding, and stops reading", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
    const url = await serve((response) =>
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    expect(await rejection(patient.send(url, GET))).toBe(unavailable("too_large"));
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  });

  it.each([
    ["[F2] an answer that never begins", () => undefined],
    [
      "[F3] a body that never ends",
      (response: ServerResponse) => response.writeHead(200).write("{"),
    ],
    [
      "[F3] a body that drips",
      (response: ServerResponse) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write("x"), 10);
        response.on("close", () => {
          clearInterval(drip);
        });
      },
    ],
  ])("[F2] [F3] one deadline for connecting, headers and body: %s", async (_name, answer) => {
    const url = await serve(answer);
    expect(await rejection(http.send(url, GET))).toBe(unavailable("timeout"));
    expect(await rejection(patient.send(url, GET, AbortSignal.timeout(30)))).toBe(
      unavailable("timeout"),
    );
    // F2 The socket is given back.
    await expect.poll(() => held).toBe(0);
  });

  it("the deadline also ends the wait for a fetch that ignores its signal", async () => {
    const deaf = createProviderHttp({
      clock: systemClock,
      timeout: 0.02,
      fetch: () => new Promise(() => undefined),
    });
    expect(await rejection(deaf.send("http://127.0.0.1/", GET))).toBe(unavailable("timeout"));
  });

  it("[F1] nobody listening is a network failure", async () => {
    const url = await serve(() => undefined);
    await new Promise((resolve) => server?.close(resolve));
    expect(await rejection(patient.send(url, GET))).toBe(unavailable("network"));
  });

  it.each([
    ["CERT_HAS_EXPIRED", "certificate"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate"],
    ["INVALID_CA", "certificate"],
    ["INVALID_PURPOSE", "certificate"],
    ["PATH_LENGTH_EXCEEDED", "certificate"],
    ["INVALID_ARGUMENT", "network"],
    ["ECONNREFUSED", "network"],
    ["EPROTO", "network"],
  ])("a connection that fails with %s has the reason %s", async (code, reason) => {
    const cause = Object.assign(new Error("secret"), { code });
    const failing = createProviderHttp({
      clock: systemClock,
      timeout: 1,
      fetch: () => Promise.reject(new TypeError("fetch failed", { cause })),
    });
    expect(await rejection(failing.send("https://127.0.0.1/", GET))).toBe(unavailable(reason));
  });

  it("an aborted wait is a timeout; the task goes on", async () => {
    const controller = new AbortController();
    let finish: (value: number) => void = () => undefined;
    const task = new Promise<number>((resolve) => (finish = resolve));
    const waiting = rejection(untilAborted(controller.signal, () => task));
    controller.abort();
    expect(await waiting).toBe(unavailable("timeout"));
    expect(await rejection(untilAborted(controller.signal, () => task))).toBe(
      unavailable("timeout"),
    );
    finish(1);
    expect(await untilAborted(undefined, () => task)).toBe(1);
  });
});
