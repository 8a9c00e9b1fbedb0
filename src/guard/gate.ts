import type {
  Blocked,
  BlockedByOutage,
  BlockedByRule,
  BlockedForStepUp,
  BlockedUser,
} from "./blocked.js";
import { thrownBy } from "../errors.js";
import type { AnyReply, Reply } from "../http/reply.js";
import { requirementNamed, type GuardRule } from "../config/rule-options.js";

/**
 * A request that goes no further: a guard blocked it, it may be forged, or an endpoint responds to
 * it.
 */
export type Stopped =
  | Blocked
  | {
      /** `forged`: `auth.csrf` refused it. `endpoint`: an endpoint responds. */
      readonly kind: "forged" | "endpoint";
      /** The response to send as it is. */
      readonly reply: AnyReply;
    };

/**
 * What stands before a handler. An adapter makes the middleware of its framework from it, the same
 * for each gate.
 */
export interface Gate<FrameworkRequest extends object> {
  /**
   * @param response of node:http; during a shutdown, it closes its connection. Without it, a client
   *   that keeps sending requests would keep the server open
   * @returns undefined, at once or as a promise: the request may pass. Otherwise the handler must
   *   not run
   */
  enter(raw: FrameworkRequest, response?: object): Promise<Stopped | undefined> | undefined;
  /** Whether no cache may store the response to a request that passed. */
  readonly keepsPrivate: boolean;
  /**
   * Whether the response that stops a request goes on until the session ends or the browser leaves,
   * so that the adapter must tell when.
   */
  readonly streams?: boolean;
  /**
   * Checks what the framework, or the application, passed to the middleware.
   *
   * @throws TypeError it is not a function
   */
  assertCalledWith(given: unknown): void;
  /**
   * Responds to a stopped request with the application's own function, or with `byDefault` if there
   * is none.
   *
   * @param args what the application's function gets: the arguments of the framework, and `stopped`
   *   among them
   * @returns what the function returns; rejects with what it throws
   */
  respond(
    stopped: Stopped,
    args: readonly unknown[],
    byDefault: (reply: AnyReply) => unknown,
  ): Promise<unknown>;
}

/** The guards of an `auth` object, as the framework's own kind of middleware. */
export interface Guards<
  Middleware,
  OwnResponses,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /** Lets only users pass who are signed in within the session limits. */
  readonly idpRequired: Middleware;
  /** As `idpRequired`, with a rule for the route and your own responses. */
  idpRequiredWith(route: OwnResponses & GuardRule<OwnClaims, Data>): Middleware;
  /**
   * Protects against cross-site request forgery. A request that may change something gets 403
   * `cross_origin`, unless it comes from your own origin. The endpoints pass, because they have
   * their own rules.
   */
  readonly csrf: Middleware;
  /**
   * Passes requests below an API's `path` on to the API, with the user's access token, and leaves
   * all others to what comes next. Mount it before middleware that reads bodies.
   *
   * @param api its name in the option `apis`
   * @param rule what the API requires besides a signed-in user
   */
  proxyApi(api: string, rule?: GuardRule<OwnClaims, Data>): Middleware;
}

/** The functions of the core that gates stand for. */
export interface GateParts<FrameworkRequest extends object> {
  /** Whether a shutdown has begun. */
  isClosing(): boolean;
  handle(raw: FrameworkRequest): Promise<AnyReply> | undefined;
  /** Undefined: the request may pass. */
  guard(raw: FrameworkRequest, rule?: GuardRule): Promise<Blocked | undefined>;
  declareGuard(options: GuardRule): void;
  /** The reply to a request that may be forged. Undefined: the request may pass. */
  csrf(raw: FrameworkRequest): Promise<Reply> | undefined;
  /** Undefined: the request is no API's. */
  proxyApi(api: string, rule?: GuardRule): (raw: FrameworkRequest) => Promise<AnyReply> | undefined;
}

