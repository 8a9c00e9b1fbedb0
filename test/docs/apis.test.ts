import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import Router from "@koa/router";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import * as jose from "jose";
import Koa from "koa";
import ts from "typescript";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as expressEntry from "../../src/adapters/express/express.js";
import * as fastifyEntry from "../../src/adapters/fastify/fastify.js";
import * as honoEntry from "../../src/adapters/hono/hono.js";
import * as koaEntry from "../../src/adapters/koa/koa.js";
import * as main from "../../src/index.js";
import {
  browser,
  startTestProvider,
  TestClock,
  type TestedApplication,
  type TestProvider,
} from "../../src/testing/index.js";

// Samples that need a second server or provider, each run as it stands in its page: those about
// APIs, and about two accounts of a user.

const DOCS = path.resolve(import.meta.dirname, "../../docs");

let provider: TestProvider;
const clock = new TestClock();
const servers: Server[] = [];

beforeEach(async () => {
  provider = await startTestProvider({ clock, accessTokenSeconds: 600 });
});

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await provider.stop();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const create =
  <Auth>(idpAuth: (options: main.IdpAuthOptions) => Auth) =>
  (options: main.IdpAuthOptions = {}) =>
    idpAuth({ env: provider.env, clock, log: false, ...options });

/** Runs a sample, and returns its `app`. */
async function run(
  code: string,
  given: Readonly<Record<string, unknown>>,
): Promise<TestedApplication> {
  const modules: Readonly<Record<string, object>> = {
    "@koa/router": { default: Router },
    express: { default: express },
    fastify: { default: fastify },
    hono: { Hono },
    jose,
    koa: { default: Koa },
    idpauth: main,
    "idpauth/express": { idpAuth: create(expressEntry.idpAuth) },
    "idpauth/fastify": { idpAuth: create(fastifyEntry.idpAuth) },
    "idpauth/hono": { idpAuth: create(honoEntry.idpAuth) },
    "idpauth/koa": { idpAuth: create(koaEntry.idpAuth) },
  };
  const body = ts
    .transpile(code, { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 })
    .replace(/^import (\w+) from "(.+)";.*$/gm, 'const { default: $1 } = modules["$2"];')
    .replace(/^import (\{.+\}) from "(.+)";.*$/gm, 'const $1 = modules["$2"];');
  const names = { ...given, modules };

  const start = new Function(
    ...Object.keys(names),
    `return (async () => { ${body}; return app; })();`,
  ) as (...values: readonly unknown[]) => Promise<TestedApplication>;
  return start(...Object.values(names));
}

describe("docs/about/other-callers.md", () => {
  const page = readFileSync(path.join(DOCS, "about/other-callers.md"), "utf8");
  const [, code = ""] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
  const AUDIENCE = "https://api.example.com";

  async function setUp() {
    const { privateKey, publicKey } = await jose.generateKeyPair("ES256");
    let isDown = false;
    const keys = { keys: [{ ...(await jose.exportJWK(publicKey)), alg: "ES256" }] };
    const issuer = await serve((_request, response) =>
      response.writeHead(isDown ? 500 : 200).end(JSON.stringify(keys)),
    );
    const app = express();
    const auth = expressEntry.idpAuth({ env: provider.env, clock, log: false });
    auth.mount(app);
    await run(code.replace("https://login.example.com", issuer), { app, auth });
    const user = await browser(app);
    const sign = (audience: string, from = issuer, expires: number | string = "5m") =>
      new jose.SignJWT({ sub: "nightly-report" })
        .setProtectedHeader({ alg: "ES256" })
        .setIssuer(from)
        .setAudience(audience)
        .setExpirationTime(expires)
        .sign(privateKey);
    const get = async (token: string) =>
      user.get("/api/orders", { headers: { Authorization: `Bearer ${token}` } });
    return { user, sign, get, issuer, fail: () => (isDown = true) };
  }

  it("lets a program with a token for the API pass, and signed-in users", async () => {
    const { user, sign, get } = await setUp();
    expect((await get(await sign(AUDIENCE))).json()).toEqual({ caller: "nightly-report" });
    expect((await user.get("/api/orders")).status).toBe(401);
    await user.follow("/idpauth/login/");
    expect((await user.get("/api/orders")).json()).toEqual({ caller: "ada-1815" });
    await user.close();
  });

  it("refuses a token for another audience, from another issuer, expired or forged, even with a session", async () => {
    const { user, sign, get, issuer } = await setUp();
    await user.follow("/idpauth/login/");
    const valid = await sign(AUDIENCE);
    const tokens = [
      await sign(provider.clientId),
      await sign(AUDIENCE, "https://evil.example"),
      await sign(AUDIENCE, issuer, 1),
      `${valid}x`,
      "x",
    ];
    for (const token of tokens) expect((await get(token)).status).toBe(401);
    await user.close();
  });

  it("doesn't treat a token as invalid while the keys aren't available", async () => {
    const { user, sign, get, fail } = await setUp();
    fail();
    expect((await get(await sign(AUDIENCE))).status).toBe(500);
    await user.close();
  });
});

describe("docs/how-to/user-table.md", () => {
  const page = readFileSync(path.join(DOCS, "how-to/user-table.md"), "utf8");
  const sample = (title: string) => {
    const section = page.split(/^## /m).find((each) => each.startsWith(`${title}\n`)) ?? "";
    return /^```js\n(.*?)^```$/ms.exec(section)?.[1] ?? "";
  };
  const post = { method: "POST", headers: { "X-Idpauth": "1" } };

  it("ends a deleted user's sessions, and refuses the next sign-in", async () => {
    let deleted: string | null = null;
    const pool = {
      query(text: string) {
        if (text.startsWith("update")) deleted = "2026-11-23";
        return Promise.resolve({ rows: [{ deleted_at: deleted }] });
      },
    };
    const user = await browser(await run(sample("Delete a user"), { app: express(), pool }));
    await user.follow("/idpauth/login/?max_age=300");
    expect((await user.get("/account/delete", post)).json()).toEqual({ ended: 1 });
    expect((await user.get("/idpauth/session")).json()).toMatchObject({ authenticated: false });
    expect((await user.follow("/idpauth/login/")).status).toBe(403);
    await user.close();
  });
});
