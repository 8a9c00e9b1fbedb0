import { Catch, type ArgumentsHost } from "@nestjs/common";
import { BaseExceptionFilter, type HttpAdapterHost } from "@nestjs/core";
import type { Request, Response } from "express";
import { IdpAuthError } from "idpauth";
import type { ExpressIdpAuth } from "idpauth/express";

/**
 * Responds to an error of idpauth with its status, as a page or a problem document. During an
 * outage, that's a 503: the user is still signed in, and a later request may succeed.
 */
@Catch(IdpAuthError)
export class IdpErrorFilter extends BaseExceptionFilter<IdpAuthError> {
  private readonly auth: ExpressIdpAuth;

  constructor(auth: ExpressIdpAuth, { httpAdapter }: HttpAdapterHost) {
    super(httpAdapter);
    this.auth = auth;
  }

  override catch(error: IdpAuthError, host: ArgumentsHost): void {
    // In GraphQL, the response lists the error.
    if (host.getType() !== "http") throw error;
    const http = host.switchToHttp();
    // Nest itself responds to a mistake in the application's code, such as guard_missing.
    const next = () => {
      super.catch(error, host);
    };
    this.auth.errorHandler(error, http.getRequest<Request>(), http.getResponse<Response>(), next);
  }
}
