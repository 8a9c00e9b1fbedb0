import { createRequire } from "node:module";
import express5 from "express";
import session, { MemoryStore } from "express-session";
import {
  idpAuth,
  type ExpressIdpAuth,
  type GuardResponses,
} from "../../../src/adapters/express/express.js";
import type {
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import { listen } from "./listen.js";
import { FAILING_ANSWERS } from "./failing-responses.js";

/** Both releases are used alike; the newer one's types serve for both. */
export const EXPRESS: Readonly<Record<4 | 5, typeof express5>> = {
  4: createRequire(import.meta.url)("express4") as typeof express5,
  5: express5,
};

export const OWN_ANSWERS: GuardResponses = {
  navigation: (_request, response, { reason, loginUrl }) =>
    void response.status(418).json({ reason, loginUrl }),
  unauthenticated: (_request, response, { reason, loginUrl }) =>
    void response.status(419).json({ reason, loginUrl }),
  unavailable: (_request, response, { error }) =>
    void response.status(520).json({ code: error.code }),
  forbidden: (_request, response, { kind }) => void response.status(423).json({ kind }),
  stepUp: (_request, response, { isNavigation, loginUrl }) =>
    void response.status(424).json({ isNavigation, loginUrl }),
};

/** Where a test puts something else than people would. */
export interface ExpressChanges {
  readonly idpAuth?: typeof idpAuth;
  /** Runs before everything. */
  readonly first?: express5.RequestHandler;
}

/** The suite's application as people write it with Express. */
export async function startExpress(
  version: 4 | 5,
  setup: AdapterSetup,
  changes: ExpressChanges = {},
): Promise<RunningApplication> {
  const express = EXPRESS[version];
  const app = express();
  if (changes.first) app.use(changes.first);
  if (setup.trustsProxy) app.set("trust proxy", true);
  app.use((_request, response, next) => {
    for (const [name, value] of setup.earlier) response.append(name, value);
    next();
  });
  if (setup.session === "host") {
    app.use(
      session({
        secret: "the host's secret",
        resave: false,
        saveUninitialized: false,
        store: new MemoryStore(),
      }),
    );
  }
  const auths = setup.mounts.map((options) => (changes.idpAuth ?? idpAuth)(options));
  const router = setup.basePath === "" ? app : express.Router();
  if (setup.csrf && auths[0]) router.use(auths[0].csrf);
  for (const auth of auths) auth.mount(router);
  for (const { api, rule, isAfterParser } of setup.proxied) {
    if (isAfterParser) router.use(express.json());
    if (auths[0]) router.use(auths[0].proxyApi(api, rule));
  }
  for (const route of setup.routes) {
    const guarding = auths[route.guard?.mount ?? -1];
    const guards = guarding ? [guardOf(guarding, route.guard)] : [];
    router[route.method === "GET" ? "get" : "post"](
      route.path,
      ...guards,
      (request, response, next) => {
        if (route.kind === "echo") {
          request.pipe(response);
          return;
        }
        if (route.headers) response.set(route.headers);
        if (route.kind === "stream") {
          (guarding ?? auths[0])?.eventStream(request, response).then(route.opened, next);
          return;
        }
        Promise.resolve()
          .then(() => route.respond(auths, request))
          .then((body) => response.json(body), next);
      },
    );
  }
  if (setup.basePath !== "") app.use(setup.basePath, router);
  const own: express5.ErrorRequestHandler = (
    error: Error & { status?: number },
    _,
    response,
    _next,
  ) => {
    setup.caught(error);
    response.status(error.status ?? 500).json({ caught: error.message });
  };
  if (setup.handlesErrors) app.use(own);
  if (auths[0]) app.use(auths[0].errorHandler);
  return { auths, handle: app, ...(await listen(app)) };
}

function guardOf(auth: ExpressIdpAuth, guard: RouteGuard | undefined): express5.RequestHandler {
  const { ownResponses = false, rule } = guard ?? {};
  if (ownResponses === false && rule === undefined) return auth.idpRequired;
  return auth.idpRequiredWith({
    ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
    ...rule,
  });
}
