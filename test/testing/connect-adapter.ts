import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdapterAuth, EventStream, Finding, IdpAuthOptions } from "idpauth";
import {
  createAdapterAuth,
  describesBody,
  eventStreamTo,
  keepPrivate,
  NodeRequest,
  onClose,
  rememberResponse,
  sourceOf,
  writeFresh,
  writeReply,
  type Gate,
  type GuardResponsesOf,
  type Guards,
  type Stopped,
} from "idpauth/adapter";

type Next = (error?: unknown) => void;

/** The framework's middleware. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** The application's own responses. Each gets the blocked request as its third argument. */
export type GuardResponses = GuardResponsesOf<
  [request: IncomingMessage, response: ServerResponse],
  [next: Next]
>;

export interface ConnectIdpAuth
  extends AdapterAuth<IncomingMessage>, Guards<Middleware, GuardResponses> {
  /** Runs the startup checks and mounts the endpoints. */
  mount(app: { use(middleware: Middleware): unknown }): readonly Finding[];
  /** Responds with an event stream. */
  eventStream(request: IncomingMessage, response: ServerResponse): Promise<EventStream>;
  /** Responds to an error of idpauth, after the application's own error handlers. */
  readonly errorHandler: (
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    next: Next,
  ) => void;
}

export function idpAuth(options: IdpAuthOptions = {}): ConnectIdpAuth {
  const { auth, gates, openEventStream, uncaught } = createAdapterAuth(
    options,
    {
      name: "Connect",
      request: (message: IncomingMessage) => new NodeRequest(message),
      // For `proxyApi` and `whenEnded`.
      source: (message) => sourceOf(message),
      onClose: (message, closed) => {
        onClose(message, closed);
      },
    },
    { takes: "next", idpRequired: "app.use(auth.idpRequired)", csrf: "app.use(auth.csrf)" },
  );
  return {
    ...auth,
    ...gates.guards<Middleware, GuardResponses>(middleware),
    mount(app) {
      const findings = auth.start();
      app.use(middleware(gates.endpoints));
      return findings;
    },
    eventStream: eventStreamTo(openEventStream),
    errorHandler(error, request, response, next) {
      const reply = response.headersSent ? undefined : uncaught(error, request);
      if (reply === undefined) {
        next(error);
        return;
      }
      reply
        .then((own) => {
          // Without the headers that describe the handler's unfinished body.
          writeFresh(response, own, describesBody);
        })
        .catch(next);
    },
  };
}

/** Turns a gate into the framework's middleware. */
function middleware(gate: Gate<IncomingMessage>): Middleware {
  return (request, response, next) => {
    gate.assertCalledWith(next);
    rememberResponse(request, response);
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
    // Not always a promise: a request that needs no I/O passes at once.
    const entered = gate.enter(request, response);
    if (entered === undefined) proceed(undefined);
    else entered.then(proceed).catch(next);
  };
}
