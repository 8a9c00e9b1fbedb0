import "reflect-metadata";
import { ApolloDriver, type ApolloDriverConfig } from "@nestjs/apollo";
import { Module, type DynamicModule, type Type } from "@nestjs/common";
import { APP_GUARD, NestFactory } from "@nestjs/core";
import { ExecutionContextHost } from "@nestjs/core/helpers/execution-context-host.js";
import { GraphQLModule } from "@nestjs/graphql";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { io, type Socket } from "socket.io-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { IdpAuthModule } from "../../examples/nestjs/idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "../../examples/nestjs/idp-auth/idp-required.guard.js";
import { ReportsResolver } from "../../examples/nestjs/reports/reports.resolver.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { openTcp, openWebSocket, sendHostile } from "../samples/hostile-client.js";
import { hostileFrames } from "../samples/hostile-frames.js";
import { hostileRequests } from "../samples/hostile-requests.js";
import { optionsFor } from "../support/options-for.js";

// The resolver and the gateway of docs/how-to/nestjs.md.

const HOUR = 3_600_000;
/** How many hostile frames, and requests. */
const COUNT = 1000;
const SEED = 47;
const ORIGIN = "https://app.example";
const running: (() => Promise<unknown>)[] = [];
let clock: TestClock;
let provider: TestProvider;

beforeEach(async () => {
  vi.stubEnv("BASE_URL", ORIGIN);
  clock = new TestClock();
  provider = await startTestProvider({ clock });
  running.push(() => provider.stop());
});
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
  vi.unstubAllEnvs();
});

async function start(parts: {
  imports?: DynamicModule[];
  providers: Type[];
  guard?: Type<IdpRequiredGuard>;
}): Promise<{ browser: CookieBrowser; origin: string }> {
  const idpAuth = IdpAuthModule.forRoot({
    ...optionsFor(provider),
    clock,
    log: false,
  });

  @Module({
    imports: [idpAuth, ...(parts.imports ?? [])],
    providers: [
      ...parts.providers,
      ...(parts.guard ? [{ provide: APP_GUARD, useClass: parts.guard }] : []),
    ],
  })
  class AppModule {}

  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger: false,
    abortOnError: false,
    forceCloseConnections: true,
  });
  await app.listen(0, "127.0.0.1");
  running.push(() => app.close());
  const { port } = app.getHttpServer().address() as { port: number };
  const origin = `http://127.0.0.1:${port}`;
  return { origin, browser: new CookieBrowser({ origin, now: () => clock.now() }) };
}

