import { Catch, type ArgumentsHost, type ExceptionFilter } from "@nestjs/common";
import type { Response } from "express";
import {
  HookFailedError,
  ProviderUnavailableError,
  SessionMissingError,
  StoreUnavailableError,
} from "idpauth";

type Outage =
  HookFailedError | ProviderUnavailableError | SessionMissingError | StoreUnavailableError;

/**
 * Responds with 503 if an accessor throws because of an outage. The user is still signed in, and a
 * later request may succeed.
 */
@Catch(HookFailedError, ProviderUnavailableError, SessionMissingError, StoreUnavailableError)
export class IdpOutageFilter implements ExceptionFilter {
  catch(error: Outage, host: ArgumentsHost): void {
    // In GraphQL, the response lists the error.
    if (host.getType() !== "http") throw error;
    const retryAfter = "retryAfter" in error ? error.retryAfter : 1;
    host
      .switchToHttp()
      .getResponse<Response>()
      .status(503)
      .set("Retry-After", `${retryAfter}`)
      .json({ error: error.code });
  }
}
