import {
  assertGuardResponses,
  assertHandler,
  createIdpAuth,
  type Blocked,
  type BlockedByOutage,
  type BlockedUser,
  type Finding,
  type IdpAuth,
  type IdpAuthOptions,
} from "../../index.js";
import { keepPrivate } from "./guarded.js";
import { toResponse, WebRequest } from "./message.js";

export { keepPrivate } from "./guarded.js";
export { toResponse, WebRequest } from "./message.js";

/** Answers a request, with whatever else the server hands over beside it: `info`, `context`, … */
export type Handler<Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>;

/** Stands before a handler, which does not run when the visitor is turned away. */
export type Guard = <Rest extends readonly unknown[]>(handler: Handler<Rest>) => (request: Request, ...rest: Rest) => Promise<Response>;

/** Answers one kind of blocked request. The protected handler does not run. */
export type GuardResponse<Blocked> = (request: Request, blocked: Blocked) => Response | Promise<Response>;

/** Answers in place of the guard's own ones. */
export interface GuardResponses {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage>;
}

/** idpauth, at home wherever a `Request` of the Fetch standard becomes a `Response`. */
export interface FetchIdpAuth extends Omit<IdpAuth<Request>, "start" | "handle" | "guard"> {
  /**
   * Runs the startup checks. Call it where the server starts, so that a mistake stops it there; without the call they run at
   * the first request, which rejects.
   *
   * @throws ConfigurationError with every finding at once
   */
  check(): readonly Finding[];
  /**
   * Answers a request for one of the endpoints; undefined: the path is not ours. Rejects with what goes wrong, for the
   * application's own error handling.
   *
   * @throws ConfigurationError at once, where `check` was not called and there is a mistake
   */
  fetch(request: Request): Promise<Response> | undefined;
  /** Lets only visitors through to the handler who are signed in within policy. */
  readonly idpRequired: Guard;
  /** As `idpRequired`, with answers of the application's own. */
  idpRequiredWith(answers: GuardResponses): Guard;
  /**
   * The guard for hooks, loaders and middleware: the response for a user who must not pass; undefined: the user may pass. Give
   * your own response to `keepPrivate` then, so that no cache stores it: `return keepPrivate(await resolve(event))`.
   */
  guard(request: Request, answers?: GuardResponses): Promise<Response | undefined>;
}

/**
 * Sign-in for servers of the Fetch standard's style. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * auth.check();
 * const reports = auth.idpRequired((request) => Response.json({ … }));
 * const answer = (await auth.fetch(request)) ?? (await reports(request));
 */
export function idpAuth(options: IdpAuthOptions = {}): FetchIdpAuth {
  const host = { name: "a fetch-style server", request: (raw: Request) => new WebRequest(raw) };
  const { start, handle, guard: judge, ...accessors } = createIdpAuth<Request>(options, host);

  async function guard(request: Request, answers: GuardResponses = {}): Promise<Response | undefined> {
    const blocked = await judge(request);
    return blocked === undefined ? undefined : turnAway(request, blocked, answers);
  }

  function idpRequiredWith(answers: GuardResponses): Guard {
    assertGuardResponses(answers);
    return (handler) => {
      assertHandler(handler, "const reports = auth.idpRequired((request) => Response.json({ … }))");
      return async (request, ...rest) => {
        const blocked = await guard(request, answers);
        return blocked ?? keepPrivate(await handler(request, ...rest));
      };
    };
  }

  return {
    ...accessors,
    check: () => start(),
    fetch: (request) => handle(request)?.then((reply) => toResponse(reply, request.method)),
    idpRequired: idpRequiredWith({}),
    idpRequiredWith,
    guard,
  };
}

async function turnAway(request: Request, blocked: Blocked, answers: GuardResponses): Promise<Response> {
  const answer = (await ownResponse(request, blocked, answers)) as Response | undefined;
  // Nothing, which is what a forgotten return gives, would read as "may pass" to whoever asked.
  if (answer === undefined) throw new TypeError(`The answer \`${blocked.kind}\` gave no Response.`);
  return answer;
}

function ownResponse(request: Request, blocked: Blocked, answers: GuardResponses): Response | Promise<Response> {
  if (blocked.kind === "navigation" && answers.navigation) return answers.navigation(request, blocked);
  if (blocked.kind === "unauthenticated" && answers.unauthenticated) return answers.unauthenticated(request, blocked);
  if (blocked.kind === "unavailable" && answers.unavailable) return answers.unavailable(request, blocked);
  return toResponse(blocked.reply, request.method);
}
