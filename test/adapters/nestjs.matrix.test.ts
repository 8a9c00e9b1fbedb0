import "reflect-metadata";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import {
  Body,
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Post,
  Req,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from "@nestjs/common";
import { APP_GUARD, NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { Request, RequestHandler } from "express";
import session from "express-session";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { CurrentUser } from "../../examples/nestjs/idp-auth/current-user.decorator.js";
import { IDP_AUTH, IdpAuthModule } from "../../examples/nestjs/idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "../../examples/nestjs/idp-auth/idp-required.guard.js";
import type { ExpressIdpAuth } from "../../src/adapters/express/express.js";
import {
  ConfigurationError,
  type Credentials,
  type IdpAuthOptions,
  type LogEntry,
  type SessionUser,
} from "../../src/index.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { optionsFor } from "../support/options-for.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const RECIPE = path.join(ROOT, "examples/nestjs/idp-auth");
const HOUR = 3_600_000;

const running: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

interface Application {
  readonly app: NestExpressApplication;
  readonly provider: TestProvider;
  readonly clock: TestClock;
  browser(): CookieBrowser;
  signedIn(): Promise<CookieBrowser>;
}

interface Parts {
  readonly controllers?: Type[];
  readonly imports?: Type[];
  readonly guard?: Type<IdpRequiredGuard>;
  readonly options?: IdpAuthOptions;
  readonly prepare?: (app: NestExpressApplication) => void;
}

/** Nest as it comes: its body parsers, its own answers to errors. */
async function start({
  controllers = [],
  imports = [],
  guard,
  options,
  prepare,
}: Parts): Promise<Application> {
  const clock = new TestClock();
  const provider = await startTestProvider({ clock });
  running.push(provider);
  const app = await create(
    { ...optionsFor(provider), clock, log: false, ...options },
    controllers,
    imports,
    guard,
  );
  prepare?.(app);
  await app.listen(0, "127.0.0.1");
  running.push({ stop: () => app.close() });
  const browser = () =>
    new CookieBrowser({
      origin: `http://127.0.0.1:${new URL(url(app)).port}`,
      now: () => clock.now(),
    });
  return {
    app,
    provider,
    clock,
    browser,
    async signedIn() {
      const user = browser();
      expect((await user.follow("/idpauth/login/")).status).toBe(200);
      return user;
    },
  };
}

function url(app: NestExpressApplication): string {
  const { port } = app.getHttpServer().address() as { port: number };
  return `http://127.0.0.1:${port}`;
}

function create(
  options: IdpAuthOptions,
  controllers: Type[] = [],
  imports: Type[] = [],
  guard?: Type<IdpRequiredGuard>,
): Promise<NestExpressApplication> {
  @Module({
    imports: [IdpAuthModule.forRoot(options), ...imports],
    controllers,
    providers: guard ? [{ provide: APP_GUARD, useClass: guard }] : [],
  })
  class AppModule {}

  return NestFactory.create<NestExpressApplication>(AppModule, {
    logger: false,
    abortOnError: false,
    forceCloseConnections: true,
  });
}

@Controller()
class ReportsController {
  @Inject(IDP_AUTH) private readonly auth!: ExpressIdpAuth;

  @Get("who")
  who(@CurrentUser() user: SessionUser | null): { user: SessionUser | null } {
    return { user };
  }

  @Get("reports")
  @UseGuards(IdpRequiredGuard)
  async reports(@Req() request: Request, @CurrentUser() user: SessionUser | null): Promise<object> {
    const credentials = await this.auth.getCredentials(request);
    expectTypeOf(credentials).toEqualTypeOf<Credentials | null>();
    return { email: user?.email, token: credentials?.token };
  }

  @Post("reports")
  @UseGuards(IdpRequiredGuard)
  add(@Body() body: { title: string }): { title: string } {
    return { title: body.title };
  }
}

const ADA = {
  id: "ada-1815",
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  picture: "https://pictures.example.com/ada.png",
};

describe("docs/how-to/nestjs.md", () => {
  const page = readFileSync(path.join(ROOT, "docs/how-to/nestjs.md"), "utf8");
  const blocks = [
    ...page.matchAll(/(?:^`([^`\n]+)`:\n\n)?(?:^<!-- snippet: [^\n]+\n\n)?^```ts\n(.*?)^```$/gms),
  ].map(([, file, text = ""]) => ({ file, text }));

  it("has the recipe as the example runs it, all of it", () => {
    const named = blocks.filter(({ file }) => file !== undefined);
    const recipe = named.filter(({ file }) => file?.startsWith("idp-auth/"));
    expect(recipe.map(({ file }) => path.basename(file!)).sort()).toEqual(
      readdirSync(RECIPE).sort(),
    );
    for (const { file, text } of named)
      expect(text).toBe(readFileSync(path.join(ROOT, "examples/nestjs", file!), "utf8"));
  });

  it("has no other code than what the example or this test runs", () => {
    const sources = [path.join(RECIPE, "../main.ts"), import.meta.filename].map((file) =>
      readFileSync(file, "utf8"),
    );
    const others = blocks.filter(({ file }) => file === undefined);
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter(({ text }) => !sources.some((source) => source.includes(text)))).toEqual(
      [],
    );
  });
});

describe("the module", () => {
  it("serves the endpoints before any controller, also one that takes every path", async () => {
    @Controller()
    class Greedy {
      @Get("{*rest}")
      all(): string {
        return "greedy";
      }
    }
    const { browser } = await start({ controllers: [Greedy] });
    expect((await browser().get("/idpauth/session")).json()).toEqual({
      authenticated: false,
      user: null,
    });
    expect((await browser().get("/anything")).text).toBe("greedy");
  });

  it("stays at its path under a global prefix, which is for controllers", async () => {
    const { signedIn } = await start({
      controllers: [ReportsController],
      prepare: (app) => app.setGlobalPrefix("api"),
    });
    const user = await signedIn();
    expect((await user.get("/api/who")).json()).toEqual({ user: ADA });
  });

  it.each(["init", "listen"] as const)(
    "a configuration error rejects app.%s(), with every finding",
    async (method) => {
      const app = await create({ env: {}, log: false });
      const starting = method === "init" ? app.init() : app.listen(0);
      await expect(starting).rejects.toThrow(ConfigurationError);
      await expect(starting).rejects.toThrow(/E001[^]*E003/);
      expect(app.getHttpServer().listening).toBe(false);
    },
  );

  it('session: "host" takes the sessions that main.ts gives to app.use()', async () => {
    const { signedIn } = await start({
      controllers: [ReportsController],
      options: { session: "host" },
      prepare: (app) =>
        app.use(session({ secret: "the host's secret", resave: false, saveUninitialized: false })),
    });
    const user = await signedIn();
    expect(user.cookies.value("connect.sid")).toBeDefined();
    expect((await user.get("/reports")).status).toBe(200);
  });

  it('session: "host" without a session middleware is a warning, since Nest has middleware of its own, and then 503', async () => {
    const codes: string[] = [];
    const log = ({ code }: LogEntry) => void codes.push(code);
    const { browser } = await start({
      controllers: [ReportsController],
      options: { session: "host", log },
    });
    expect(codes).toContain("W008");
    const answer = await browser().get("/reports");
    expect([answer.status, answer.json().code]).toEqual([503, "session_missing"]);
  });

  it("a closing application waits for a refresh whose user has left", async () => {
    const { app, provider, clock, signedIn } = await start({ controllers: [ReportsController] });
    const user = await signedIn();
    clock.advance(HOUR);
    const answer = provider.hold("token");
    const leaving = new AbortController();
    const left = user.get("/reports", { signal: leaving.signal }).catch(() => "left");
    await answer.arrived;
    leaving.abort();
    expect(await left).toBe("left");
    let hasClosed = false;
    const closed = app.close().then(() => (hasClosed = true));
    await expect.poll(() => app.getHttpServer().listening).toBe(false);
    // As many turns of the event loop as an application that waits for nobody does not need to
    // close.
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(hasClosed).toBe(false);
    answer.release();
    expect(await closed).toBe(true);
  });

  it("a feature module that imports its own has its own users", async () => {
    const clock = new TestClock();
    const second = await startTestProvider({
      clock,
      person: { sub: "grace", email: "grace@example.com" },
    });
    running.push(second);

    @Controller("second")
    class SecondController {
      @Get("who")
      @UseGuards(IdpRequiredGuard)
      who(@CurrentUser() user: SessionUser | null): object {
        return { email: user?.email };
      }
    }
    @Module({
      imports: [
        IdpAuthModule.forRoot({
          ...optionsFor(second),
          clock,
          log: false,
          mountPath: "/second/idpauth/",
        }),
      ],
      controllers: [SecondController],
    })
    class SecondModule {}

    const { signedIn } = await start({ controllers: [ReportsController], imports: [SecondModule] });
    const user = await signedIn();
    expect((await user.get("/reports")).json()).toMatchObject({ email: "ada@example.com" });
    expect((await user.get("/second/who")).status).toBe(401);
    expect((await user.follow("/second/who")).json()).toEqual({ email: "grace@example.com" });
    expect((await user.get("/reports")).json()).toMatchObject({ email: "ada@example.com" });
  });
});

describe("the guard", () => {
  it("runs neither interceptor nor handler for a request that is refused, and responds as everywhere", async () => {
    const ran: string[] = [];
    class Watching implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler) {
        ran.push("interceptor");
        return next.handle();
      }
    }
    @Controller()
    @UseInterceptors(Watching)
    class Watched {
      @Get("watched")
      @UseGuards(IdpRequiredGuard)
      watched(): string {
        ran.push("handler");
        return "seen";
      }
    }
    const { browser, signedIn } = await start({ controllers: [Watched] });
    expect((await browser().get("/watched")).json()).toMatchObject({
      error: "login_required",
      login_url: "/idpauth/login/",
    });
    expect((await browser().navigate("/watched")).status).toBe(302);
    expect(ran).toEqual([]);
    expect((await (await signedIn()).get("/watched")).text).toBe("seen");
    expect(ran).toEqual(["interceptor", "handler"]);
  });

  it("lets Nest parse the body of a request that passes", async () => {
    const { browser, signedIn } = await start({ controllers: [ReportsController] });
    const post = {
      method: "POST",
      body: '{"title":"Users"}',
      headers: { "content-type": "application/json" },
    };
    expect((await browser().get("/reports", post)).status).toBe(401);
    const answer = await (await signedIn()).get("/reports", post);
    expect([answer.status, answer.json()]).toEqual([201, { title: "Users" }]);
  });

  it("guards all of an application as APP_GUARD, but not the endpoints", async () => {
    const { browser } = await start({ controllers: [ReportsController], guard: IdpRequiredGuard });
    const user = browser();
    expect((await user.get("/who")).status).toBe(401);
    expect((await user.get("/idpauth/session")).status).toBe(200);
    expect((await user.follow("/who")).json()).toEqual({ user: ADA });
  });

  it("responds with 503 by itself in an outage, or lets the exception filters do it", async () => {
    @Controller()
    @UseGuards(FilteredGuard)
    class Filtered {
      @Get("filtered")
      filtered(): string {
        return "seen";
      }
    }
    const { provider, clock, signedIn } = await start({
      controllers: [ReportsController, Filtered],
    });
    const user = await signedIn();
    expect((await user.get("/filtered")).text).toBe("seen");
    clock.advance(HOUR);
    provider.fault("token", { kind: "status", status: 500 });
    const own = await user.get("/reports");
    expect([own.status, own.headers["content-type"]]).toEqual([
      503,
      expect.stringContaining("application/problem+json"),
    ]);
    const filtered = await user.get("/filtered");
    expect([filtered.status, filtered.json()]).toMatchObject([
      503,
      { code: "provider_unavailable" },
    ]);
    expect(filtered.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  });
});

describe("@CurrentUser()", () => {
  it("gives the user, or null, and in an outage neither: 503 with Retry-After", async () => {
    const { browser, provider, clock, signedIn } = await start({
      controllers: [ReportsController],
    });
    expect((await browser().get("/who")).json()).toEqual({ user: null });
    const user = await signedIn();
    expect((await user.get("/who")).json()).toEqual({ user: ADA });
    clock.advance(HOUR);
    provider.fault("token", { kind: "reset" });
    const answer = await user.get("/who");
    expect([answer.status, answer.json(), answer.setCookies]).toMatchObject([
      503,
      { code: "provider_unavailable" },
      [],
    ]);
    expect(answer.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  });
});

@Injectable()
export class FilteredGuard extends IdpRequiredGuard {
  private own?: RequestHandler;

  protected override get guard(): RequestHandler {
    return (this.own ??= this.auth.idpRequiredWith({
      unavailable: (_request, _response, { error }, next) => {
        next(error);
      },
    }));
  }
}
