import { Inject, Injectable, type CanActivate, type ExecutionContext } from "@nestjs/common";
import type { Request, RequestHandler, Response } from "express";
import type { ExpressIdpAuth } from "idpauth/express";
import { IDP_AUTH } from "./idp-auth.module.js";

/** The last guard of each response. The resolvers of a GraphQL operation share one response. */
const guards = new WeakMap<Response, Promise<boolean>>();

/** Lets a request pass only if its user is signed in within the session limits. */
@Injectable()
export class IdpRequiredGuard implements CanActivate {
  @Inject(IDP_AUTH) protected readonly auth!: ExpressIdpAuth;

  /**
   * Settles only if the handler may run or an error occurred. Otherwise the user already has a
   * response.
   */
  canActivate(context: ExecutionContext): Promise<boolean> {
    const { req, res } = messagesOf(context);
    const earlier = guards.get(res) ?? Promise.resolve(true);
    const decision = earlier.then(() => this.decide(req, res));
    guards.set(res, decision);
    return decision;
  }

  private decide(request: Request, response: Response): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.guard(request, response, (error?: unknown) => {
        if (error === undefined) resolve(true);
        else
          reject(error instanceof Error ? error : new Error("The guard failed.", { cause: error }));
      });
    });
  }

  /** A subclass sends its own responses with `this.auth.idpRequiredWith({ … })`, created once. */
  protected get guard(): RequestHandler {
    return this.auth.idpRequired;
  }
}

/**
 * Returns the request and the response of a controller's handler or of a GraphQL resolver.
 *
 * @throws Error if there is no response, as for a message or a subscription over a WebSocket
 */
export function messagesOf(context: ExecutionContext): { req: Request; res: Response } {
  // A resolver gets its parent, the arguments, the context and information about the query.
  const req =
    context.getType<string>() === "graphql"
      ? context.getArgByIndex<{ req?: Request } | undefined>(2)?.req
      : context.getArgByIndex<Request | undefined>(0);
  if (req?.res === undefined)
    throw new Error("There is no HTTP response here. Guard the connection instead.");
  return { req, res: req.res };
}
