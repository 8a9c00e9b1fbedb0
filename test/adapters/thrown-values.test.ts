// What an application's function throws is an error on every framework, whatever the value is: some
// let a request pass if their continuation gets a falsy one, or a word such as `route`.
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { signedInAs, type SignsInForTests } from "../../src/testing/index.js";
import { closeAll, listen, nodeApi, optionsFor } from "../apis/parties.js";

afterEach(closeAll);

const originOf = async (server: Server) => `http://127.0.0.1:${await listen(server)}`;

type Throws = () => Promise<never>;
type Started = readonly [SignsInForTests, Server];

/** Frameworks whose guards call a continuation, each with two routes that nobody may pass. */
const STARTS: Readonly<
  Record<string, (options: IdpAuthOptions, throws: Throws) => Promise<Started>>
> = {
  Express(options, throws) {
    const [app, auth] = [express(), expressAuth(options)];
    auth.mount(app);
    const response = { allow: () => false, forbidden: throws };
    for (const [path, guard] of [
      ["/rule", auth.idpRequiredWith({ allow: throws })],
      ["/response", auth.idpRequiredWith(response)],
    ] as const) {
      app.get(path, guard, (_request, reply) => void reply.send("inside"));
      app.use(`/used${path}`, guard);
      app.get(`/used${path}`, (_request, reply) => void reply.send("inside"));
    }
    app.use(((_error, _request, reply, _next) => {
      reply.sendStatus(500);
    }) satisfies express.ErrorRequestHandler);
    return Promise.resolve([auth, createServer(app)]);
  },
  async Fastify(options, throws) {
    const [app, auth] = [fastify(), fastifyAuth(options)];
    await app.register(auth.plugin);
    const response = { allow: () => false, forbidden: throws };
    for (const [path, preHandler] of [
      ["/rule", auth.idpRequiredWith({ allow: throws })],
      ["/response", auth.idpRequiredWith(response)],
    ] as const)
      for (const prefix of ["", "/used"])
        app.get(prefix + path, { preHandler }, async () => "inside");
    await app.ready();
    return [auth, createServer((request, reply) => app.routing(request, reply))];
  },
};

describe.each(Object.entries(STARTS))("on %s", (_name, start) => {
  it.each([undefined, null, "", 0, false, "route", "router", "text", {}])(
    "a rule and a response that throw %j let nobody pass",
    async (thrown) => {
      const throws = () => Promise.reject(thrown);
      const options = optionsFor("http://127.0.0.1:1/");
      const [auth, server] = await start(options, throws);
      const origin = await originOf(server);
      const headers = { cookie: await signedInAs(auth) };
      for (const path of ["/rule", "/response", "/used/rule", "/used/response"]) {
        const response = await fetch(origin + path, { headers });
        expect([path, response.status]).toEqual([path, 500]);
        expect(await response.text()).not.toContain("inside");
      }
    },
  );
});

it("a rule that throws while a proxied request is repeated leaves nothing open on a fetch server", async () => {
  const { api } = await nodeApi((message, response) => {
    message.resume();
    response.writeHead(401).end();
  });
  let calls = 0;
  const allow = () => {
    calls += 1;
    if (calls > 1) throw new Error("no database");
    return true;
  };
  const auth = fetchAuth(optionsFor(api.url.href));
  const proxy = auth.proxyApi("orders", { allow })(() => new Response(null, { status: 404 }));
  const listener = getRequestListener((request) =>
    proxy(request).catch(() => new Response(null, { status: 500 })),
  );
  const origin = await originOf(createServer((...exchange) => void listener(...exchange)));
  const headers = {
    cookie: await signedInAs(auth, undefined, { tokens: { token: "users-token" } }),
  };
  const response = await fetch(`${origin}/api/orders/`, { headers });
  expect([response.status, calls]).toEqual([500, 2]);
  const started = performance.now();
  await auth.close({ timeout: 5 });
  expect(performance.now() - started).toBeLessThan(2_000);
});
