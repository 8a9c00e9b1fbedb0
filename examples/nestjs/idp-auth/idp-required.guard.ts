import { Inject, Injectable, type CanActivate, type ExecutionContext } from "@nestjs/common";
import type { RequestHandler } from "express";
import type { ExpressIdpAuth } from "idpauth/express";
import { IDP_AUTH } from "./idp-auth.module.js";

/** Lets a request pass only if its user is signed in within the session limits. */
@Injectable()
export class IdpRequiredGuard implements CanActivate {
  @Inject(IDP_AUTH) protected readonly auth!: ExpressIdpAuth;

  /**
   * Settles only if the handler may run or an error occurred. Otherwise the user already has a
   * response.
   */
  canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    return new Promise((resolve, reject) => {
      this.guard(http.getRequest(), http.getResponse(), (error?: unknown) => {
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
