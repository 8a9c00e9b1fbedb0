import { Inject, UseGuards } from "@nestjs/common";
import { Context, Field, ObjectType, Query, Resolver } from "@nestjs/graphql";
import type { Request } from "express";
import type { SessionUser } from "idpauth";
import type { ExpressIdpAuth } from "idpauth/express";
import { CurrentUser } from "../idp-auth/current-user.decorator.js";
import { IDP_AUTH } from "../idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "../idp-auth/idp-required.guard.js";

@ObjectType()
export class Report {
  @Field(() => String)
  readonly title: string;

  constructor(title: string) {
    this.title = title;
  }
}

@Resolver(() => Report)
export class ReportsResolver {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;

  @Query(() => [Report])
  @UseGuards(IdpRequiredGuard)
  async reports(@Context("req") request: Request): Promise<Report[]> {
    const { user } = await this.auth.requireSession(request);
    return [new Report(`Report for ${user.name ?? ""}`)];
  }

  @Query(() => String, { nullable: true })
  viewer(@CurrentUser() user: SessionUser | null): string | null {
    return user?.email ?? null;
  }
}
