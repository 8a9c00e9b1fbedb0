import type { Application, NextFunction, Request, RequestHandler, Response, Router } from "express";
import {
  assertGuardResponses,
  createIdpAuth,
  guardCalledError,
  type Blocked,
  type BlockedByOutage,
  type BlockedUser,
  type Finding,
  type IdpAuth,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate, NodeRequest, writeReply } from "../node/node.js";
import { frameworkSessionOf } from "./session.js";
import { sessionMiddlewareOf } from "./middleware.js";

/** Answers one kind of blocked request. Ends the response, or passes it on; the protected handler does not run by itself. */
export type GuardResponse<Blocked> = (request: Request, response: Response, blocked: Blocked, next: NextFunction) => unknown;

/** Answers in place of the guard's own ones. */
export interface GuardResponses {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage>;
}

/** idpauth, at home in Express 4 and 5. */
export interface ExpressIdpAuth extends Omit<IdpAuth<Request>, "start" | "handle" | "guard"> {
  /**
   * Runs the startup checks and mounts the endpoints. Call it after the session middleware, when there is one, and before
   * the routes that it guards.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount(app: Application | Router): readonly Finding[];
  /** The endpoints as middleware, for applications that mount by hand; `mount` uses it. */
  readonly routes: RequestHandler;
  /** Lets only visitors through who are signed in within policy. */
  readonly idpRequired: RequestHandler;
  /** As `idpRequired`, with answers of the application's own. */
  idpRequiredWith(answers: GuardResponses): RequestHandler;
}

/**
 * Sign-in for an Express application. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.mount(app);
 * app.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth(options: IdpAuthOptions = {}): ExpressIdpAuth {
  const { start, handle, guard, ...accessors } = createIdpAuth<Request>(options, {
    name: "Express",
    request: (raw) => new ExpressRequest(raw),
    session: frameworkSessionOf,
  });

  const routes: RequestHandler = function idpauth(request, response, next) {
    const answer = handle(request);
    if (answer === undefined) {
      next();
      return;
    }
    answer
      .then((reply) => {
        writeReply(response, reply);
      })
      .catch(next);
  };

  function idpRequiredWith(answers: GuardResponses): RequestHandler {
    assertGuardResponses(answers);

    async function turnAway(request: Request, response: Response, blocked: Blocked, next: NextFunction): Promise<void> {
      if (blocked.kind === "navigation" && answers.navigation) await answers.navigation(request, response, blocked, next);
      else if (blocked.kind === "unauthenticated" && answers.unauthenticated)
        await answers.unauthenticated(request, response, blocked, next);
      else if (blocked.kind === "unavailable" && answers.unavailable) await answers.unavailable(request, response, blocked, next);
      else writeReply(response, blocked.reply);
    }

    return function idpRequired(request, response, next) {
      if (typeof next !== "function") throw guardCalledError("app.get(path, auth.idpRequired, handler)");
      guard(request).then((blocked) => {
        if (blocked === undefined) {
          keepPrivate(response);
          next();
          // Also what an answer of the application's own throws, or rejects with.
        } else turnAway(request, response, blocked, next).catch(next);
      }, next);
    };
  }

  return {
    ...accessors,
    mount(app) {
      const findings = start({ sessionMiddleware: sessionMiddlewareOf(app), middlewareRemedy: MIDDLEWARE_REMEDY });
      app.use(routes);
      return findings;
    },
    routes,
    idpRequired: idpRequiredWith({}),
    idpRequiredWith,
  };
}

const MIDDLEWARE_REMEDY = 'Call app.use(session({ … })) of express-session before auth.mount(app), or leave out session: "host".';

/** As node:http has it, but for what Express knows of routers and proxies. */
class ExpressRequest extends NodeRequest {
  readonly #raw: Request;

  constructor(raw: Request) {
    super(raw);
    this.#raw = raw;
  }

  /** Routers and rewriting middleware change `url`; the browser knows only the original one. */
  override get target(): string {
    return this.#raw.originalUrl;
  }

  override get scheme(): "http" | "https" {
    // Express's own answer costs more, and differs only when there is a header that it may trust.
    if (this.#raw.headers["x-forwarded-proto"] === undefined) return super.scheme;
    return this.#raw.protocol === "https" ? "https" : "http";
  }

  /** With its port, on Express 4 too, where `req.host` drops it. Forwarded only when `trust proxy` says so. */
  override get host(): string | undefined {
    const forwarded = this.#raw.headers["x-forwarded-host"];
    return typeof forwarded === "string" && this.#trustsProxy ? forwarded.split(",", 1)[0]?.trim() : super.host;
  }

  /** A router that serves without an application has no settings, and trusts nobody. */
  get #trustsProxy(): boolean {
    const { socket } = this.#raw;
    const app = this.#raw.app as Request["app"] | undefined;
    const isTrusted = app?.get("trust proxy fn") as ((address: string | undefined, hop: number) => boolean) | undefined;
    return isTrusted?.(socket.remoteAddress, 0) === true;
  }
}
