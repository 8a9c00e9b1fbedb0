import { Catch, type ArgumentsHost, type ExceptionFilter } from "@nestjs/common";
import type { Response } from "express";
import { ProviderUnavailableError, SessionMissingError, StoreUnavailableError } from "idpauth";

type Outage = ProviderUnavailableError | SessionMissingError | StoreUnavailableError;

/** An accessor met an outage. The user is still signed in, and the same request may succeed a moment later. */
@Catch(ProviderUnavailableError, SessionMissingError, StoreUnavailableError)
export class IdpOutageFilter implements ExceptionFilter {
  catch(error: Outage, host: ArgumentsHost): void {
    const retryAfter = "retryAfter" in error ? error.retryAfter : 1;
    host.switchToHttp().getResponse<Response>().status(503).set("Retry-After", `${retryAfter}`).json({ error: error.code });
  }
}