/** The gates of one `auth` object, for its adapter. */
export interface Gates<
  FrameworkRequest extends object,
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /** Stops the requests for the endpoints. Every request of the application passes it. */
  readonly endpoints: Gate<FrameworkRequest>;
  /**
   * The guard of a route.
   *
   * @throws TypeError a value that the options cannot have
   */
  guard(route: GuardRule<OwnClaims, Data> & AnyGuardResponses): Gate<FrameworkRequest>;
  /**
   * The guards that an adapter adds to its `auth` object.
   * @param middleware makes the framework's middleware from a gate
   */
  guards<Middleware, OwnResponses>(
    middleware: (gate: Gate<FrameworkRequest>) => Middleware,
  ): Guards<Middleware, OwnResponses, OwnClaims, Data>;
}

/**
 * @param usage how applications of the framework write their guards, for the errors of wrong uses
 */
export function createGates<FrameworkRequest extends object>(
  { isClosing, handle, guard, declareGuard, csrf, proxyApi }: GateParts<FrameworkRequest>,
  usage: Usage,
): Gates<FrameworkRequest> {
  function meet(response: { shouldKeepAlive?: boolean } | undefined): void {
    if (response?.shouldKeepAlive === true && isClosing()) response.shouldKeepAlive = false;
  }

  /** The gate that sends a reply as it is. */
  const gateOf = (
    kind: "forged" | "endpoint",
    replyTo: (raw: FrameworkRequest) => Promise<AnyReply> | undefined,
  ): Gate<FrameworkRequest> => ({
    enter(raw, response) {
      meet(response);
      return replyTo(raw)?.then((reply) => {
        // The shutdown may have begun since.
        meet(response);
        return { kind, reply };
      });
    },
    keepsPrivate: false,
    assertCalledWith: (given) => assertUsage("csrf", usage, given),
    respond: async (stopped, _args, respond) => respond(stopped.reply),
  });

  function guardOf(route: GuardRule & AnyGuardResponses): Gate<FrameworkRequest> {
    declareGuard(route);
    return {
      enter(raw, response) {
        meet(response);
        return guard(raw, route);
      },
      keepsPrivate: true,
      assertCalledWith: (given) => assertUsage("idpRequired", usage, given),
      respond: (stopped, args, respond) =>
        respondToBlocked(stopped.kind, route, args, () => respond(stopped.reply)),
    };
  }

  function proxyOf(api: string, rule: GuardRule = {}): Gate<FrameworkRequest> {
    declareGuard(rule);
    return { ...gateOf("endpoint", proxyApi(api, rule)), streams: true };
  }

  return {
    endpoints: { ...gateOf("endpoint", handle), assertCalledWith: () => undefined },
    guard: guardOf,
    guards: (middleware) => ({
      idpRequired: middleware(guardOf({})),
      idpRequiredWith: (route) => middleware(guardOf(route)),
      csrf: middleware(gateOf("forged", csrf)),
      proxyApi: (api, rule) => middleware(proxyOf(api, rule)),
    }),
  };
}

/**
 * The `Cache-Control` of a guarded response if the application sets none. No cache stores the
 * response, including the browser's.
 */
export const GUARDED_CACHE_CONTROL = "private, no-store";

