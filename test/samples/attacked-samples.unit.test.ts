import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import {
  ATTACKED_ELSEWHERE,
  CLOSING,
  EXAMPLES,
  FASTIFY_REACT,
  PROXIES,
  SOCKET_IO,
  SOCKETS,
  STREAMS,
} from "./attacked-samples.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const HAS_SOCKET =
  /WebSocketServer|"upgrade"|upgradeWebSocket|openStream|event-stream|@WebSocketGateway|from "(?:redis|ioredis|pg|socket\.io|@fastify\/websocket)"/;
const ATTACKED = new Set([
  ...[...SOCKETS, ...PROXIES, SOCKET_IO, ...STREAMS, FASTIFY_REACT],
  ...[...EXAMPLES, ...CLOSING].map(({ file }) => file),
  ...Object.keys(ATTACKED_ELSEWHERE),
]);

// A sample that nobody attacks is copied all the same.
it("every sample for servers with a socket, a stream or the client of a store is attacked", () => {
  const files = ["docs/snippets", "examples"].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((name) => path.posix.join(folder, name))
      // The samples for browsers are clients.
      .filter((name) => /(?<!browser)\.(?:mjs|js|ts)$/.test(name) && !name.includes("/public/"))
      .filter((name) => !name.includes("node_modules")),
  );
  const withSocket = files.filter((file) =>
    HAS_SOCKET.test(readFileSync(path.join(ROOT, file), "utf8")),
  );
  expect(withSocket.length).toBeGreaterThan(15);
  expect(withSocket.filter((file) => !ATTACKED.has(file))).toEqual([]);
});