describe("GraphQL", () => {
  const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    includeStacktraceInErrorResponses: false,
  });
  const parts = { imports: [graphql], providers: [ReportsResolver] };
  const ask = async (browser: CookieBrowser, query: string) => {
    const response = await browser.get("/graphql", {
      method: "POST",
      body: JSON.stringify({ query }),
      headers: { "content-type": "application/json" },
    });
    return [response.status, response.json()] as [number, Record<string, unknown>];
  };
  const LOGIN = { error: "login_required", login_url: "/idpauth/login/" };
  const REPORTS = [{ title: "Report for Ada Lovelace" }];

  it("a guarded resolver is for signed-in users, and an unguarded one gets the user or null", async () => {
    const { browser } = await start(parts);
    expect(await ask(browser, "{ viewer }")).toEqual([200, { data: { viewer: null } }]);
    expect(await ask(browser, "{ viewer reports { title } }")).toMatchObject([401, LOGIN]);
    await browser.follow("/idpauth/login/");
    expect(await ask(browser, "{ viewer reports { title } }")).toEqual([
      200,
      { data: { viewer: "ada@example.com", reports: REPORTS } },
    ]);
  });

  it("as APP_GUARD, it guards every resolver, and several of one operation give one response", async () => {
    const { browser } = await start({ ...parts, guard: IdpRequiredGuard });
    const query = "{ viewer other: viewer reports { title } more: reports { title } }";
    expect(await ask(browser, query)).toMatchObject([401, LOGIN]);
    expect(await ask(browser, "{ viewer }")).toMatchObject([401, LOGIN]);
    await browser.follow("/idpauth/login/");
    expect(await ask(browser, query)).toEqual([
      200,
      {
        data: {
          viewer: "ada@example.com",
          other: "ada@example.com",
          reports: REPORTS,
          more: REPORTS,
        },
      },
    ]);
  });

  it("in an outage, the guard responds with 503, and an accessor's error is in the response's errors", async () => {
    const { browser } = await start(parts);
    await browser.follow("/idpauth/login/");
    clock.advance(HOUR);
    provider.fault("token", { kind: "status", status: 500 });
    expect((await ask(browser, "{ reports { title } }"))[0]).toBe(503);
    expect(await ask(browser, "{ viewer }")).toMatchObject([
      200,
      { data: { viewer: null }, errors: [{ path: ["viewer"] }] },
    ]);
  });

  it.each([
    ["graphql", [undefined, {}, { req: { extra: {} } }, {}]],
    ["graphql", [undefined, {}, undefined, {}]],
    ["ws", [{ request: {} }, "hello"]],
    ["rpc", ["hello", {}]],
  ])("refuses a context of type %s without an HTTP response", (type, parameters) => {
    const context = new ExecutionContextHost(parameters);
    context.setType(type);
    expect(() => new IdpRequiredGuard().canActivate(context)).toThrow(
      "There is no HTTP response here. Guard the connection instead.",
    );
  });
});

describe("a gateway", () => {
  async function open() {
    const { NoticesGateway } = await import("../../examples/nestjs/notices/notices.gateway.js");
    const { browser, origin: address } = await start({
      providers: [NoticesGateway],
      // Nest applies it to no gateway.
      guard: IdpRequiredGuard,
    });
    const connect = (origin: string): Socket => {
      const cookie = browser.cookies.header(new URL(address)) ?? "";
      const socket = io(address, {
        transports: ["websocket"],
        reconnection: false,
        forceNew: true,
        extraHeaders: { cookie, origin },
      });
      running.push(() => Promise.resolve(socket.close()));
      return socket;
    };
    const headers = () => ({
      cookie: browser.cookies.header(new URL(address)) ?? "",
      origin: ORIGIN,
    });
    return { browser, connect, port: Number(new URL(address).port), headers };
  }
  const heard = (socket: Socket, event: string): Promise<unknown> =>
    new Promise((resolve) => socket.once(event, resolve));

  it("connects signed-in users from the application's own origin, and disconnects them when the session ends", async () => {
    const { browser, connect } = await open();
    expect(await heard(connect(ORIGIN), "connect_error")).toBeInstanceOf(Error);
    await browser.follow("/idpauth/login/");
    expect(await heard(connect("https://evil.app.example"), "connect_error")).toBeInstanceOf(Error);
    const socket = connect(ORIGIN);
    await heard(socket, "connect");
    expect(await socket.emitWithAck("hello")).toBe("Hello, Ada Lovelace.");
    const disconnected = heard(socket, "disconnect");
    await browser.get("/idpauth/logout/?response=json");
    expect(await disconnected).toBe("io server disconnect");
  });

  it("lives on after 1,000 hostile frames and requests, and still connects users", async () => {
    const path = "/socket.io/?EIO=4&transport=websocket";
    const { browser, connect, port, headers } = await open();
    await browser.follow("/idpauth/login/");
    const frames = hostileFrames(COUNT, SEED);
    expect(await sendHostile(frames, () => openWebSocket(port, path, headers()))).toBe(COUNT);
    await sendHostile(hostileRequests(path, COUNT, SEED), () => openTcp(port));
    const socket = connect(ORIGIN);
    await heard(socket, "connect");
    expect(await socket.emitWithAck("hello")).toBe("Hello, Ada Lovelace.");
  });
});
