import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import { createIdpAuth } from "../../src/adapter.js";
import type { IdpAuthOptions, LogEntry } from "../../src/index.js";
import { browser, type TestedApplication } from "../../src/testing/index.js";
import { UNREACHED } from "../support/options-for.js";

/** An application with a guarded page, with and without its endpoints. */
const APPLICATIONS: Readonly<
  Record<string, (options: IdpAuthOptions, mounts: boolean) => TestedApplication>
> = {
  Express(options, mounts) {
    const auth = expressAuth(options);
    const app = express();
    app.get("/page", auth.idpRequired, (_request, response) => void response.send("page"));
    // Also after the routes.
    if (mounts) auth.mount(app);
    return app;
  },
  Fastify(options, mounts) {
    const auth = fastifyAuth(options);
    const app = Fastify();
    if (mounts) void app.register(auth.plugin);
    app.get("/page", { preHandler: auth.idpRequired }, () => "page");
    return app;
  },
  Hono(options, mounts) {
    const auth = honoAuth(options);
    const app = new Hono();
    if (mounts) auth.mount(app);
    app.get("/page", auth.idpRequired, (context) => context.text("page"));
    return app;
  },
  Koa(options, mounts) {
    const auth = koaAuth(options);
    const app = new Koa();
    if (mounts) auth.mount(app);
    app.use(auth.idpRequired);
    return app;
  },
  fetch(options, mounts) {
    const auth = fetchAuth(options);
    const page = auth.idpRequired(() => new Response("page"));
    return async (request: Request) =>
      (mounts ? await auth.fetch(request) : undefined) ?? page(request);
  },
  node(options, mounts) {
    const auth = nodeAuth(options);
    const page = auth.idpRequired((_request, response) => void response.end("page"));
    return createServer(mounts ? auth.listener(page) : page);
  },
};

describe.each(Object.keys(APPLICATIONS))("a guard of %s that blocks", (name) => {
  async function blockedIn(mounts: boolean): Promise<LogEntry[]> {
    const log: LogEntry[] = [];
    const options = { ...UNREACHED, log: (entry: LogEntry) => log.push(entry) };
    const user = await browser(APPLICATIONS[name]!(options, mounts));
    for (let request = 0; request < 2; request += 1)
      expect((await user.get("/page")).status).toBe(401);
    await user.close();
    return log.filter(({ code }) => code === "not_mounted");
  }

  it("reports once that the endpoints aren't mounted", async () => {
    expect(await blockedIn(false)).toMatchObject([{ level: "error" }]);
  });

  it("reports nothing if they are", async () => {
    expect(await blockedIn(true)).toEqual([]);
  });
});

it("an application that only starts, or whose framework mounts late, is not reported", async () => {
  const log: LogEntry[] = [];
  const options = { ...UNREACHED, log: (entry: LogEntry) => log.push(entry) };
  const request = {
    method: "GET",
    target: "/",
    scheme: "http",
    host: "localhost",
    header: () => undefined,
  } as const;
  const started = createIdpAuth(options, { name: "plain", request: () => request });
  started.start();
  const late = createIdpAuth(options, {
    name: "late",
    mountsLate: true,
    request: () => request,
  });
  for (const auth of [started, late])
    expect(await auth.guard({})).toMatchObject({ kind: "unauthenticated" });
  expect(log.filter(({ code }) => code === "not_mounted")).toEqual([]);
});
