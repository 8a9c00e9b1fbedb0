import { Hono, type Context, type Env, type MiddlewareHandler, type Next, type Schema } from "hono";
import {
  createAdapterAuth,
  describesBody,
  onFirstClose,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
} from "../../adapter.js";
import {
  IdpAuthError,
  type AdapterAuth,
  type Finding,
  type IdpAuthNames,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate, OpenResponses, type EventStreamWithResponse } from "../fetch/fetch.js";
import {
  closablesOf,
  isUpgrade,
  keepNextPrivate,
  requestOf,
  respond,
  sourceOf,
  upgradeOf,
  type UpgradeMessage,
  outgoingOf,
} from "./hono-message.js";

export type { EventStreamWithResponse } from "../fetch/fetch.js";
export type { UpgradeMessage } from "./hono-message.js";

/** Your own responses to blocked requests. The protected handler does not run. */
export type GuardResponses = GuardResponsesOf<[c: Context], [], Response | Promise<Response>>;

/**
 * idpauth for Hono 4. Guards are middleware: `app.get("/reports", auth.idpRequired, handler)`,
 * `app.use(auth.csrf)`.
 */
export interface HonoIdpAuth<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
  Names extends IdpAuthNames = IdpAuthNames,
>
  extends
    AdapterAuth<Context, OwnClaims, Data, Names>,
    Guards<MiddlewareHandler, GuardResponses, OwnClaims, Data, Names, Context> {
  /**
   * Runs the startup checks and mounts the endpoints. Hono's router then selects their requests, so
   * other requests cost nothing.
   *
   * @throws ConfigurationError with every finding at once
   */
  mount<E extends Env, S extends Schema, BasePath extends string>(
    app: Hono<E, S, BasePath>,
  ): readonly Finding[];
  /**
   * Passes the upgrades to WebSockets on to the APIs that `proxyApi` was called for:
   * `(serve(app) as Server).on("upgrade", …)`. On Node.js. Bundled sessions only. False: a WebSocket
   * whose path is no API's. True: idpauth responds, also to a request that offers another protocol,
   * on every path.
   */
  readonly proxyUpgrade: (message: UpgradeMessage, socket: object, head: Uint8Array) => boolean;
  /**
   * Opens an event stream that ends with the user's session: `return stream.response`. The route
   * needs a guard.
   *
   * @throws GuardMissingError (500) no guard of this `auth` object let the request pass
   * @throws IdpAuthError `too_many_streams` (429): see `IDP_STREAMS_PER_SESSION`; `shutting_down`
   *   (503) after `auth.close()`
   */
  eventStream(c: Context): Promise<EventStreamWithResponse>;
  /**
   * The endpoints as an application, for `app.route("/", auth.routes)`. For applications that mount
   * by hand and call `start`.
   */
  readonly routes: Hono;
  /**
   * The endpoints as middleware, for `app.use(auth.middleware)` in applications whose `getPath`
   * gives Hono's router other paths than those of the URL. Such an application calls `start`.
   */
  readonly middleware: MiddlewareHandler;
}

/**
 * Creates the sign-in for a Hono application. Settings come from the environment; options override
 * them.
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
): HonoIdpAuth<OwnClaims, Data, { api: Api; provider: Provider }> {
  const open = new OpenResponses();
  const { auth, gates, mountPath, proxyUpgrade, openEventStream, uncaught } = createAdapterAuth<
    Context,
    OwnClaims,
    Data,
    { api: Api; provider: Provider }
  >(
    options,
    {
      name: "Hono",
      request: requestOf,
      source: sourceOf,
      onClose(c, closed) {
        const closables = closablesOf(c);
        if (closables === undefined) open.onClose(c, c.req.raw.signal, closed);
        else onFirstClose(closables, closed);
      },
      keepPrivate: keepNextPrivate,
    },
    {
      takes: "next",
      idpRequired: "app.get(path, auth.idpRequired, handler)",
      csrf: "app.use(auth.csrf)",
    },
  );

  async function pass(gate: Gate<Context>, c: Context, next: Next): Promise<Response | undefined> {
    // A WebSocket of an API is `proxyUpgrade`'s; here it would be passed on as a plain GET.
    let stopped: Stopped | undefined;
    try {
      if (gate.streams !== true || !isUpgrade(c)) stopped = await gate.enter(c, outgoingOf(c));
    } catch (error) {
      open.end(c);
      throw error;
    }
    if (stopped !== undefined) {
      const response = (await gate.respond(stopped, [c, stopped], (reply) =>
        respond(c, reply),
      )) as Response;
      return gate.streams === true ? open.follow(c, response) : response;
    }
    await next();
    // Hono has handled the error by now, where no `onError` does so with the error's own response.
    if (c.error !== undefined && (await isOwnResponse(c.error, c.res))) {
      const reply = await uncaught(c.error, c);
      if (reply !== undefined) {
        for (const name of [...c.res.headers.keys()]) if (describesBody(name)) c.header(name);
        replaceResponse(c, respond(c, reply));
      }
    }
    if (gate.keepsPrivate) replaceResponse(c, keepPrivate(open.follow(c, c.res)));
    return undefined;
  }

  function middlewareOf(gate: Gate<Context>): MiddlewareHandler {
    // Not async, so that the error of a wrong use is thrown at the line with the mistake.
    return function idpauth(c, next) {
      gate.assertCalledWith(next);
      return pass(gate, c, next);
    };
  }

  const middleware = middlewareOf(gates.endpoints);
  const routes = new Hono();
  routes.use(middleware);
  return {
    ...auth,
    ...gates.guards<MiddlewareHandler, GuardResponses>(middlewareOf),
    mount(app) {
      const findings = auth.start();
      for (const path of pathsBelowAnyBase(mountPath())) app.all(`${path}*`, middleware);
      return findings;
    },
    routes,
    middleware,
    eventStream: (c) => openEventStream(c, (reply) => respond(c, reply)),
    proxyUpgrade: (message, socket, head) =>
      proxyUpgrade(upgradeOf(message), [message, socket, head]),
  };
}

/** Whether a response is the one that an error of idpauth has itself. */
async function isOwnResponse(error: Error, response: Response): Promise<boolean> {
  if (!(error instanceof IdpAuthError) || response.status !== error.status) return false;
  return (await response.clone().text()) === (await error.getResponse?.().text());
}

function replaceResponse(c: Context, response: Response): void {
  if (response === c.res) return;
  // Otherwise Hono copies the headers of the old response over those of the new one.
  c.res = undefined;
  c.res = response;
}

/**
 * The paths that the mount path may have below the application's base path: `/area/idpauth/` is
 * `/idpauth/` below `/area`.
 */
function pathsBelowAnyBase(mountPath: string): string[] {
  const parts = mountPath.split("/").slice(1, -1);
  return parts.map((_, start) => `/${parts.slice(start).join("/")}/`);
}
