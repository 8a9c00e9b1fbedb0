import {
  createParamDecorator,
  Inject,
  Injectable,
  type ExecutionContext,
  type PipeTransform,
} from "@nestjs/common";
import type { Request } from "express";
import type { UserPayload } from "idpauth";
import type { ExpressIdpAuth } from "idpauth/express";
import { IDP_AUTH } from "./idp-auth.module.js";
import { messagesOf } from "./idp-required.guard.js";

@Injectable()
class UserOfRequest implements PipeTransform<Request, Promise<UserPayload | null>> {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;

  transform(request: Request): Promise<UserPayload | null> {
    return this.auth.getUser(request);
  }
}

const HttpRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext) => messagesOf(context).req,
);

/**
 * `@CurrentUser() user: UserPayload | null`: email, name and picture of the user; null if the user
 * is signed out.
 */
export const CurrentUser = (): ParameterDecorator => HttpRequest(UserOfRequest);
