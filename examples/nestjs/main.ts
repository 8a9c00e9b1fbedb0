import "reflect-metadata";
import { Controller, Get, Inject, Logger, Module, Req, UseGuards } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { Request } from "express";
import type { SessionUser } from "idpauth";
import type { ExpressIdpAuth } from "idpauth/express";
import { CurrentUser } from "./idp-auth/current-user.decorator.js";
import { IDP_AUTH, IdpAuthModule } from "./idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "./idp-auth/idp-required.guard.js";

@Controller()
class ReportsController {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;

  @Get()
  home(@CurrentUser() user: SessionUser | null): string {
    const who = user
      ? `You are ${nameOf(user)}. <a href="/idpauth/logout/">Sign out</a>`
      : '<a href="/idpauth/login/">Sign in</a>';
    return `<!doctype html><title>Everybody</title><p>${who}</p><p><a href="/reports">Reports</a></p>`;
  }

  @Get("reports")
  @UseGuards(IdpRequiredGuard)
  reports(@CurrentUser() user: SessionUser | null): string {
    const links =
      '<a href="/api/reports">As JSON</a> <a href="/">Home</a> <a href="/idpauth/logout/">Sign out</a>';
    return `<!doctype html><title>Reports</title><p>Hello ${nameOf(user)}.</p><p>${links}</p>`;
  }

  @Get("api/reports")
  @UseGuards(IdpRequiredGuard)
  async list(@Req() request: Request): Promise<object> {
    const credentials = await this.auth.getCredentials(request); // null: signed out a moment ago
    // For a call to your API, or one of the provider's: `await this.auth.getAccessToken(request)`,
    // which is always fresh.
    return { reports: ["Visitors", "Orders"], scopes: credentials?.scopes ?? [] };
  }
}

@Module({ imports: [IdpAuthModule.forRoot()], controllers: [ReportsController] })
class AppModule {}

Logger.overrideLogger(["warn", "error"]);
const app = await NestFactory.create(AppModule);
app.enableShutdownHooks([], { useProcessExit: true });
const { PORT = 3000 } = process.env;
await app.listen(PORT);
console.log(`http://localhost:${new URL(await app.getUrl()).port}/`);

function nameOf(user: SessionUser | null): string {
  const name = user?.name ?? user?.email ?? "you";
  return name.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
