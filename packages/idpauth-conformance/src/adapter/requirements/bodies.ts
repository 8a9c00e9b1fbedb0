import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import type { CookieBrowser } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import { rawRequest, type RawResponse } from "../raw-request.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "bodies";
const TWO_MEGABYTES = 2 * 1024 * 1024;
const BYTES = "application/octet-stream";
const ECHOES = ["/echo", "/guarded-echo"] as const;

/** Bytes that a decoder, a parser or a line reader would change. */
const AWKWARD = Buffer.concat([
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.from("\r\n\r\n0\r\n\r\n--boundary--\r\nGET /idpauth/logout/ HTTP/1.1\r\n\r\n", "latin1"),
  Buffer.from([0xef, 0xbb, 0xbf, 0xed, 0xa0, 0x80, 0xff, 0x00]),
]);

/** Bodies of forms and scripts, and malformed ones. */
const TYPED: readonly (readonly [type: string, body: string])[] = [
  ["application/json", '{ "b" : 1 ,\n "a": [ 1.0, "\\u00e9" ] }'],
  ["application/x-www-form-urlencoded", "a=1&a=2&b[c]=%ff&=&d+e"],
  ["text/plain; charset=iso-8859-1", "caf\u00e9"],
  [
    "multipart/form-data; boundary=x",
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
  ],
];

export const bodyRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title: "a large body reaches the handler byte for byte, guarded or not",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const body = randomBytes(TWO_MEGABYTES);
      for (const path of ECHOES) {
        const { status, bytes } = await post(app, browser, path, body);
        assert.deepEqual(
          [path, status, bytes.length, digest(bytes)],
          [path, 200, body.length, digest(body)],
        );
      }
    },
  },
  {
    area,
    title: "bytes of every kind reach the handler, with a length, in chunks, or as no body at all",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const path of ECHOES) {
        for (const sent of [
          AWKWARD,
          [AWKWARD.subarray(0, 1), AWKWARD.subarray(1, 300), AWKWARD.subarray(300)],
          Buffer.alloc(0),
        ]) {
          const { status, bytes } = await post(app, browser, path, sent);
          const whole = Array.isArray(sent) ? AWKWARD : sent;
          assert.deepEqual(
            [path, status, bytes.toString("hex")],
            [path, 200, whole.toString("hex")],
          );
        }
      }
    },
  },
  {
    area,
    title: "a body is not parsed, for any content type",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const path of ECHOES) {
        for (const [type, text] of TYPED) {
          const { status, bytes } = await post(
            app,
            browser,
            path,
            Buffer.from(text, "latin1"),
            type,
          );
          assert.deepEqual([path, type, status, bytes.toString("latin1")], [path, type, 200, text]);
        }
      }
    },
  },
  {
    area,
    title: "a body streams: the response to its beginning arrives before the rest is sent",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      for (const path of ECHOES) {
        const outgoing = begin(app, browser, path, { "transfer-encoding": "chunked" });
        outgoing.write("first");
        const message = await withinLimit(
          responseTo(outgoing),
          `the response of ${path} does not begin before the body has ended`,
        );
        assert.equal(message.statusCode, 200, path);
        const [first] = (await withinLimit(
          once(message, "data"),
          `${path} keeps the first part back`,
        )) as [Buffer];
        assert.equal(first.toString(), "first");
        outgoing.end("second");
        assert.equal((await bytesOf(message)).toString(), "second");
      }
    },
  },
  {
    area,
    title: "a body that arrives during a refresh in the guard reaches the handler complete",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      app.clock.advance(HOUR_MS);
      const token = app.provider.hold("token");
      const response = post(app, browser, "/guarded-echo", [AWKWARD, AWKWARD, AWKWARD]);
      await token.arrived;
      token.release();
      const { status, bytes } = await response;
      assert.deepEqual([status, bytes.toString("hex")], [200, AWKWARD.toString("hex").repeat(3)]);
    },
  },
  {
    area,
    title: "a POST that the guard blocks gets its 401 while its body is still being sent",
    async check(starter) {
      const app = await starter.start();
      for (const framing of UNFINISHED) {
        const response = await beginning(app, "POST /guarded-echo", framing);
        assert.deepEqual(
          [response.status, (JSON.parse(response.body) as { error: string }).error],
          [401, "login_required"],
          response.raw,
        );
      }
      assert.deepEqual((await app.browser().get("/public")).json(), { for: "everybody" });
    },
  },
  {
    area,
    title: "a big body to an endpoint of idpauth gets a 405 at once and has no effect",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const cookie = browser.cookies.header(new URL(app.origin)) ?? "";
      for (const path of ["session", "logout/", "login-callback?state=x&code=y", ""]) {
        for (const framing of UNFINISHED) {
          const response = await beginning(
            app,
            `POST /idpauth/${path}`,
            `Cookie: ${cookie}\r\n${framing}`,
          );
          assert.deepEqual(
            [response.status, response.header("allow")?.startsWith("GET")],
            [405, true],
            `${path}: ${response.raw}`,
          );
        }
      }
      assert.equal((await browser.get("/idpauth/session")).json().authenticated, true);
      assert.deepEqual(app.caught, []);
    },
  },
];

/** Bodies that are announced and never sent. */
const UNFINISHED = [
  "Content-Length: 1000000000\r\n\r\nthe first of many bytes",
  `Transfer-Encoding: chunked\r\n\r\n17\r\nthe first of many bytes\r\n`,
] as const;

function beginning({ port }: StartedApplication, line: string, rest: string): Promise<RawResponse> {
  const request = `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\nContent-Type: ${BYTES}\r\n${rest}`;
  return withinLimit(
    rawRequest(port, request),
    `${line} is not answered before its body has ended`,
  );
}

interface Echoed {
  readonly status: number | undefined;
  readonly bytes: Buffer;
}

/** @param body several parts are sent as chunks, one after the other */
async function post(
  app: StartedApplication,
  browser: CookieBrowser,
  path: string,
  body: Buffer | readonly Buffer[],
  type: string = BYTES,
): Promise<Echoed> {
  const whole = Buffer.isBuffer(body);
  const outgoing = begin(app, browser, path, {
    "content-type": type,
    ...(whole ? { "content-length": String(body.length) } : { "transfer-encoding": "chunked" }),
  });
  const answered = responseTo(outgoing);
  for (const part of whole ? [body] : body) {
    outgoing.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  outgoing.end();
  const message = await withinLimit(answered, `${path} does not response`);
  return { status: message.statusCode, bytes: await bytesOf(message) };
}

function begin(
  { port, origin }: StartedApplication,
  browser: CookieBrowser,
  path: string,
  headers: Record<string, string>,
): ClientRequest {
  const cookie = browser.cookies.header(new URL(origin)) ?? "";
  return httpRequest({
    port,
    host: "127.0.0.1",
    path,
    method: "POST",
    agent: false,
    headers: { "content-type": BYTES, cookie, ...headers },
  });
}

async function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [message] = (await once(outgoing, "response")) as [IncomingMessage];
  return message;
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
