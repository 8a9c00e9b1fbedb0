/** What a fault makes of a response. */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../index.js";
import type { Fault } from "./faults.js";
import { send, type ProviderReply } from "./replies.js";

const JSON_TYPE = { "Content-Type": "application/json" };

/** A response that a fault changes. */
export interface StruckResponse {
  readonly response: ServerResponse;
  readonly clock: Clock;
  /** The real reply when the work has been done. */
  readonly reply: ProviderReply | undefined;
}

/** `go-on`: the usual work follows. `dealt-with`: the fault has handled the response. */
type Outcome = "go-on" | "dealt-with";

/** Applies a fault. */
export async function strike(
  fault: Fault,
  { response, clock, reply }: StruckResponse,
): Promise<Outcome> {
  if (fault.kind === "delay") {
    await pause(clock, fault.ms ?? 1000);
    return "go-on";
  }
  const real = reply ?? { status: 200, headers: JSON_TYPE, body: "{}" };
  switch (fault.kind) {
    case "hang":
      break;
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    case "status":
      sendStatus(response, fault);
      break;
    case "garbage":
      send(response, { status: 200, headers: JSON_TYPE, body: fault.body ?? '{"garbage' });
      break;
    case "redirect": {
      const location = fault.location ?? "/redirected";
      response.writeHead(fault.status ?? 302, { Location: location, "Content-Length": 0 }).end();
      break;
    }
    case "wrong-type":
      send(response, {
        ...real,
        headers: { ...real.headers, ...(fault.headers ?? { "Content-Type": "text/html" }) },
        body: `${fault.byteOrderMark === true ? "\uFEFF" : ""}${fault.body ?? real.body}`,
      });
      break;
    case "oversized":
      await sendOversized(response, real, fault.bytes ?? 2 * 1024 * 1024);
      break;
    case "truncated":
      sendTruncated(response, { ...real, body: fault.body ?? real.body }, fault.bytes);
      break;
    case "drip":
      await drip({ response, clock, reply: { ...real, body: fault.body ?? real.body } }, fault.ms);
      break;
  }
  return "dealt-with";
}

function sendStatus(
  response: ServerResponse,
  { status = 500, headers, body }: Extract<Fault, { readonly kind: "status" }>,
): void {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const bytes =
    body === undefined
      ? Buffer.alloc(0)
      : raw
        ? Buffer.from(body as string)
        : Buffer.from(JSON.stringify(body));
  const type =
    body === undefined ? {} : { "Content-Type": raw ? "text/plain" : "application/json" };
  response.writeHead(status, { ...type, ...headers, "Content-Length": bytes.length });
  response.end(bytes);
}

/** The real reply's members come last, so that only a client with a size limit misses them. */
async function sendOversized(
  response: ServerResponse,
  real: ProviderReply,
  bytes: number,
): Promise<void> {
  const members = real.body.startsWith("{") ? real.body.slice(1) : "}";
  const head = '{"padding":"';
  const tail = members.trim() === "}" ? '"}' : `",${members}`;
  response.writeHead(200, { ...real.headers, "Content-Type": "application/json" });
  response.write(head);
  const chunk = "x".repeat(64 * 1024);
  for (let left = bytes - head.length - tail.length; left > 0; left -= chunk.length) {
    if (response.destroyed) return;
    if (!response.write(left < chunk.length ? chunk.slice(0, left) : chunk))
      await drained(response);
  }
  response.end(tail);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

function sendTruncated(
  response: ServerResponse,
  reply: ProviderReply,
  bytes: number | undefined,
): void {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, "Content-Length": body.length });
  // The socket closes after the bytes are sent. Otherwise the client would get no reply at all.
  response.write(body.subarray(0, bytes ?? Math.floor(body.length / 2)), () =>
    response.socket?.end(),
  );
}

async function drip(
  { response, clock, reply }: StruckResponse & { readonly reply: ProviderReply },
  ms = 1000,
): Promise<void> {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, "Content-Length": body.length });
  response.flushHeaders();
  for (const byte of body) {
    await pause(clock, ms);
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
  }
  response.end();
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
}
