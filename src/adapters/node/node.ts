import type { IncomingMessage, ServerResponse } from "node:http";
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
import { answerError } from "./error.js";
import { keepPrivate } from "./guarded.js";
import { NodeRequest, writeReply, type AnyRequest, type AnyResponse } from "./message.js";

export { keepHeadPrivate, keepPrivate } from "./guarded.js";
export { NodeRequest, soleHost, writeReply, type AnyRequest, type AnyResponse } from "./message.js";

/** Answers one kind of blocked request. Ends the response; the protected handler does not run by itself. */
export type GuardResponse<Blocked, Request = IncomingMessage, Response = ServerResponse> = (
  request: Request,
  response: Response,
  blocked: Blocked,
) => unknown;

/** Answers in place of the guard's own ones. */
export interface GuardResponses<Request = IncomingMessage, Response = ServerResponse> {
  /** A page was asked for; default 302 to the login, which comes back to that page. */
  readonly navigation?: GuardResponse<BlockedUser<"navigation">, Request, Response>;
  /** Anything else was asked for; default 401 as JSON. */
  readonly unauthenticated?: GuardResponse<BlockedUser<"unauthenticated">, Request, Response>;
  /** Provider or store is away; default 503 with Retry-After. */
  readonly unavailable?: GuardResponse<BlockedByOutage, Request, Response>;
}

/** A request listener, perhaps with arguments of a router's own after the two; a promise is waited for. */
export type Handler<Request, Response, Rest extends readonly unknown[] = []> = (
  request: Request,
  response: Response,
  ...rest: Rest
) => unknown;

/** A handler behind a guard. Gives what the handler gives, and rejects with what it throws or rejects with. */
export type Guarded<Request, Response, Rest extends readonly unknown[]> = (
  request: Request,
  response: Response,
  ...rest: Rest
) => Promise<unknown>;

export interface ListenerOptions<Request = IncomingMessage, Response = ServerResponse> {
  /**
   * Told of everything that the handler throws or rejects with; ends the response. Default: 503 with Retry-After in an outage
   * of provider or store; for anything else 500, and the error on stderr. Nothing of an error is sent.
   */
  readonly onError?: (error: unknown, request: Request, response: Response) => unknown;
}

/** idpauth, at home in node:http, node:https, and node:http2 by its compatibility API. */
export interface NodeIdpAuth extends Omit<IdpAuth<AnyRequest>, "handle" | "guard" | "start"> {
  /**
   * A listener for a server: runs the startup checks, then serves the endpoints and leaves everything else to the handler.
   * It catches what the handler throws or rejects with, which would otherwise end the process.
   *
   * @throws ConfigurationError with every finding at once
   */
  listener<Request extends AnyRequest = IncomingMessage, Response extends AnyResponse = ServerResponse>(
    handler: Handler<Request, Response>,
    options?: ListenerOptions<Request, Response>,
  ): (request: Request, response: Response) => void;
  /**
   * Runs the startup checks, for applications that call `handle` themselves; `listener` does it.
   *
   * @throws ConfigurationError with every finding at once
   */
  start(): readonly Finding[];
  /**
   * Answers a request for one of the endpoints: `if (await auth.handle(request, response)) return;`
   *
   * @returns false: the path is not ours, and nothing was done. A rejection is a bug, and for the caller to catch.
   */
  handle(request: AnyRequest, response: AnyResponse): false | Promise<true>;
  /** Lets only visitors through who are signed in within policy: `const reports = auth.idpRequired((request, response) => …)`. */
  idpRequired<
    Request extends AnyRequest = IncomingMessage,
    Response extends AnyResponse = ServerResponse,
    Rest extends readonly unknown[] = [],
  >(
    handler: Handler<Request, Response, Rest>,
  ): Guarded<Request, Response, Rest>;
  /** As `idpRequired`, with answers of the application's own: `auth.idpRequiredWith({ … })(handler)`. */
  idpRequiredWith<Request extends AnyRequest = IncomingMessage, Response extends AnyResponse = ServerResponse>(
    answers: GuardResponses<Request, Response>,
  ): <Rest extends readonly unknown[] = []>(handler: Handler<Request, Response, Rest>) => Guarded<Request, Response, Rest>;
}

/**
 * Sign-in for a server of node:http. Settings come from the environment; options override them.
 *
 * @example
 * const auth = idpAuth();
 * const reports = auth.idpRequired((request, response) => …);
 * createServer(auth.listener((request, response) => …)).listen(3000);
 */
export function idpAuth(options: IdpAuthOptions = {}): NodeIdpAuth {
  const {
    start,
    handle: answerTo,
    guard,
    ...accessors
  } = createIdpAuth<AnyRequest>(options, { name: "node:http", request: (message) => new NodeRequest(message) });

  const checked = () => start({ sessionMiddleware: "not-applicable", middlewareRemedy: SESSIONS_REMEDY });

  function handle(request: AnyRequest, response: AnyResponse): false | Promise<true> {
    const answer = answerTo(request);
    if (answer === undefined) return false;
    return answer.then((reply) => {
      writeReply(response, reply);
      return true;
    });
  }

  function idpRequiredWith<Request extends AnyRequest, Response extends AnyResponse>(answers: GuardResponses<Request, Response>) {
    assertGuardResponses(answers);

    async function turnAway(request: Request, response: Response, blocked: Blocked): Promise<void> {
      if (blocked.kind === "navigation" && answers.navigation) await answers.navigation(request, response, blocked);
      else if (blocked.kind === "unauthenticated" && answers.unauthenticated) await answers.unauthenticated(request, response, blocked);
      else if (blocked.kind === "unavailable" && answers.unavailable) await answers.unavailable(request, response, blocked);
      else writeReply(response, blocked.reply);
    }

    return <Rest extends readonly unknown[]>(handler: Handler<Request, Response, Rest>): Guarded<Request, Response, Rest> => {
      assertHandler(handler, GUARDED_HANDLER);
      return async function idpRequired(request, response, ...rest) {
        const blocked = await guard(request);
        if (blocked !== undefined) return turnAway(request, response, blocked);
        keepPrivate(response);
        return handler(request, response, ...rest);
      };
    };
  }

  function listener<Request extends AnyRequest, Response extends AnyResponse>(
    handler: Handler<Request, Response>,
    { onError = answerError }: ListenerOptions<Request, Response> = {},
  ): (request: Request, response: Response) => void {
    checked();

    function failed(error: unknown, request: Request, response: Response): void {
      // The last resort, so what this throws in turn is the default's.
      Promise.resolve()
        .then(() => onError(error, request, response))
        .catch((again: unknown) => {
          answerError(again, request, response);
        });
    }

    return (request, response) => {
      try {
        const answered = handle(request, response) || handler(request, response);
        if (!isPromise(answered)) return;
        answered.then(undefined, (error: unknown) => {
          failed(error, request, response);
        });
      } catch (error) {
        failed(error, request, response);
      }
    };
  }

  return {
    ...accessors,
    start: checked,
    handle,
    listener,
    idpRequired: <Request extends AnyRequest, Response extends AnyResponse, Rest extends readonly unknown[]>(
      handler: Handler<Request, Response, Rest>,
    ) => idpRequiredWith<Request, Response>({})(handler),
    idpRequiredWith,
  };
}

const GUARDED_HANDLER = "const reports = auth.idpRequired((request, response) => …)";

const SESSIONS_REMEDY = 'Leave out session: "host" and give a `store`: idpauth brings its own server-side sessions.';

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
}