/** Returns a `Vary` value that includes `Cookie` once. `*` already includes everything. */
export function varyByCookie(vary: string | undefined): string {
  if (vary === undefined || vary.trim() === "") return "Cookie";
  return /(?:^|,)\s*(?:cookie|\*)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, Cookie`;
}

/**
 * The application's own responses to blocked requests. Each function is called with the framework's
 * arguments `Before`, the blocked request, and the arguments `After`.
 */
export interface GuardResponsesOf<
  Before extends readonly unknown[],
  After extends readonly unknown[] = [],
  Result = unknown,
> {
  /** Responds to a page request. Default: 302 to the login, which returns to the page. */
  readonly navigation?: (
    ...args: [...Before, blocked: BlockedUser<"navigation">, ...After]
  ) => Result;
  /** Responds to any other request. Default: 401 as JSON. */
  readonly unauthenticated?: (
    ...args: [...Before, blocked: BlockedUser<"unauthenticated">, ...After]
  ) => Result;
  /** Responds while the provider or the store is unavailable. Default: 503 with Retry-After. */
  readonly unavailable?: (...args: [...Before, blocked: BlockedByOutage, ...After]) => Result;
  /** Responds to a user whom the route's `allow` does not let pass. Default: 403. */
  readonly forbidden?: (...args: [...Before, blocked: BlockedByRule, ...After]) => Result;
  /**
   * Responds to a user who must authenticate again (`maxAge`, `acr`). Default: 302 to the login for
   * a page, else 401 as JSON.
   */
  readonly stepUp?: (...args: [...Before, blocked: BlockedForStepUp, ...After]) => Result;
}

/** The same functions, for code that knows no framework. */
export type AnyGuardResponses = Readonly<
  Partial<Record<Blocked["kind"], (...args: never[]) => unknown>>
>;

/**
 * Responds to a blocked request with the application's own function, or with `byDefault` if there
 * is none.
 *
 * @param args what the function gets: the arguments of the framework, and the blocked request among
 *   them
 * @returns what the function returns; rejects with what it throws
 */
export async function respondToBlocked<Result>(
  kind: string,
  responses: AnyGuardResponses,
  args: readonly unknown[],
  byDefault: () => Result,
): Promise<unknown> {
  const own = responses[kind as Blocked["kind"]] as
    ((...args: readonly unknown[]) => unknown) | undefined;
  if (own === undefined) return byDefault();
  try {
    return await own.apply(responses, [...args]);
  } catch (error) {
    throw thrownBy(kind, error);
  }
}

/** The application's own responses. */
const RESPONSES = ["navigation", "unauthenticated", "unavailable", "forbidden", "stepUp"];

/** How applications of a framework write their guards. */
export interface Usage {
  /**
   * `next`: a guard is middleware, which the framework calls with its continuation. `handler`: a
   * guard takes the protected handler.
   */
  readonly takes: "next" | "handler";
  /** Code that guards a route with `auth.idpRequired`. */
  readonly idpRequired: string;
  /** The same with `auth.csrf`. */
  readonly csrf: string;
}

/**
 * Checks what a guard was called with: the framework's continuation, or the protected handler.
 *
 * @throws TypeError it is not a function. The message says what to write instead
 */
export function assertUsage(name: "idpRequired" | "csrf", usage: Usage, given: unknown): void {
  if (typeof given === "function") return;
  const example = usage[name];
  if (usage.takes === "handler") {
    throw new TypeError(
      `\`auth.${name}\` takes the protected handler, which is a function, but got ${kindOf(given)}. Write \`${example}\`.`,
    );
  }
  throw new TypeError(
    `\`auth.${name}\` is the ${name === "csrf" ? "middleware" : "guard"} itself, but was called without a request. ` +
      `Pass it without calling it: \`${example}\`.` +
      (name === "csrf" ? "" : " For your own responses, use `auth.idpRequiredWith({ … })`."),
  );
}

/**
 * Checks what is passed to `auth.idpRequiredWith(options)`: the rule of the route, and the
 * application's own responses.
 *
 * @throws TypeError a value that the options cannot have, or an unknown key
 */
export function assertGuardOptions(options: unknown): void {
  if (typeof options !== "object" || options === null) throw optionsError(kindOf(options));
  for (const [name, value] of Object.entries(options)) {
    const requirement = requirementNamed(name);
    if (requirement !== undefined) {
      const [is, allowed] = requirement;
      if (value === undefined) throw optionsError(`nothing as \`${name}\``);
      if (!is(value))
        throw new TypeError(`\`${name}\` of \`auth.idpRequiredWith\` must be ${allowed}.`);
    } else if (!RESPONSES.includes(name)) {
      if (value !== undefined) throw optionsError(`the key \`${name}\``);
    } else if (value !== undefined && typeof value !== "function")
      throw optionsError(`${kindOf(value)} as \`${name}\``);
  }
}

function optionsError(got: string): TypeError {
  return new TypeError(
    "`auth.idpRequiredWith` takes an object: the rule of the route (`allow`, `maxAge`, `acr`, `provider`) and your own responses (the functions " +
      "`navigation`, `unauthenticated`, `unavailable`, `forbidden` and `stepUp`), each optional. " +
      `It got ${got}. If you need none of them, use \`auth.idpRequired\`.`,
  );
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
