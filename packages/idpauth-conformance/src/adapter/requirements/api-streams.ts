import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { OpenedStream } from "./opened-stream.js";
import { startProxy } from "./orders-api.js";
import type { AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "apis";
const STREAM = "/api/orders/stream";

export const apiStreamRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title: "a body streams to the API unchanged, before all of it has been sent",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      const [beginning, rest] = ['{ "b" : 1 ,\r\n', ' "a": [ 1.0, "\\u00e9" ] }'];
      const cookie = browser.cookies.header(new URL(app.origin)) ?? "";
      const headers = {
        cookie,
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        "transfer-encoding": "chunked",
      };
      const target = {
        host: "127.0.0.1",
        port: app.port,
        path: "/api/orders/items",
        method: "POST",
        headers,
        agent: false,
      };
      const outgoing = httpRequest(target);
      outgoing.write(beginning);
      const responded = once(outgoing, "response") as Promise<[IncomingMessage]>;
      await Promise.race([
        responded,
        app.api.until(
          ({ body }) => body === beginning,
          "the beginning of the body does not reach the API",
        ),
      ]);
      outgoing.end(rest);
      const [response] = await withinLimit(responded, "there is no response");
      assert.deepEqual(
        [response.statusCode, JSON.parse(await text(response))],
        [200, { method: "POST", body: beginning + rest }],
      );
    },
  },
  {
    area,
    title: "an API's events arrive at once, and end with the session",
    async check(starter) {
      const app = await startProxy(starter);
      const browser = await app.signedIn();
      const stream = await OpenedStream.open(app, browser, STREAM);
      await stream.until("data: 1\n\n");
      assert.deepEqual([stream.status, stream.headers["content-type"]], [200, "text/event-stream"]);
      await browser.get("/idpauth/logout/?response=json");
      await stream.ended();
      await app.api.until(
        ({ isAborted }) => isAborted,
        "the API's response goes on after the session",
      );
    },
  },
  {
    area,
    title: "when the browser leaves, the request to the API ends",
    needs: "aborted requests",
    async check(starter) {
      const app = await startProxy(starter);
      const stream = await OpenedStream.open(app, await app.signedIn(), STREAM);
      await stream.until("data: 1\n\n");
      stream.leave();
      await app.api.until(
        ({ isAborted }) => isAborted,
        "the API's response goes on without a browser",
      );
    },
  },
];
