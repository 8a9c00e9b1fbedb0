import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A DNS server on this machine, whose zone contains only TXT records (RFC 1035). */
export interface TxtServer {
  /** `127.0.0.1:port`, as `setServers` of node:dns takes it. */
  readonly address: string;
  /** From each name in lower case to its text. You can change it. */
  readonly records: Map<string, string>;
  stop(): Promise<void>;
}

const HEADER_BYTES = 12;
const [RESPONSE, NO_SUCH_NAME] = [0x8180, 0x8183];

export async function startTxtServer(): Promise<TxtServer> {
  const records = new Map<string, string>();
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, end } = questionIn(query);
    const text = records.get(name);
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(text === undefined ? NO_SUCH_NAME : RESPONSE, 2);
    header.writeUInt16BE(text === undefined ? 0 : 1, 6);
    header.fill(0, 8); // no authorities, and no additional records
    const question = query.subarray(HEADER_BYTES, end);
    const answer = text === undefined ? Buffer.alloc(0) : Buffer.concat([question, rest(text)]);
    socket.send(Buffer.concat([header, question, answer]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${String(socket.address().port)}`,
    records,
    async stop() {
      socket.close();
      await once(socket, "close");
    },
  };
}

/** Returns the name that a query asks for, and where its question ends. */
function questionIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 };
}

/** What follows name, type and class in a record: time to live, length and text. */
function rest(text: string): Buffer {
  const fields = Buffer.alloc(7);
  fields.writeUInt16BE(text.length + 1, 4);
  fields.writeUInt8(text.length, 6);
  return Buffer.concat([fields, Buffer.from(text, "latin1")]);
}
