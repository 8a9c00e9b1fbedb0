// The browsers of the case `proxy`: single requests, large bodies and event streams. The throughput
// has load.mjs.
import { request as send } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { serveCalls } from "./children.mjs";

const CHUNK = Buffer.alloc(64 * 1024, "x");

function headOf({ method = "GET", path, cookie }) {
  return {
    host: "127.0.0.1",
    method,
    path,
    headers: { ...(cookie && { cookie }), ...(method === "POST" && { "x-idpauth": "1" }) },
  };
}

/** Milliseconds until the first byte of each response, over one connection. */
async function firstByteOver(port, path, cookie) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const text = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${cookie ? `Cookie: ${cookie}\r\n` : ""}\r\n`;
  let onData;
  socket.on("data", (chunk) => onData(chunk));
  socket.on("error", () => {});
  const once = () =>
    new Promise((resolve, reject) => {
      let first;
      let received = "";
      onData = (chunk) => {
        first ??= performance.now() - started;
        received += chunk.latin1Slice();
        if (!received.startsWith("HTTP/1.1 200 ")) reject(new Error(received));
        else if (received.endsWith("}")) resolve(first);
      };
      const started = performance.now();
      socket.write(text);
    });
  return { once, close: () => socket.destroy() };
}

const streams = [];

serveCalls({
  /**
   * Sends one request to each target in turn, that many times. Returns the milliseconds of each
   * target.
   */
  async firstBytes({ targets, count }) {
    const connections = await Promise.all(
      targets.map(({ port, path, cookie }) => firstByteOver(port, path, cookie)),
    );
    const times = targets.map(() => []);
    for (let round = 0; round < count + 200; round += 1)
      for (const [index, { once }] of connections.entries()) {
        const time = await once();
        // The first ones warm up.
        if (round >= 200) times[index].push(time);
      }
    for (const { close } of connections) close();
    return times;
  },

  /**
   * Sends a request, with a body of that many bytes, and reads the response. Returns its bytes and
   * its end.
   */
  async transfer({ port, size = 0, ...head }) {
    return new Promise((resolve, reject) => {
      const request = send({ ...headOf(head), port, agent: false }, (response) => {
        let bytes = 0;
        let last = "";
        response.on("data", (chunk) => {
          bytes += chunk.length;
          last = chunk;
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode, bytes, last: last.toString().slice(-100) }),
        );
      });
      request.on("error", reject);
      if (size === 0) return request.end();
      request.setHeader("content-length", size);
      const chunks = function* () {
        for (let left = size; left > 0; left -= CHUNK.length)
          yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
      };
      Readable.from(chunks()).pipe(request);
    });
  },

  /** Opens event streams, and resolves when each has sent its first event. */
  async openStreams({ port, path, cookies, count }) {
    const open = async (cookie) =>
      new Promise((resolve, reject) => {
        const request = send({ ...headOf({ path, cookie }), port, agent: false }, (response) => {
          if (response.statusCode !== 200)
            reject(new Error(`a stream was answered ${response.statusCode}`));
          response.on("error", () => {});
          streams.push({
            closed: new Promise((closed) =>
              response.once("close", () => closed(performance.timeOrigin + performance.now())),
            ),
          });
          response.once("data", resolve);
        });
        request.on("error", reject);
        request.end();
      });
    for (let index = 0; index < count; index += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, count - index) }, (_, at) =>
          open(cookies[(index + at) % cookies.length]),
        ),
      );
  },

  /**
   * Waits until every stream has ended. Returns the number of those that have, and the time of the
   * last end.
   */
  async streamsEnded({ milliseconds }) {
    const late = new Promise((resolve) => setTimeout(resolve, milliseconds));
    const ends = await Promise.all(streams.map(({ closed }) => Promise.race([closed, late])));
    const all = ends.filter((end) => end !== undefined);
    return { ended: all.length, last: Math.max(...all) };
  },
});
