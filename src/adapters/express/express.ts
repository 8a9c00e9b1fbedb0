import type { IncomingMessage } from "node:http";
import type {
  Application,
  ErrorRequestHandler,
  NextFunction,
  Request,
  RequestHandler,
  Response,
  Router,
} from "express";
import {
  createAdapterAuth,
  describesBody,
  eventStreamTo,
  keepPrivate,
  NodeRequest,
  onClose,
  sourceOf,
  upgradesOf,
  writeFresh,
  writeReply,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
  type UpgradeProxy,
  type Usage,
} from "../../adapter.js";
import type {
  AdapterAuth,
  EventStream,
  Finding,
  IdpAuthNames,
  IdpAuthOptions,
} from "../../index.js";
import { sessionMiddlewareOf } from "./session-middleware.js";
import { frameworkSessionOf } from "./session-of-request.js";

/**
 * Your own responses to blocked requests. Each ends the response or calls `next`; the protected
 * handler does not run by itself.
 */
export type GuardResponses = GuardResponsesOf<
  [request: Request, response: Response],
  [next: NextFunction]
>;

/**
 * Middleware of idpauth. It has a name of its own, so that an application can export its guards: the
 * declaration of a `RequestHandler` names packages that the application may not depend on (TS2883).
 */
export interface ExpressMiddleware extends RequestHandler {}

/** Error-handling middleware of idpauth. */
export interface ExpressErrorMiddleware extends ErrorRequestHandler {}

/**
 * idpauth for Express 4 and 5. Guards are middleware:
 * `app.get("/reports", auth.idpRequired, handler)`, `app.use(auth.csrf)`.
 */
export interface ExpressIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    AdapterAuth<Request, OwnClaims, Data, Names>,
    UpgradeProxy,
    Guards<ExpressMiddleware, GuardResponses, OwnClaims, Data, Names, Request> {
  /**
   * Runs the startup checks and mounts the endpoints. Call it after the session middleware, if
   * there is one, and before the guarded routes. Unlike `start`, it knows whether the session
   * middleware is installed.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount(app: Application | Router): readonly Finding[];
  /** The endpoints as middleware, for applications that mount by hand and call `start`. */
  readonly routes: ExpressMiddleware;
  /**
   * Responds with an event stream that ends with the user's session. The route needs a guard.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(request: Request, response: Response): Promise<EventStream>;
  /**
   * Responds to an error of idpauth with its status, as a page or a problem document, and passes
   * any other error on. `app.use(auth.errorHandler)` after the routes and after your own error
   * handlers, which see an error first.
   */
  readonly errorHandler: ExpressErrorMiddleware;
}

/** How an application of Express writes its guards. */
const USAGE: Usage = {
  takes: "next",
  idpRequired: "app.get(path, auth.idpRequired, handler)",
  csrf: "app.use(auth.csrf)",
};

/**
 * Creates the sign-in for an Express application. Settings come from the environment; options
 * override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.mount(app);
 * app.get("/reports", auth.idpRequired, handler);
 */
export function idpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Api extends string = string,
  Provider extends string = string,
>(
  options: IdpAuthOptions<OwnClaims, Data, { api: Api; provider: Provider }> = {},
): ExpressIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  /** Its settings tell which proxies are trusted. After `mount(router)`, of the first request. */
  let application: Request["app"] | undefined;
  const { auth, gates, proxyUpgrade, openEventStream, uncaught } = createAdapterAuth<
    Request,
    OwnClaims,
    Data,
    { api: Api; provider: Provider }
  >(
    options,
    {
      name: "Express",
      request(raw) {
        application ??= raw.app;
        return new ExpressRequest(raw);
      },
      source: (raw) => sourceOf(raw, (raw.socket as unknown) ? raw.ip : undefined),
      session: frameworkSessionOf,
      onClose: (raw, closed) => onClose(raw, closed, raw.res),
      keepPrivate(raw) {
        // An upgrade, and a request of Socket.IO, have no response.
        if (raw.res !== undefined) keepPrivate(raw.res);
      },
      middlewareRemedy:
        'Call app.use(session({ … })) of express-session before auth.mount(app), or leave out session: "host".',
    },
    USAGE,
  );
  const routes = middleware(gates.endpoints);
  return {
    ...auth,
    ...gates.guards<RequestHandler, GuardResponses>(middleware),
    mount(app) {
      const findings = auth.start({ sessionMiddleware: sessionMiddlewareOf(app) });
      app.use(routes);
      if ("request" in app) application = app as Application;
      return findings;
    },
    routes,
    eventStream: eventStreamTo(openEventStream),
    // eslint-disable-next-line @typescript-eslint/max-params -- Express knows an error handler by its four.
    errorHandler(error: unknown, request, response, next) {
      const reply = response.headersSent ? undefined : uncaught(error, request);
      if (reply === undefined) {
        next(error);
        return;
      }
      reply
        .then((own) => {
          writeFresh(response, own, describesBody);
        })
        .catch(next);
    },
    proxyUpgrade: upgradesOf(proxyUpgrade, (message) => {
      const raw = application && upgradeOf(message, application);
      return raw && { request: new ExpressRequest(raw), client: raw.ip };
    }),
  };
}

function middleware(gate: Gate<Request>): RequestHandler {
  return function idpauth(request, response, next) {
    gate.assertCalledWith(next);
    const proceed = (stopped: Stopped | undefined) => {
      if (stopped === undefined) {
        if (gate.keepsPrivate) keepPrivate(response);
        next();
        return;
      }
      const byDefault = (reply: Stopped["reply"]) => {
        writeReply(response, reply);
      };
      gate.respond(stopped, [request, response, stopped, next], byDefault).catch(next);
    };
    const entered = gate.enter(request, response);
    if (entered !== undefined) entered.then(proceed).catch(next);
    else proceed(undefined);
  };
}

/** An upgrade as a request of the application, which gets none. The message stays as it is. */
function upgradeOf(message: IncomingMessage, app: Request["app"]): Request {
  const { request } = app as unknown as { readonly request: Request };
  const { method, url, headers, rawHeaders, socket } = message;
  const own = { method, url, originalUrl: url, headers, rawHeaders, socket };
  return Object.assign(Object.create(request) as Request, own);
}

type IsTrusted = (address: string | undefined, hop: number) => boolean;

/**
 * A request of Express: that of node:http, with Express's original URL and its setting
 * `trust proxy`.
 */
class ExpressRequest extends NodeRequest<Request> {
  /** Routers and rewriting middleware change `url`; the browser knows only the original URL. */
  override get target(): string {
    // Socket.IO runs middleware without an application of Express.
    return (this.message as Partial<Request>).originalUrl ?? super.target;
  }

  override get scheme(): "http" | "https" {
    // `protocol` is slower than the connection, and differs only if there is a header that Express
    // may trust.
    if (this.message.headers["x-forwarded-proto"] === undefined) return super.scheme;
    return this.message.protocol === "https" ? "https" : "http";
  }

  /**
   * Includes the port, which `req.host` drops on Express 4. The forwarded host counts only if
   * `trust proxy` says so.
   */
  override get host(): string | undefined {
    const forwarded = this.message.headers["x-forwarded-host"];
    return typeof forwarded === "string" && this.trustsProxy
      ? forwarded.split(",", 1)[0]?.trim()
      : super.host;
  }

  /** A router without an application has no settings, and trusts no proxy. */
  get trustsProxy(): boolean {
    const app = this.message.app as Request["app"] | undefined;
    const isTrusted = app?.get("trust proxy fn") as IsTrusted | undefined;
    return isTrusted?.(this.message.socket.remoteAddress, 0) === true;
  }
}
