import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import express from "express";
import * as jose from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import {
  browser,
  startTestProvider,
  TestClock,
  type TestProvider,
} from "../../src/testing/index.js";
import { runSample } from "./run-sample.js";

const ROOT = path.resolve(import.meta.dirname, "../..");

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

describe("docs/about/other-callers.md", () => {
  const page = readFileSync(path.join(ROOT, "docs/about/other-callers.md"), "utf8");
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
    const auth = idpAuth({ env: provider.env, clock, log: false });
    auth.mount(app);
    await runSample(code.replace("https://login.example.com", issuer), { app, auth }, { jose });
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
