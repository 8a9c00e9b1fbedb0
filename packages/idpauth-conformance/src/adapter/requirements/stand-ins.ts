import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { CookieBrowser } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import { withNothingUnhandled } from "./aborts.js";
import { ADA, SIGNED_IN } from "./assertions.js";
import { startProxy } from "./orders-api.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "stand-ins";

interface Sent {
  readonly method?: string;
  readonly body?: string;
  /** Called with the name of each header that is set. */
  readonly beforeHeader?: (name: string) => void;
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export const standInRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "a message and a response that no server has made, with the fewest members, pass guard, endpoints and proxy",
    needs: "stand-in messages",
    session: "bundled",
    async check(starter) {
      const app = await startProxy(starter);
      await withNothingUnhandled(async () => {
        const nobody = app.browser();
        assert.equal((await handled(app, nobody, "/reports")).status, 401);
        assert.equal((await handled(app, nobody, "/api/orders/items")).status, 401);
        const browser = await app.signedIn();
        const page = await handled(app, browser, "/reports");
        assert.deepEqual(
          [
            page.status,
            page.headers["cache-control"],
            (JSON.parse(page.text) as { user: unknown }).user,
          ],
          [200, "private, no-store", ADA],
        );
        const session = await handled(app, browser, "/idpauth/session");
        assert.deepEqual([session.status, JSON.parse(session.text)], [200, SIGNED_IN]);
        const body = '{ "a": 1.0 }';
        const posted = await handled(app, browser, "/api/orders/items", { method: "POST", body });
        assert.deepEqual([posted.status, JSON.parse(posted.text)], [200, { method: "POST", body }]);
        assert.deepEqual(app.api.tokens, [app.newest("access_token")]);
        const logout = await handled(app, browser, "/idpauth/logout/");
        assert.deepEqual([logout.status, logout.text], [302, ""]);
        assert.match(String(logout.headers["set-cookie"]), /./);
        assert.equal((await handled(app, browser, "/reports")).status, 401);
      });
      assert.deepEqual(app.caught, []);
    },
  },
  {
    area,
    title: "what a response throws reaches the application's error handler, and ends nothing else",
    needs: "stand-in messages",
    session: "bundled",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      await withNothingUnhandled(async () => {
        for (const path of ["/reports", "/idpauth/session", "/api/orders/items"]) {
          const thrown = new Error("this response takes no such header");
          let isFirst = true;
          const { status } = await handled(app, browser, path, {
            beforeHeader(name) {
              if (!isFirst || !/^(?:cache-control|vary)$/i.test(name)) return;
              isFirst = false;
              throw thrown;
            },
          });
          // A framework that sets all headers at once never hears of it.
          assert.equal(status, app.caught.includes(thrown) ? 500 : 200, path);
        }
      });
    },
  },
];

/** Gives the application a request that no server has received. */
async function handled(
  app: StartedApplication,
  browser: CookieBrowser,
  path: string,
  { method = "GET", body = "", beforeHeader }: Sent = {},
): Promise<Received> {
  const handle = app.handle ?? assert.fail("the running application has no `handle`");
  const cookie = browser.cookies.header(new URL(app.origin));
  const headers: Record<string, string> = {
    host: new URL(app.origin).host,
    "sec-fetch-site": "same-origin",
    "content-length": String(Buffer.byteLength(body)),
    ...(cookie !== undefined && { cookie }),
  };
  const message = Object.assign(Readable.from(body === "" ? [] : [Buffer.from(body)]), {
    method,
    url: path,
    headers,
  });
  const received = new Promise<Received>((resolve) => {
    const response = standInResponse(resolve, beforeHeader);
    void handle(message as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
  return withinLimit(received, `there is no response to ${method} ${path}`);
}

/**
 * A response with the members that frameworks need themselves. They are its own, because some
 * frameworks replace the prototype.
 */
function standInResponse(
  ended: (response: Received) => void,
  beforeHeader: Sent["beforeHeader"],
): EventEmitter {
  const headers: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  const set = (name: string, value: unknown) => (headers[name.toLowerCase()] = value);
  const response = Object.assign(new EventEmitter(), {
    statusCode: 200,
    headersSent: false,
    getHeader: (name: string) => headers[name.toLowerCase()],
    getHeaders: () => headers,
    hasHeader: (name: string) => name.toLowerCase() in headers,
    removeHeader: (name: string) => Reflect.deleteProperty(headers, name.toLowerCase()),
    setHeader(name: string, value: unknown) {
      beforeHeader?.(name);
      set(name, value);
      return response;
    },
    writeHead(status: number, ...rest: readonly unknown[]) {
      response.statusCode = status;
      response.headersSent = true;
      for (const [name, value] of Object.entries(rest.at(-1) ?? {})) set(name, value);
      return response;
    },
    write(chunk: string | Uint8Array) {
      response.headersSent = true;
      chunks.push(Buffer.from(chunk as string));
      return true;
    },
    end(chunk?: unknown) {
      if (typeof chunk === "string" || chunk instanceof Uint8Array) response.write(chunk);
      if (!response.headersSent) response.writeHead(response.statusCode);
      const text = Buffer.concat(chunks).toString();
      ended({ status: response.statusCode, headers, text });
      response.emit("finish");
      response.emit("close");
      return response;
    },
  });
  return response;
}
