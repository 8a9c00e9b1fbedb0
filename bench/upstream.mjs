// The API behind the proxies of the case `proxy`.
import { createServer } from "node:http";
import { serveCalls } from "./children.mjs";

const JSON_1_KB = Buffer.from(JSON.stringify({ authenticated: true, filler: "x".repeat(995) }));
const CHUNK = Buffer.alloc(64 * 1024, "x");

/** Each takes the part of the path behind its name. */
const routes = {
  small(request, response) {
    response
      .writeHead(200, { "Content-Type": "application/json", "Content-Length": JSON_1_KB.length })
      .end(JSON_1_KB);
  },
  /** Sends that many bytes. */
  download(request, response, size) {
    response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": size });
    let left = Number(size);
    const send = () => {
      for (let isFree = true; isFree && left > 0; left -= CHUNK.length)
        isFree = response.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)));
      if (left <= 0) response.end();
    };
    response.on("drain", send);
    send();
  },
  /** Responds with the number of bytes that it got. */
  upload(request, response) {
    let size = 0;
    request.on("data", (chunk) => (size += chunk.length));
    request.on("end", () => response.end(String(size)));
  },
  /** Sends one event, and keeps the stream open. */
  events(request, response) {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: 1\n\n");
  },
};

const server = createServer(
  { keepAliveTimeout: 60_000, requestTimeout: 0 },
  (request, response) => {
    const [name, rest] = request.url.slice("/v2/".length).split("/");
    routes[name](request, response, rest);
  },
).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));

serveCalls({
  port: () => server.address().port,
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
});
