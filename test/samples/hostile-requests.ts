import { seeded, type HostileFrame } from "./hostile-frames.js";

/** What a client sends instead of a good request. */
export type HostileRequest = HostileFrame;

const upgrade = (
  path: string,
  { method = "GET", upgrade = "websocket", key = "dGhlIHNhbXBsZSBub25jZQ==", more = "" } = {},
): Buffer =>
  Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n${more}\r\n`,
    "latin1",
  );

const plain = (line: string, more = "Host: localhost\r\n"): Buffer =>
  Buffer.from(`${line}\r\n${more}\r\n`, "latin1");

/** One of each kind. @param path of the sample's WebSocket or stream */
function requestsTo(path: string): HostileRequest[] {
  const upgrades: [string, Buffer][] = [
    ["without a key", upgrade(path, { key: "" })],
    ["with a key of 9,000 characters", upgrade(path, { key: "a".repeat(9000) })],
    ["with a key of 20,000 characters", upgrade(path, { key: "a".repeat(20_000) })],
    ["with a key of other characters", upgrade(path, { key: "\u00ff%00 \t=" })],
    ["with two keys", upgrade(path, { more: "Sec-WebSocket-Key: a\r\n" })],
    ["with version 99", upgrade(path, { more: "Sec-WebSocket-Version: 99\r\n" })],
    ["to h2c", upgrade(path, { upgrade: "h2c" })],
    ["to nothing", upgrade(path, { upgrade: "" })],
    ["to two protocols", upgrade(path, { upgrade: "h2c, websocket" })],
    ["by POST with a body", upgrade(path, { method: "POST", more: "Content-Length: 9\r\n" })],
    ["with a chunked body", upgrade(path, { more: "Transfer-Encoding: chunked\r\n" })],
    ["with broken subprotocols", upgrade(path, { more: "Sec-WebSocket-Protocol: ,,\u00ff\r\n" })],
    [
      "with broken extensions",
      upgrade(path, {
        more: "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=999\r\n",
      }),
    ],
    ["with a broken origin and cookie", upgrade(path, { more: "Origin: %\r\nCookie: %;=;\r\n" })],
    ["of another path", upgrade("/nowhere")],
    ["of a broken path", upgrade("/%E0%A4%A")],
    ["of a broken address", upgrade("//[", { more: "Origin: null\r\n" })],
    ["of the login", upgrade("/idpauth/login/")],
  ];
  const requests: [string, Buffer][] = [
    ["a broken path", plain("GET /%E0%A4%A HTTP/1.1")],
    ["a broken address", plain("GET //[ HTTP/1.1")],
    ["an absolute address", plain("GET http://[ HTTP/1.1")],
    ["an asterisk", plain("OPTIONS * HTTP/1.1")],
    ["CONNECT", plain("CONNECT other:443 HTTP/1.1")],
    ["no Host", plain(`GET ${path} HTTP/1.1`, "")],
    ["a broken Host", plain(`GET ${path} HTTP/1.1`, "Host: a b%\r\n")],
    ["an empty Host", plain("GET /idpauth/login/ HTTP/1.1", "Host: \r\n")],
    ["HTTP/1.0", plain(`GET ${path} HTTP/1.0`)],
    ["an unknown method", plain(`BREW ${path} HTTP/1.1`)],
    [
      "two lengths",
      plain(
        `POST ${path} HTTP/1.1`,
        "Host: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n",
      ),
    ],
    [
      "a body that is cut off",
      plain("POST /idpauth/logout/ HTTP/1.1", "Host: localhost\r\nContent-Length: 99\r\n"),
    ],
    [
      "an unknown expectation",
      plain(`GET ${path} HTTP/1.1`, "Host: localhost\r\nExpect: nothing\r\n"),
    ],
    ["a NUL", plain(`GET ${path} HTTP/1.1`, "Host: localhost\r\nX: \u0000\r\n")],
    ["no HTTP", Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])],
    ["200 headers", plain(`GET ${path} HTTP/1.1`, "Host: localhost\r\n".padEnd(9000, "a: b\r\n"))],
  ];
  return [
    ...upgrades.flatMap(([name, bytes]) => [
      { name: `an upgrade ${name}`, bytes },
      { name: `an upgrade ${name}, then a reset`, bytes, resets: true },
    ]),
    ...requests.map(([name, bytes]) => ({ name, bytes })),
    { name: "a reset", bytes: Buffer.alloc(0), resets: true },
  ];
}

/** Returns so many requests: one of each kind, then cut, changed and joined ones. */
export function hostileRequests(path: string, count: number, seed: number): HostileRequest[] {
  const random = seeded(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const kinds = requestsTo(path);
  const any = (): HostileRequest => kinds[below(kinds.length)]!;
  const mixed = Array.from({ length: Math.max(0, count - kinds.length) }, () => {
    const bytes = Buffer.from(any().bytes);
    if (random() < 0.3 && bytes.length > 0) bytes[below(bytes.length)] = below(256);
    const cut = random() < 0.3 ? bytes.subarray(0, below(bytes.length + 1)) : bytes;
    const joined = random() < 0.2 ? Buffer.concat([cut, any().bytes]) : cut;
    return { name: "a mixed one", bytes: joined, resets: random() < 0.5 };
  });
  return [...kinds, ...mixed].slice(0, count);
}
