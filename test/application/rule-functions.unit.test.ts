import type { IncomingMessage } from "node:http";
import type { Request as ExpressRequest } from "express";
import type { FastifyRequest } from "fastify";
import type { Context as HonoContext } from "hono";
import type { ParameterizedContext } from "koa";
import { expectTypeOf, it } from "vitest";
import { idpAuth as express } from "../../src/adapters/express/express.js";
import { idpAuth as fastify } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchStyle } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as hono } from "../../src/adapters/hono/hono.js";
import { idpAuth as koa } from "../../src/adapters/koa/koa.js";
import type { idpAuth as next } from "../../src/adapters/next/next.js";
import { idpAuth as node } from "../../src/adapters/node/node.js";
import { providerSource, type IdpAuthOptions } from "../../src/index.js";

// tsc checks what this file states. At run time, it creates components and calls nothing else.

const sourced = { providers: providerSource({ find: () => undefined }) } satisfies IdpAuthOptions;

it("a rule's function gets the request of the framework", () => {
  express(sourced).idpRequiredWith({
    provider(request) {
      expectTypeOf(request).toEqualTypeOf<ExpressRequest>();
      return request.params["org"];
    },
  });
  fastify(sourced).idpRequiredWith({
    provider(request) {
      expectTypeOf(request).toEqualTypeOf<FastifyRequest>();
      return request.hostname.split(".")[0];
    },
  });
  hono(sourced).idpRequiredWith({
    provider(context) {
      expectTypeOf(context).toEqualTypeOf<HonoContext>();
      return context.req.param("org");
    },
  });
  koa(sourced).idpRequiredWith({
    provider(context) {
      expectTypeOf(context).toExtend<ParameterizedContext>();
      return context.hostname.split(".")[0];
    },
  });
  fetchStyle(sourced).idpRequiredWith({
    provider(request) {
      expectTypeOf(request).toEqualTypeOf<Request>();
      return new URL(request.url).hostname.split(".")[0];
    },
  });
  node(sourced).idpRequiredWith({
    provider(request) {
      expectTypeOf(request).toEqualTypeOf<IncomingMessage>();
      return request.headers.host?.split(".")[0];
    },
  });
  // Not run: Next.js is not installed here.
  function application(idpAuth: typeof next) {
    return idpAuth(sourced).idpRequiredWith({
      provider: async (request) => Promise.resolve(new URL(request.url).hostname.split(".")[0]),
    });
  }
  expectTypeOf(application).toBeFunction();
});

it("a proxy's rule has no function, since an upgrade has no request of the framework", () => {
  const calls = () => [
    // @ts-expect-error -- a key, or a list of keys
    express(sourced).proxyApi("orders", { provider: () => "acme" }),
  ];
  expectTypeOf(calls).toBeFunction();
});
