import { randomBytes } from "node:crypto";

/** Bytes that a client sends after the handshake of a WebSocket (RFC 6455, section 5). */
export interface HostileFrame {
  readonly name: string;
  readonly bytes: Buffer;
  /** The client resets the connection right afterwards. */
  readonly resets?: boolean;
}

const MASK = Buffer.from([1, 2, 3, 4]);
const TEXT = 0x81;
const PING = 0x89;
const CLOSE = 0x88;

/** Returns a frame as a browser sends it: masked, with a length that is right. */
export function frame(first: number, payload: Buffer): Buffer {
  const masked = payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0));
  return Buffer.concat([Buffer.from([first]), lengthOf(payload.length), MASK, masked]);
}

export const textFrame = (text: string): Buffer => frame(TEXT, Buffer.from(text));

function lengthOf(bytes: number): Buffer {
  if (bytes < 126) return Buffer.from([0x80 | bytes]);
  const isLong = bytes > 65_535;
  const length = Buffer.alloc(isLong ? 9 : 3);
  length[0] = isLong ? 0xff : 0xfe;
  if (isLong) length.writeBigUInt64BE(BigInt(bytes), 1);
  else length.writeUInt16BE(bytes, 1);
  return length;
}

/** The first bytes of a frame whose length is given in eight bytes. */
const announcing = (length: bigint): Buffer => {
  const bytes = Buffer.alloc(14);
  bytes.set([TEXT, 0xff]);
  bytes.writeBigUInt64BE(length, 2);
  MASK.copy(bytes, 10);
  return bytes;
};

const closeWith = (code: number, reason: Buffer | string = ""): Buffer => {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  Buffer.from(reason).copy(payload, 2);
  return frame(CLOSE, payload);
};

/** One of each kind. */
export const HOSTILE_FRAMES: readonly HostileFrame[] = [
  { name: "65,537 bytes", bytes: frame(TEXT, Buffer.alloc(65_537, "a")) },
  { name: "a reserved opcode", bytes: frame(0x83, Buffer.from("a")) },
  { name: "a reserved control opcode", bytes: frame(0x8b, Buffer.from("a")) },
  { name: "broken UTF-8", bytes: frame(TEXT, Buffer.from([0xc3, 0x28])) },
  { name: "an unmasked frame", bytes: Buffer.from([TEXT, 1, 0x61]) },
  { name: "a fragmented control frame", bytes: frame(0x09, Buffer.from("a")) },
  { name: "an oversized control frame", bytes: frame(PING, Buffer.alloc(126)) },
  { name: "a set reserved bit", bytes: frame(0xc1, Buffer.from("a")) },
  { name: "a continuation of nothing", bytes: frame(0x80, Buffer.from("a")) },
  {
    name: "a new message inside a fragmented one",
    bytes: Buffer.concat([frame(0x01, Buffer.from("a")), frame(TEXT, Buffer.from("b"))]),
  },
  { name: "a length of 2^63", bytes: announcing(2n ** 63n) },
  { name: "a length of 2^53", bytes: announcing(2n ** 53n) },
  { name: "a length of 65,537 without data", bytes: announcing(65_537n) },
  { name: "a close code of 999", bytes: closeWith(999) },
  { name: "a close frame of one byte", bytes: frame(CLOSE, Buffer.from([3])) },
  { name: "a close reason of broken UTF-8", bytes: closeWith(1000, Buffer.from([0xff])) },
  { name: "random bytes", bytes: randomBytes(200) },
  { name: "an HTTP request", bytes: Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n") },
  {
    name: "half a frame, then a reset",
    bytes: frame(TEXT, Buffer.from("half")).subarray(0, 7),
    resets: true,
  },
  { name: "a reset", bytes: Buffer.alloc(0), resets: true },
];

/** Returns numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns so many frames: one of each kind, then changed, cut and joined ones. */
export function hostileFrames(count: number, seed: number): HostileFrame[] {
  const random = seeded(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const any = (): HostileFrame => HOSTILE_FRAMES[below(HOSTILE_FRAMES.length)]!;
  const mixed = Array.from({ length: Math.max(0, count - HOSTILE_FRAMES.length) }, () => {
    const bytes = Buffer.from(random() < 0.3 ? textFrame("hello") : any().bytes);
    // Of the first bytes, which decide.
    if (bytes.length > 0) bytes[below(Math.min(bytes.length, 16))] = below(256);
    const cut = random() < 0.2 ? bytes.subarray(0, below(bytes.length + 1)) : bytes;
    const joined = random() < 0.2 ? Buffer.concat([cut, any().bytes]) : cut;
    return { name: "a mixed one", bytes: joined, resets: random() < 0.3 };
  });
  return [...HOSTILE_FRAMES, ...mixed].slice(0, count);
}
