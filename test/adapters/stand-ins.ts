// Messages and responses that no server has made, each as its maker documents it.
import { createServer, type RequestListener } from "node:http";
import { awsLambdaFastify } from "@fastify/aws-lambda";
import express from "express";
import fastify, { type FastifyInstance } from "fastify";
import Koa from "koa";
import inject from "light-my-request";
import serverless from "serverless-http";
import supertest from "supertest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions } from "../../src/index.js";

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly text: string;
}

export type Send = (sent: Sent) => Promise<Received>;

interface ExpressApplication {
  readonly app: express.Express;
  readonly listener: RequestListener;
}

/** The applications have a guarded page, the proxy of the API `orders`, and an error handler. */
function expressApplication(options: IdpAuthOptions): ExpressApplication {
  const [app, auth] = [express(), expressAuth(options)];
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  app.get("/reports", auth.idpRequired, async (request, response) => {
    response.json((await auth.requireSession(request)).user);
  });
  app.use(((error: Error, _request, response, _next) => {
    response.status(500).json({ caught: error.message });
  }) satisfies express.ErrorRequestHandler);
  return { app, listener: app as RequestListener };
}

function koaApplication(options: IdpAuthOptions): { app: Koa; listener: RequestListener } {
  const [app, auth] = [new Koa(), koaAuth(options)];
  // It would log each response that is broken off over HTTP/2.
  app.silent = true;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      ctx.status = 500;
      ctx.body = { caught: (error as Error).message };
    }
  });
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  app.use(async (ctx, next) => {
    if (ctx.path !== "/reports") return next();
    return auth.idpRequired(ctx, async () => {
      ctx.body = (await auth.requireSession(ctx)).user;
    });
  });
  const callback = app.callback();
  return { app, listener: (request, response) => void callback(request, response) };
}

async function fastifyApplication(options: IdpAuthOptions): Promise<FastifyInstance> {
  const [app, auth] = [fastify(), fastifyAuth(options)];
  app.setErrorHandler((error: Error, _request, reply) =>
    reply.code(500).send({ caught: error.message }),
  );
  await app.register(auth.plugin);
  app.addHook("onRequest", auth.proxyApi("orders"));
  app.get(
    "/reports",
    { preHandler: auth.idpRequired },
    async (request) => (await auth.requireSession(request)).user,
  );
  // For requests that only the proxy responds to.
  app.all("/api/*", async (_request, reply) => reply.callNotFound());
  return app;
}

function nodeListener(options: IdpAuthOptions): RequestListener {
  const auth = nodeAuth(options);
  const reports = auth.idpRequired(async (request, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify((await auth.requireSession(request)).user));
  });
  return auth.listener(
    auth.proxyApi("orders")((request, response) =>
      request.url === "/reports" ? reports(request, response) : response.writeHead(404).end(),
    ),
    {
      onError(error, _request, response) {
        response.statusCode = 500;
        response.end(JSON.stringify({ caught: (error as Error).message }));
      },
    },
  );
}

const lines = (value: unknown): string[] => [value ?? []].flat() as string[];

function received(
  status: number,
  given: Readonly<Record<string, unknown>>,
  text: string,
): Received {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = String(value);
  const cookies = Object.entries(given).find(([name]) => name.toLowerCase() === "set-cookie");
  return { status, headers, cookies: lines(cookies?.[1]), text };
}

/** light-my-request on a listener of node:http. */
export function injected(listener: RequestListener): Send {
  return async ({ method = "GET", path, headers, body }) => {
    const response = await inject(listener, {
      method: method as "GET",
      url: `http://app.example${path}`,
      headers: { host: "app.example", ...headers },
      ...(body !== undefined && { payload: body }),
    });
    return received(response.statusCode, response.headers, response.payload);
  };
}

