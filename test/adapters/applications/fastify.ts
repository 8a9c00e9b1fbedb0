import cookie from "@fastify/cookie";
import session from "@fastify/session";
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import {
  idpAuth,
  type FastifyIdpAuth,
  type GuardResponses,
  type GuardHook,
} from "../../../src/adapters/fastify/fastify.js";
import type {
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import { FAILING_ANSWERS } from "./failing-responses.js";

const OWN_ANSWERS: GuardResponses = {
  navigation: (_request, reply, { reason, loginUrl }) => reply.code(418).send({ reason, loginUrl }),
  // An answer may also be what a handler would return.
  unauthenticated(_request, reply, { reason, loginUrl }) {
    reply.code(419);
    return { reason, loginUrl };
  },
  unavailable: async (_request, reply, { error }) => reply.code(520).send({ code: error.code }),
  forbidden: (_request, reply, { kind }) => reply.code(423).send({ kind }),
  stepUp: (_request, reply, { isNavigation, loginUrl }) =>
    reply.code(424).send({ isNavigation, loginUrl }),
};

/** The suite's application as people write it with Fastify. */
export async function startFastify(setup: AdapterSetup): Promise<RunningApplication> {
  const options: FastifyServerOptions = {
    trustProxy: setup.trustsProxy,
    forceCloseConnections: true,
  };
  // @fastify/session gives no session to a request target in absolute form.
  if (setup.session === "host") options.rewriteUrl = ({ url = "/" }) => originForm(url);
  const app = fastify(options);
  app.addHook("onRequest", (_request, reply, done) => {
    for (const [name, value] of setup.earlier) reply.header(name, value);
    done();
  });
  if (setup.session === "host") {
    await app.register(cookie);
    await app.register(session, {
      secret: "the host's secret of at least 32 characters",
      cookie: { secure: "auto" },
      saveUninitialized: false,
      rolling: false,
    });
  }
  if (setup.handlesErrors)
    app.setErrorHandler((error: Error & { status?: number }, _request, reply) => {
      setup.caught(error);
      return reply.code(error.status ?? 500).send({ caught: error.message });
    });
  const auths = setup.mounts.map((options) => idpAuth(options));

  async function area(scope: FastifyInstance): Promise<void> {
    if (setup.csrf && auths[0]) scope.addHook("onRequest", auths[0].csrf);
    for (const auth of auths) await scope.register(auth.plugin);
    for (const { api, rule, isAfterParser } of setup.proxied) {
      const proxy = auths[0]?.proxyApi(api, rule);
      if (proxy && isAfterParser) scope.post("/api/*", { preHandler: proxy }, async () => ({}));
      else if (proxy) scope.addHook("onRequest", proxy);
    }
    for (const route of setup.routes) {
      const { method, path: url, guard } = route;
      const hook = guardOf(auths[guard?.mount ?? -1], guard);
      if (route.kind === "stream") {
        scope.route({
          method,
          url,
          ...(hook && { preHandler: hook }),
          handler: async (request, reply) => {
            reply.headers(route.headers ?? {});
            route.opened(await auths[guard?.mount ?? 0]!.eventStream(request, reply));
          },
        });
      } else if (route.kind === "json") {
        scope.route({
          method,
          url,
          ...(hook && { preHandler: hook }),
          handler: async (request, reply) => {
            reply.headers(route.headers ?? {});
            return route.respond(auths, request);
          },
        });
      } else {
        scope.register((streams, _options, done) => {
          streams.removeAllContentTypeParsers();
          streams.addContentTypeParser("*", (_request, _body, parsed) => {
            parsed(null);
          });
          // Before Fastify would look at the body at all.
          streams.route({
            method,
            url,
            ...(hook && { onRequest: hook }),
            handler: (request, reply) => reply.send(request.raw),
          });
          done();
        });
      }
    }
  }

  if (setup.basePath === "") await area(app);
  else await app.register(area, { prefix: setup.basePath });
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    auths,
    handle: (message, response) => {
      app.routing(message, response);
    },
    port: Number(new URL(address).port),
    stop: async () => app.close(),
  };
}

function originForm(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
}

function guardOf(
  auth: FastifyIdpAuth | undefined,
  guard: RouteGuard | undefined,
): GuardHook | undefined {
  const { ownResponses = false, rule } = guard ?? {};
  if (auth === undefined || (ownResponses === false && rule === undefined))
    return auth?.idpRequired;
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  });
}
