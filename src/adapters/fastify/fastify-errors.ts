import { STATUS_CODES } from "node:http";
import { isDeepStrictEqual } from "node:util";
import type { FastifyReply, FastifyRequest, onErrorHookHandler, onSendHookHandler } from "fastify";
import { describesBody, type IdpAuth } from "../../adapter.js";
import { IdpAuthError } from "../../index.js";
import { setReplyHead, type AnyFastifyRequest } from "./fastify-message.js";

/**
 * Hooks that respond to an error of idpauth that no error handler of the application has responded
 * to. `onError` runs before the error handlers, so what Fastify is about to send tells whether it
 * responds itself.
 */
export function errorHooks(uncaught: IdpAuth<AnyFastifyRequest>["uncaught"]) {
  const failed = new WeakMap<FastifyReply, IdpAuthError>();

  // eslint-disable-next-line @typescript-eslint/max-params -- Fastify calls it with four.
  const onError: onErrorHookHandler = (_request, reply, error, done) => {
    if (error instanceof IdpAuthError) failed.set(reply, error);
    done();
  };

  // eslint-disable-next-line @typescript-eslint/max-params -- Fastify calls it with four.
  const onSend: onSendHookHandler = (request: FastifyRequest, reply, payload, done) => {
    const error = failed.get(reply);
    const own = error && isFastifysOwn(payload, error) ? uncaught(error, request) : undefined;
    if (own === undefined) {
      done(null, payload);
      return;
    }
    own.then((answer) => {
      for (const name in reply.getHeaders()) if (describesBody(name)) reply.removeHeader(name);
      setReplyHead(reply, answer);
      done(null, answer.body);
    }, done);
  };

  return { onError, onSend };
}

/** Whether a body is the one that Fastify itself makes of an error. */
function isFastifysOwn(payload: unknown, { code, message, statusCode }: IdpAuthError): boolean {
  if (typeof payload !== "string") return false;
  try {
    const body: unknown = JSON.parse(payload);
    const error = STATUS_CODES[statusCode];
    return isDeepStrictEqual(body, { statusCode, code, error, message });
  } catch {
    // A response schema of the application can have another form.
    return false;
  }
}