/** The event of a function URL of AWS Lambda, which is version 2.0 of API Gateway. */
function eventOf({ method = "GET", path, headers, body }: Sent): object {
  const [rawPath = "", rawQueryString = ""] = path.split("?");
  const cookies = headers?.["cookie"]?.split("; ");
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString,
    queryStringParameters: Object.fromEntries(new URLSearchParams(rawQueryString)),
    headers: { host: "app.example", ...headers },
    ...(cookies && { cookies }),
    requestContext: {
      http: { method, path: rawPath, sourceIp: "203.0.113.7" },
      domainName: "app.example",
      stage: "$default",
    },
    ...(body !== undefined && { body, isBase64Encoded: false }),
  };
}

interface LambdaResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly multiValueHeaders?: Readonly<Record<string, unknown>>;
  readonly cookies?: readonly string[];
  readonly body: string;
  readonly isBase64Encoded?: boolean;
}

function fromLambda(result: LambdaResult): Received {
  const { statusCode, headers, cookies = [], body, isBase64Encoded } = result;
  const text = isBase64Encoded === true ? Buffer.from(body, "base64").toString() : body;
  const all = received(statusCode, headers, text);
  return { ...all, cookies: [...all.cookies, ...cookies] };
}

function lambda(application: unknown): Send {
  const handler = serverless(application as serverless.Application);
  return async (sent) => fromLambda((await handler(eventOf(sent), {})) as LambdaResult);
}

function tested(application: unknown): Send {
  return async ({ method = "GET", path, headers, body }) => {
    const agent = supertest(application as Parameters<typeof supertest>[0]);
    const request = agent[method.toLowerCase() as "get"](path)
      .redirects(0)
      .set({ host: "app.example", ...headers })
      .buffer(true)
      .parse((response, done) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => void chunks.push(Buffer.from(chunk as never)));
        response.on("end", () => done(null, Buffer.concat(chunks).toString()));
      });
    const response = await (body === undefined ? request : request.send(body));
    return received(response.status, response.headers, String(response.body));
  };
}

/** The applications as listeners of a server of node:http. */
export const LISTENERS: Readonly<
  Record<string, (options: IdpAuthOptions) => Promise<RequestListener>>
> = {
  Express: async (options) => expressApplication(options).listener,
  Koa: async (options) => koaApplication(options).listener,
  async Fastify(options) {
    const app = await fastifyApplication(options);
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
  "node:http": async (options) => nodeListener(options),
};

/** Each way to send a request to an application without a server of its own. */
export const STAND_INS: Readonly<Record<string, (options: IdpAuthOptions) => Promise<Send>>> = {
  async "Fastify's app.inject"(options) {
    const app = await fastifyApplication(options);
    return async ({ method = "GET", path, headers, body }) => {
      const response = await app.inject({
        method: method as "GET",
        url: path,
        headers: { host: "app.example", ...headers },
        ...(body !== undefined && { payload: body }),
      });
      return received(response.statusCode, response.headers, response.payload);
    };
  },
  async "@fastify/aws-lambda"(options) {
    const handler = awsLambdaFastify(await fastifyApplication(options));
    return async (sent) => fromLambda(await handler(eventOf(sent), {}));
  },
  "serverless-http with Express": (options) =>
    Promise.resolve(lambda(expressApplication(options).app)),
  "serverless-http with Koa": (options) => Promise.resolve(lambda(koaApplication(options).app)),
  "serverless-http with Fastify": async (options) => lambda(await fastifyApplication(options)),
  "serverless-http with node:http": (options) => Promise.resolve(lambda(nodeListener(options))),
  "supertest with Express": (options) => Promise.resolve(tested(expressApplication(options).app)),
  "supertest with Koa": (options) => Promise.resolve(tested(koaApplication(options).listener)),
  async "supertest with Fastify"(options) {
    const app = await fastifyApplication(options);
    await app.ready();
    return tested(app.server);
  },
  "supertest with node:http": (options) =>
    Promise.resolve(tested(createServer(nodeListener(options)))),
  "light-my-request with Koa": (options) =>
    Promise.resolve(injected(koaApplication(options).listener)),
  "light-my-request with node:http": (options) => Promise.resolve(injected(nodeListener(options))),
};
