import "reflect-metadata";
import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  Param,
  ParseIntPipe,
  Post,
  UseGuards,
  UsePipes,
  VersioningType,
  type PipeTransform,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CurrentUser } from "../../examples/nestjs/idp-auth/current-user.decorator.js";
import { IdpAuthModule } from "../../examples/nestjs/idp-auth/idp-auth.module.js";
import { IdpRequiredGuard } from "../../examples/nestjs/idp-auth/idp-required.guard.js";
import type { UserPayload } from "../../src/index.js";
import { rawRequest } from "../../packages/idpauth-conformance/src/adapter/raw-request.js";
import { CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { attacksOn } from "../recipes/hostile.js";

const SECRET = "MEMBERS ONLY";
const ran: string[] = [];

@Injectable()
class Witness implements PipeTransform {
  transform(value: unknown): unknown {
    ran.push("pipe");
    return value;
  }
}

@Controller({ path: "reports", version: "1" })
@UseGuards(IdpRequiredGuard)
@UsePipes(Witness)
class ReportsController {
  @Get(":id")
  one(@Param("id", ParseIntPipe) id: number): string {
    ran.push("handler");
    return `${SECRET} ${String(id)}`;
  }

  @Post()
  add(@Body() body: unknown, @CurrentUser() user: UserPayload | null): object {
    ran.push("handler");
    return { secret: SECRET, isObject: typeof body === "object", email: user?.email };
  }
}

describe("[ATT-7] a NestJS application with the recipe of docs/how-to/nestjs.md", () => {
  let app: NestExpressApplication;
  let provider: TestProvider;
  let port: number;
  beforeAll(async () => {
    provider = await startTestProvider({
      people: [{ email: "ada@example.com" }, { email: "mallory@example.com" }],
    });
    @Module({
      imports: [
        IdpAuthModule.forRoot({
          env: provider.env,
          log: false,
          loginParams: ["login_hint"],
          backchannelLogout: true,
          sessionsPage: true,
        }),
      ],
      controllers: [ReportsController],
    })
    class AppModule {}

    app = await NestFactory.create<NestExpressApplication>(AppModule, {
      logger: false,
      abortOnError: false,
      forceCloseConnections: true,
    });
    app.setGlobalPrefix("api").enableVersioning({ type: VersioningType.URI });
    app.useBodyParser("urlencoded", { extended: true });
    await app.listen(0, "127.0.0.1");
    port = (app.getHttpServer().address() as { port: number }).port;
  });
  afterAll(async () => {
    await app.close();
    await provider.stop();
  });
  beforeEach(() => {
    ran.length = 0;
  });

  const browser = () => new CookieBrowser({ origin: `http://127.0.0.1:${String(port)}` });
  async function signedIn(email: string): Promise<CookieBrowser> {
    const user = browser();
    await user.follow(`/idpauth/login/?login_hint=${email}`);
    return user;
  }

  it("runs no pipe and no handler for a signed-out user, however the request spells the path and the method", async () => {
    for (const { target, method = "GET", headers = {}, body = "" } of attacksOn([
      "/api/v1/reports/7",
      "/api/v1/reports",
    ])) {
      const lines = Object.entries({
        host: "app.example",
        "content-length": "0",
        ...headers,
        connection: "close",
      });
      const { raw } = await rawRequest(
        port,
        `${method} ${target} HTTP/1.1\r\n${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\n${body}`,
      );
      expect(raw, `${method} ${target}`).not.toContain(SECRET);
      expect(ran, `${method} ${target}`).toEqual([]);
    }
    const ada = await signedIn("ada@example.com");
    expect((await ada.get("/api/v1/reports/7")).text).toBe(`${SECRET} 7`);
  });

  it("responds to a stranger's malformed, huge and nested bodies with 4xx, at guarded routes and at the endpoints, and runs nothing", async () => {
    const json = "application/json";
    const form = "application/x-www-form-urlencoded";
    const bodies: readonly (readonly [type: string, body: string])[] = [
      [json, "{"],
      [
        json,
        '{"__proto__":{"user":{"email":"root"}},"constructor":{"prototype":{"isAdmin":true}}}',
      ],
      [json, `"${"x".repeat(200_000)}"`],
      [json, `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
      [json, '{"logout_token":{"toString":"x"},"end":["all",{"a":1}]}'],
      [form, "logout_token[toString]=x&logout_token[]=y&end[]=all&end[x]=others"],
      [
        form,
        "__proto__[isAdmin]=1&constructor[prototype][isAdmin]=1&logout_token=a&logout_token=b",
      ],
      [form, "%".repeat(5_000)],
      ["multipart/form-data; boundary=x", "--x\r\n\r\n--x--"],
      ["text/plain", "logout_token=x"],
      ["", "end=all"],
    ];
    const stranger = browser();
    for (const [type, body] of bodies) {
      for (const path of [
        "/api/v1/reports",
        "/api/v1/reports/not-a-number",
        "/idpauth/backchannel-logout",
        "/idpauth/sessions",
        "/idpauth/session",
      ]) {
        const response = await stranger.get(path, {
          method: "POST",
          body,
          headers: { "content-type": type },
        });
        expect(
          [response.status >= 400 && response.status < 500, response.setCookies],
          `${path}: ${type} ${body.slice(0, 40)}`,
        ).toEqual([true, []]);
      }
    }
    expect(ran).toEqual([]);
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect((await stranger.get("/idpauth/session")).status).toBe(200);
  });

  it("shows a user who claims to be another one, in body, query and headers, among that user's own requests, only as the one who signed in", async () => {
    const [ada, mallory] = [
      await signedIn("ada@example.com"),
      await signedIn("mallory@example.com"),
    ];
    const post = {
      method: "POST",
      body: JSON.stringify({ user: { email: "ada@example.com" }, email: "ada@example.com" }),
      headers: {
        "content-type": "application/json",
        "x-forwarded-user": "ada@example.com",
        "x-user": "ada",
        authorization: "Bearer ada",
      },
    };
    const path = "/api/v1/reports?user[email]=ada@example.com&email=ada@example.com";
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, number) =>
        (number % 2 === 0 ? ada : mallory).get(path, post).then((response) => response.json()),
      ),
    );
    for (const [number, response] of responses.entries()) {
      expect(response).toMatchObject({
        secret: SECRET,
        email: number % 2 === 0 ? "ada@example.com" : "mallory@example.com",
      });
    }
  });
});
