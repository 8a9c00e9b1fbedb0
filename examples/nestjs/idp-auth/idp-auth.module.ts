import type { Server } from "node:http";
import {
  Inject,
  Module,
  type DynamicModule,
  type BeforeApplicationShutdown,
  type NestModule,
  type OnApplicationShutdown,
} from "@nestjs/common";
import { APP_FILTER, HttpAdapterHost } from "@nestjs/core";
import type { Express } from "express";
import type { IdpAuthOptions } from "idpauth";
import { idpAuth, type ExpressIdpAuth } from "idpauth/express";
import { IdpErrorFilter } from "./idp-error.filter.js";

/**
 * `@Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth` injects the component, which has the
 * accessors.
 */
export const IDP_AUTH = Symbol("idpauth");

@Module({})
export class IdpAuthModule implements NestModule, BeforeApplicationShutdown, OnApplicationShutdown {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;
  @Inject(HttpAdapterHost) private readonly host!: HttpAdapterHost;

  /** Settings come from the environment; options override them. */
  static forRoot<OwnClaims extends object = object, Data extends object = Record<string, unknown>>(
    options: IdpAuthOptions<OwnClaims, Data> = {},
  ): DynamicModule {
    return {
      module: IdpAuthModule,
      global: true,
      providers: [
        { provide: IDP_AUTH, useFactory: () => idpAuth(options) },
        {
          provide: APP_FILTER,
          useFactory: (auth: ExpressIdpAuth, host: HttpAdapterHost) =>
            new IdpErrorFilter(auth, host),
          inject: [IDP_AUTH, HttpAdapterHost],
        },
      ],
      exports: [IDP_AUTH],
    };
  }

  /**
   * Nest calls this after `main.ts` has added its middleware with `app.use()`, and before Nest adds
   * the controllers.
   */
  configure(): void {
    // startup checks, then /idpauth/*
    this.auth.mount(this.host.httpAdapter.getInstance<Express>());
  }

  /** Nest calls this before it closes the server, which would wait for open streams. */
  beforeApplicationShutdown(): void {
    const server = this.host.httpAdapter.getHttpServer() as Server;
    // not awaited, because Nest closes the server at the same time
    void this.auth.close({ timeout: 35 }).then(() => {
      setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
    });
  }

  /** Nest calls this after the server has closed. A refresh outlives its request. */
  onApplicationShutdown(): Promise<void> {
    return this.auth.close(); // the same promise
  }
}
