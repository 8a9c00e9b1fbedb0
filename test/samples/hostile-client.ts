import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { closed } from "../support/closed.js";
import type { HostileFrame } from "./hostile-frames.js";

/** How many connections are open at once. */
const AT_ONCE = 25;
/** How long a client waits for the server to close a connection. Milliseconds. */
const PATIENCE_MS = 40;

/** Opens a connection whose errors don't matter. */
export async function openTcp(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket.on("error", () => undefined);
}

/**
 * Opens a WebSocket and returns its connection, which responds to no frame. What the server sends
 * with the handshake is lost.
 * @throws Error if the server doesn't accept it; the connection stays open
 */
export async function openWebSocket(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Socket> {
  const socket = await openTcp(port);
  const lines = Object.entries({
    Host: `localhost:${String(port)}`,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const data = await new Promise<string>((resolve) => {
    socket.once("data", (bytes: Buffer) => {
      resolve(bytes.toString("latin1"));
    });
    socket.once("close", () => {
      resolve("closed");
    });
  });
  const [status = ""] = data.split("\r\n");
  socket.resume();
  if (!status.includes("101")) throw new Error(`The WebSocket didn't open: ${status}`);
  return socket;
}

/**
 * Leaves open what strangers leave open: a connection without a request, half a request, half a body,
 * a refused WebSocket, and an upgrade to another protocol. Resolves when the server has them all.
 */
export async function leaveOpen(port: number, path: string): Promise<void> {
  await openTcp(port);
  for (const text of [
    "GET / HTTP/1.1\r\nHost: local",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
  ])
    (await openTcp(port)).resume().write(text);
  await openWebSocket(port, path, {}).catch(() => undefined);
  // The system accepts connections before the server does, which takes them in their order.
  await fetch(`http://127.0.0.1:${String(port)}/nowhere`, { headers: { connection: "close" } });
}

/**
 * Sends each of them over a connection of its own, several at once. Returns how many: a connection
 * that doesn't open is left out, as those to a process that has ended.
 */
export async function sendHostile(
  all: readonly HostileFrame[],
  open: () => Promise<Socket>,
): Promise<number> {
  const left = [...all];
  let sent = 0;
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const socket = await open().catch(() => undefined);
      if (socket === undefined) continue;
      const ended = closed(socket);
      socket.resume();
      socket.write(one.bytes);
      sent += 1;
      if (one.resets === true) {
        // The server has read it, and works on it.
        await pause(Math.random() * 3);
        socket.resetAndDestroy();
      } else {
        await Promise.race([ended, pause(PATIENCE_MS)]);
        socket.destroy();
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return sent;
}
