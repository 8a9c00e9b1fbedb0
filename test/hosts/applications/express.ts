import { createRequire } from "node:module";
import express5 from "express";
import session, { MemoryStore } from "express-session";
import { idpAuth, type GuardAnswers } from "../../../src/hosts/express.js";
import type { HostSetup, RunningHost } from "../../../src/testing/index.js";
import { listen } from "./listen.js";

/** Both releases are used alike; the newer one's types serve for both. */
export const EXPRESS: Readonly<Record<4 | 5, typeof express5>> = {
  4: createRequire(import.meta.url)("express4") as typeof express5,
  5: express5,
};

const OWN_ANSWERS: GuardAnswers = {
  navigation: (_request, response, { reason, loginUrl }) => void response.status(418).json({ reason, loginUrl }),
  unauthenticated: (_request, response, { reason, loginUrl }) => void response.status(419).json({ reason, loginUrl }),
  unavailable: (_request, response, { error }) => void response.status(520).json({ code: error.code }),
};

/** The suite's application as people write it with Express. */
export async function startExpress(version: 4 | 5, setup: HostSetup): Promise<RunningHost> {
  const express = EXPRESS[version];
  const app = express();
  if (setup.trustsProxy) app.set("trust proxy", true);
  app.use((_request, response, next) => {
    for (const [name, value] of setup.earlier) response.append(name, value);
    next();
  });
  if (setup.session === "host") {
    app.use(session({ secret: "the host's secret", resave: false, saveUninitialized: false, store: new MemoryStore() }));
  }
  const auths = setup.mounts.map((options) => idpAuth(options));
  const router = setup.basePath === "" ? app : express.Router();
  for (const auth of auths) auth.mount(router);
  for (const route of setup.routes) {
    const guarding = auths[route.guard?.mount ?? -1];
    const guards = guarding ? [route.guard?.ownAnswers === true ? guarding.idpRequiredWith(OWN_ANSWERS) : guarding.idpRequired] : [];
    router[route.method === "GET" ? "get" : "post"](route.path, ...guards, (request, response, next) => {
      if (route.kind === "echo") request.pipe(response);
      else
        Promise.resolve()
          .then(() => route.answer(auths, request))
          .then((body) => response.json(body), next);
    });
  }
  if (setup.basePath !== "") app.use(setup.basePath, router);
  app.use(((error: Error & { status?: number }, _request, response, _next) => {
    setup.caught(error);
    response.status(error.status ?? 500).json({ caught: error.message });
  }) satisfies express5.ErrorRequestHandler);
  return { auths, ...(await listen(app)) };
}
