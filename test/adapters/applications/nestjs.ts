import type { RequestListener } from "node:http";
import "reflect-metadata";
import {
  Catch,
  Controller,
  Get,
  HttpCode,
  HttpException,
  Inject,
  Module,
  Post,
  Req,
  Res,
  UseGuards,
  type ArgumentsHost,
  type Type,
} from "@nestjs/common";
import { BaseExceptionFilter, NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { Request, RequestHandler, Response } from "express";
import session, { MemoryStore } from "express-session";
import { IDP_AUTH, IdpAuthModule } from "../../../examples/nestjs/idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "../../../examples/nestjs/idp-auth/idp-required.guard.js";
import type { ExpressIdpAuth, GuardResponses } from "../../../src/adapters/express/express.js";
import type { GuardRule, IdpAuthOptions } from "../../../src/index.js";
import type {
  ApplicationRoute,
  AdapterSetup,
  RouteGuard,
  RunningApplication,
} from "../../../packages/idpauth-conformance/src/index.js";
import { OWN_ANSWERS } from "./express.js";
import { FAILING_ANSWERS } from "./failing-responses.js";
import { listen } from "./listen.js";

/** A guard of its own for a route, as a subclass of the recipe's. */
function guardWith(route: GuardResponses & GuardRule): Type<IdpRequiredGuard> {
  class RouteGuard extends IdpRequiredGuard {
    #own: RequestHandler | undefined;

    protected override get guard(): RequestHandler {
      return (this.#own ??= this.auth.idpRequiredWith(route));
    }
  }
  return RouteGuard;
}

/**
 * The suite's application as people write it with NestJS, over the recipe: a module for each mount,
 * with its controllers.
 */
export async function startNest(setup: AdapterSetup): Promise<RunningApplication> {
  const auths: ExpressIdpAuth[] = [];
  const areas = setup.mounts.map((options, mount) => {
    const routes = setup.routes.filter((route) => (route.guard?.mount ?? 0) === mount);
    // Wildcards last.
    const ordered = [
      ...routes.filter(({ path }) => !isWildcard(path)),
      ...routes.filter(({ path }) => isWildcard(path)),
    ];
    return areaOf(
      options,
      ordered.map((route) => controllerOf(route, auths)),
    );
  });

  @Module({ imports: areas })
  class AppModule {}

  @Catch()
  class CaughtFilter extends BaseExceptionFilter {
    override catch(error: Error & { status?: number }, host: ArgumentsHost): void {
      if (error instanceof HttpException) {
        super.catch(error, host);
        return;
      }
      setup.caught(error);
      host
        .switchToHttp()
        .getResponse<Response>()
        .status(error.status ?? 500)
        .json({ caught: error.message });
    }
  }

  // Nest's own parser would read bodies, and refuse malformed ones, before idpauth sees a request.

  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  if (setup.trustsProxy) app.set("trust proxy", true);
  app.use((_request: Request, response: Response, next: () => void) => {
    for (const [name, value] of setup.earlier) response.append(name, value);
    next();
  });
  if (setup.session === "host") {
    app.use(
      session({
        secret: "the host's secret",
        resave: false,
        saveUninitialized: false,
        store: new MemoryStore(),
      }),
    );
  }
  if (setup.basePath !== "") app.setGlobalPrefix(setup.basePath);
  if (setup.handlesErrors) app.useGlobalFilters(new CaughtFilter(app.getHttpAdapter()));
  auths.push(...areas.map((area) => app.get<{ auth: ExpressIdpAuth }>(area).auth));
  if (setup.csrf && auths[0]) app.use(auths[0].csrf);
  for (const { api, rule, isAfterParser } of setup.proxied) {
    if (isAfterParser) app.useBodyParser("json");
    if (auths[0]) app.use(auths[0].proxyApi(api, rule));
  }
  await app.init();
  const listener: RequestListener = app.getHttpAdapter().getInstance();
  return { auths, handle: listener, ...(await listen(listener)) };
}

/** A part of the application with an idpauth of its own. */
function areaOf(options: IdpAuthOptions, controllers: Type[]): Type<{ auth: ExpressIdpAuth }> {
  @Module({ imports: [IdpAuthModule.forRoot(options)], controllers })
  class Area {
    @Inject(IDP_AUTH) readonly auth!: ExpressIdpAuth;
  }
  return Area;
}

/** Nest makes one slash of several; a path with more of them is met by a wildcard only. */
function isWildcard(path: string): boolean {
  return path.includes("//");
}

function controllerOf(route: ApplicationRoute, auths: readonly ExpressIdpAuth[]): Type {
  const path = isWildcard(route.path) ? "{*rest}" : route.path;

  @Controller()
  class RouteController {
    @((route.method === "GET" ? Get : Post)(path))
    @HttpCode(200)
    @UseGuards(...guardsOf(route.guard))
    async handle(@Req() request: Request, @Res() response: Response): Promise<void> {
      if (route.kind === "echo") {
        request.pipe(response);
        return;
      }
      response.set(route.headers ?? {});
      if (route.kind === "stream") {
        route.opened(await auths[route.guard?.mount ?? 0]!.eventStream(request, response));
        return;
      }
      response.json(await route.respond(auths, request));
    }
  }
  return RouteController;
}

function guardsOf(guard: RouteGuard | undefined): Type<IdpRequiredGuard>[] {
  if (guard === undefined) return [];
  const { ownResponses = false, rule } = guard;
  if (ownResponses === false && rule === undefined) return [IdpRequiredGuard];
  return [
    guardWith({
      ...(ownResponses === "failing" ? FAILING_ANSWERS : ownResponses && OWN_ANSWERS),
      ...rule,
    }),
  ];
}
