import {
  createParamDecorator,
  Inject,
  Injectable,
  type ExecutionContext,
  type PipeTransform,
} from "@nestjs/common";
import type { Request } from "express";
import type { SessionUser } from "idpauth";
import type { ExpressIdpAuth } from "idpauth/express";
import { IDP_AUTH } from "./idp-auth.module.js";
import { messagesOf } from "./idp-required.guard.js";

@Injectable()
class UserOfRequest implements PipeTransform<Request, Promise<SessionUser | null>> {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;

  async transform(request: Request): Promise<SessionUser | null> {
    return (await this.auth.getSession(request))?.user ?? null;
  }
}

const HttpRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext) => messagesOf(context).req,
);

/**
 * `@CurrentUser() user: SessionUser | null`: the user of the session; null if the user is signed
 * out.
 */
export const CurrentUser = (): ParameterDecorator => HttpRequest(UserOfRequest);
