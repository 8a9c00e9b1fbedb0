import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

// The server's side of RFC 6455, without extensions and subprotocols.

const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** The first byte of a frame (section 5.2): FIN, and the opcodes. */
const HEAD = { final: 0x80, text: 0x1, close: 0x8, ping: 0x9, pong: 0xa } as const;
/** Longest payload of a frame. */
const MAX_FRAME_BYTES = 1024 * 1024;

interface Frame {
  /** FIN and the opcode. */
  readonly head: number;
  readonly payload: Buffer;
  /** Of the whole frame. */
  readonly length: number;
}

/** An open WebSocket, which returns each message. */
export interface EchoSocket {
  /** Sends a text message. */
  send(text: string): void;
}

/** Accepts a handshake, and returns each message to its sender. */
export function acceptWebSocket(
  message: IncomingMessage,
  socket: Duplex,
  first: Buffer,
): EchoSocket {
  const accept = createHash("sha1")
    .update(`${message.headers["sec-websocket-key"] ?? ""}${ACCEPT_SUFFIX}`)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let bytes = Buffer.alloc(0);
  const take = (piece: Buffer): void => {
    bytes = Buffer.concat([bytes, piece]);
    if (bytes.length > 2 * MAX_FRAME_BYTES) socket.destroy();
    for (let frame = firstFrame(bytes); frame !== undefined; frame = firstFrame(bytes)) {
      bytes = bytes.subarray(frame.length);
      respond(frame, socket);
    }
  };
  socket.on("data", take).on("error", () => undefined);
  socket.on("end", () => socket.end());
  take(first);
  return { send: (text) => socket.write(frameOf(HEAD.final | HEAD.text, Buffer.from(text))) };
}

function respond({ head, payload }: Frame, socket: Duplex): void {
  const opcode = head & 0x0f;
  if (opcode === HEAD.pong) return;
  if (opcode === HEAD.close) socket.end(frameOf(head, payload));
  // Fragments return as fragments.
  else socket.write(frameOf(opcode === HEAD.ping ? HEAD.final | HEAD.pong : head, payload));
}

/** Returns the first frame of a client; undefined as long as a part of it is missing. */
function firstFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 0x7f;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskAt = 2 + extended;
  if (bytes.length < maskAt + 4) return undefined;
  const size =
    extended === 0
      ? short
      : extended === 2
        ? bytes.readUInt16BE(2)
        : Number(bytes.readBigUInt64BE(2));
  const start = maskAt + 4;
  if (bytes.length < start + size) return undefined;
  const mask = bytes.subarray(maskAt, start);
  const payload = Buffer.from(bytes.subarray(start, start + size));
  for (const [at, byte] of payload.entries()) payload[at] = byte ^ mask.readUInt8(at % 4);
  return { head: bytes.readUInt8(0), payload, length: start + size };
}

/** Returns a frame of the server, which is not masked. */
function frameOf(head: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size =
    length < 126
      ? [length]
      : length < 0x10000
        ? [126, length >> 8, length & 0xff]
        : [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((bits) => (length >>> bits) & 0xff)];
  return Buffer.concat([Buffer.from([head, ...size]), payload]);
}
