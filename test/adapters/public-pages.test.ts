import { createServer, type Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono, type Context } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { signedInAs } from "../../src/testing/index.js";
import { closeAll, listen, optionsFor } from "../apis/parties.js";

/** What a page without a guard calls before it responds. Its own headers follow. */
type Reads = (auth: Auth, raw: never) => Promise<unknown>;
interface Auth {
  getSession(raw: never): Promise<unknown>;
  clientState(raw: never): Promise<unknown>;
  getCredentials(raw: never): Promise<unknown>;
  getAccessToken(raw: never): Promise<unknown>;
  updateData(raw: never, change: (data: object) => object): Promise<unknown>;
  checkIdpAuthentication(raw: never): Promise<unknown>;
  loginUrl(raw: never): string;
}

const KIN: Readonly<Record<string, Reads>> = {
  getSession: (auth, raw) => auth.getSession(raw),
  clientState: (auth, raw) => auth.clientState(raw),
  getCredentials: (auth, raw) => auth.getCredentials(raw),
  getAccessToken: (auth, raw) => auth.getAccessToken(raw),
  updateData: (auth, raw) => auth.updateData(raw, (data) => data),
};
const OTHERS: Readonly<Record<string, Reads>> = {
  checkIdpAuthentication: (auth, raw) => auth.checkIdpAuthentication(raw),
  loginUrl: (auth, raw) => Promise.resolve(auth.loginUrl(raw)),
};
const READS = { ...KIN, ...OTHERS };

interface Started {
  readonly server: Server;
  readonly auth: Parameters<typeof signedInAs>[0];
}

interface Page {
  readonly reads: Reads;
  /** Of the application: set before and after it reads the session. */
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

/** The page of an address: `/getSession?before=…&after=…`, whose values are Cache-Control. */
function pageAt(url: string): Page | undefined {
  const { pathname, searchParams } = new URL(url, "http://app");
  const reads = READS[pathname.slice(1) as keyof typeof READS];
  const headers = (name: string) => {
    const value = searchParams.get(name);
    return value === null ? {} : { "Cache-Control": value, Vary: "Accept" };
  };
  return reads && { reads, before: headers("before"), after: headers("after") };
}

const STARTS: Readonly<Record<string, (options: IdpAuthOptions) => Promise<Started>>> = {
  Express(options) {
    const [app, auth] = [express(), expressAuth(options)];
    auth.mount(app);
    app.get("/guarded", auth.idpRequired, async (req, res) => {
      res.send(JSON.stringify(await auth.getSession(req)));
    });
    app.use(async (req, res) => {
      const { reads, before, after } = pageAt(req.url)!;
      res.set(before);
      await reads(auth, req as never);
      res.set(after).send("page");
    });
    return Promise.resolve({ server: createServer(app), auth });
  },
  async Fastify(options) {
    const [app, auth] = [fastify(), fastifyAuth(options)];
    await app.register(auth.plugin);
    app.get("/guarded", { preHandler: auth.idpRequired }, (request) => auth.getSession(request));
    app.get("/*", async (request, reply) => {
      const { reads, before, after } = pageAt(request.url)!;
      reply.headers(before);
      await reads(auth, request as never);
      return reply.headers(after).send("page");
    });
    await app.ready();
    return { server: createServer((request, response) => app.routing(request, response)), auth };
  },
  Hono(options) {
    const [app, auth] = [new Hono(), honoAuth(options)];
    auth.mount(app);
    const set = (c: Context, headers: object) => {
      for (const [name, value] of Object.entries(headers))
        c.header(name, value as string, { append: name === "Vary" });
    };
    app.get("/guarded", auth.idpRequired, async (c) => c.json(await auth.getSession(c)));
    app.get("*", async (c) => {
      const { reads, before, after } = pageAt(c.req.url)!;
      set(c, before);
      await reads(auth, c as never);
      set(c, after);
      return c.text("page");
    });
    return Promise.resolve({ server: createAdaptorServer({ fetch: app.fetch }) as Server, auth });
  },
  Koa(options) {
    const [app, auth] = [new Koa(), koaAuth(options)];
    auth.mount(app);
    app.use(async (ctx, next) => {
      if (ctx.path !== "/guarded") return next();
      return auth.idpRequired(ctx, async () => {
        ctx.body = await auth.getSession(ctx);
      });
    });
    app.use(async (ctx) => {
      const { reads, before, after } = pageAt(ctx.url)!;
      ctx.set(before);
      await reads(auth, ctx as never);
      ctx.set(after);
      ctx.body = "page";
    });
    const listener = app.callback();
    return Promise.resolve({ server: createServer((...both) => void listener(...both)), auth });
  },
  "node:http"(options) {
    const auth = nodeAuth(options);
    const guarded = auth.idpRequired(async (request, response) => {
      response.end(JSON.stringify(await auth.getSession(request)));
    });
    const listener = auth.listener(async (request, response) => {
      if (request.url === "/guarded") return guarded(request, response);
      const { reads, before, after } = pageAt(request.url ?? "")!;
      for (const [name, value] of Object.entries(before)) response.setHeader(name, value);
      await reads(auth, request as never);
      return response.writeHead(200, after).end("page");
    });
    return Promise.resolve({ server: createServer(listener), auth });
  },
};

afterEach(closeAll);

describe.each(Object.entries(STARTS))("%s: a page without a guard", (_name, start) => {
  async function open() {
    const { server, auth } = await start({
      ...optionsFor("http://127.0.0.1:1/"),
      env: { ...optionsFor("").env, BASE_URL: "http://app.example" },
    });
    const origin = `http://127.0.0.1:${await listen(server)}`;
    const cookie = await signedInAs(auth);
    return async (path: string, who: "user" | "stranger" = "user") => {
      const { status, headers } = await fetch(`${origin}/${path}`, {
        headers: who === "user" ? { cookie } : {},
      });
      const vary = (headers.get("Vary") ?? "").split(", ").filter((name) => /cookie/i.test(name));
      return [status, headers.get("Cache-Control"), vary];
    };
  }

  it("that found a user is kept out of caches", async () => {
    const get = await open();
    for (const name of Object.keys(KIN))
      expect([name, await get(name)]).toEqual([name, [200, "private, no-store", ["Cookie"]]]);
  });

  it("that found nobody, or read no user, is the application's alone", async () => {
    const get = await open();
    for (const name of ["getSession", "clientState", "getCredentials"])
      expect([name, await get(name, "stranger")]).toEqual([name, [200, null, []]]);
    for (const name of Object.keys(OTHERS))
      expect([name, await get(name)]).toEqual([name, [200, null, []]]);
  });

  it.each(["before", "after"])("keeps the Cache-Control that it sets itself %s", async (when) => {
    const get = await open();
    expect(await get(`getSession?${when}=private,max-age=60`)).toEqual([
      200,
      "private,max-age=60",
      ["Cookie"],
    ]);
  });

  it("has a guard's headers once", async () => {
    expect(await (await open())("guarded")).toEqual([200, "private, no-store", ["Cookie"]]);
  });
});
