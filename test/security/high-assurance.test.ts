// What bound tokens, client certificates and signed responses keep, whoever attacks them: the tests
// of the rows HA.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, expect, it } from "vitest";
import { idpAuth, type ExpressIdpAuth } from "../../src/adapters/express/express.js";
import type { ApiOptions, IdpAuthOptions } from "../../src/index.js";
import { signIn, startTestProvider, TestClock } from "../../src/testing/index.js";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

type Answer = (headers: IncomingHttpHeaders, response: ServerResponse) => void;

/** Starts an API that answers as the test says. */
async function startApi(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request.headers, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

const DEMAND = { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "nonce-of-api" };

/** A user of an application whose provider binds tokens, and one API. */
async function application(answer: Answer, options: Partial<IdpAuthOptions> = {}) {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock, dpop: "required" });
  stops.push(() => provider.stop());
  const orders: ApiOptions = { url: await startApi(answer), path: "/api/orders/" };
  const app = express();
  const auth: ExpressIdpAuth = idpAuth({
    env: { ...provider.env, IDP_DPOP: "true" },
    clock,
    log: () => undefined,
    apis: { orders },
    ...options,
  });
  auth.mount(app);
  app.get("/fetched", async (request, response) => {
    const sent = await auth.fetchApi(request, "orders", "items");
    response.status(sent.status).end();
  });
  app.use(auth.proxyApi("orders"));
  const user = await signIn(createServer(app));
  stops.push(() => user.close());
  return { auth, provider, clock, user };
}

it.each(["/api/orders/items", "/fetched"])(
  "[HA-4] after a logout, a request isn't repeated with the nonce that an API demanded: %s",
  async (path) => {
    const held: ServerResponse[] = [];
    let calls = 0;
    const { user } = await application((_headers, response) => {
      calls += 1;
      if (calls === 1) held.push(response);
      else response.writeHead(200).end();
    });
    const headers = { cookie: user.cookie ?? "", "sec-fetch-site": "same-origin" };
    const asked = fetch(`${user.origin}${path}`, { headers });
    await expect.poll(() => calls).toBe(1);
    const left = await fetch(`${user.origin}/idpauth/logout/?response=json`, { headers });
    expect(left.status).toBe(200);
    held[0]?.writeHead(401, DEMAND).end();
    expect((await asked).status).toBe(401);
    expect(calls).toBe(1);
  },
);
