// Which entry of a list in X-Forwarded-Proto and X-Forwarded-Host counts, with each framework as it
// is. docs/deploy/proxies.md says the same.
import { once } from "node:events";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import type { IdpAuthOptions, LogEntry } from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/index.js";

const express4 = createRequire(import.meta.url)("express4") as typeof express;

type Start = (options: IdpAuthOptions, trusts: boolean) => Promise<Server>;

const onExpress =
  (library: typeof express): Start =>
  async (options, trusts) => {
    const app = library();
    if (trusts) app.set("trust proxy", true);
    expressAuth(options).mount(app);
    return createServer(app);
  };

const FRAMEWORKS: Readonly<Record<string, { readonly start: Start; readonly own?: string }>> = {
  "Express 5": { start: onExpress(express), own: "first" },
  "Express 4": { start: onExpress(express4), own: "first" },
  Fastify: {
    async start(options, trustProxy) {
      const app = fastify({ trustProxy });
      await app.register(fastifyAuth(options).plugin);
      await app.ready();
      return app.server;
    },
    own: "last",
  },
  Koa: {
    async start(options, proxy) {
      const app = new Koa({ proxy });
      koaAuth(options).mount(app);
      return createServer(app.callback() as RequestListener);
    },
    own: "first",
  },
  Hono: {
    async start(options) {
      const app = new Hono();
      honoAuth(options).mount(app);
      return createAdaptorServer({ fetch: app.fetch }) as Server;
    },
  },
  "node:http": {
    start: async (options) =>
      createServer(nodeAuth(options).listener((_request, response) => void response.end())),
  },
};

let provider: TestProvider;
const servers: Server[] = [];
beforeAll(async () => (provider = await startTestProvider()));
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
afterAll(() => provider.stop());

async function start(starter: Start, trusts: boolean, options: IdpAuthOptions = {}) {
  const { BASE_URL: _unset, ...env } = provider.env as Record<string, string>;
  const lines: LogEntry[] = [];
  const server = await starter({ env, log: (line) => lines.push(line), ...options }, trusts);
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  /** The callback's address in a login, without its path. */
  const login = async (proto: string, host = "first.example, last.example") => {
    const response = await fetch(`http://127.0.0.1:${String(port)}/idpauth/login/?response=json`, {
      headers: { "x-forwarded-proto": proto, "x-forwarded-host": host },
    });
    const { redirect_to: url } = (await response.json()) as { redirect_to: string };
    return new URL(new URL(url).searchParams.get("redirect_uri") ?? "").origin;
  };
  const findings = () => lines.filter(({ code }) => code === "forwarded_list");
  return { login, findings, origin: `http://127.0.0.1:${String(port)}` };
}

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  first: ["https://first.example", "http://first.example"],
  last: ["http://last.example", "https://last.example"],
};

describe.each(Object.entries(FRAMEWORKS))("%s", (_name, { start: starter, own }) => {
  if (own !== undefined)
    it(`uses the ${own} entry of a list with its own setting, and idpauth logs this once`, async () => {
      const { login, findings } = await start(starter, true);
      await login("https", "app.example");
      expect(findings()).toEqual([]);
      expect([await login("https, http"), await login("http, https")]).toEqual(EXPECTED[own]);
      expect(findings()).toHaveLength(1);
      expect(JSON.stringify(findings())).not.toMatch(/https, http|example/);
    });

  it("uses the last entry of a list with `trustProxy`, and idpauth logs this once", async () => {
    const { login, findings } = await start(starter, false, { trustProxy: true });
    expect([await login("https, http"), await login("http, https")]).toEqual(EXPECTED["last"]);
    expect(findings()).toHaveLength(1);
  });

  it.each([
    ["X-Forwarded-Proto", "https, http", "app.example"],
    ["X-Forwarded-Host", "https", "first.example, last.example"],
  ])("logs a list in %s alone", async (_header, proto, host) => {
    const isOwn = own !== undefined;
    const { login, findings } = await start(starter, isOwn, { trustProxy: !isOwn });
    await login("https", "app.example");
    expect(findings()).toEqual([]);
    await login(proto, host);
    expect(findings()).toHaveLength(1);
  });

  it("uses none without trust, and logs nothing", async () => {
    const { login, findings, origin } = await start(starter, false);
    expect([await login("https, http"), findings()]).toEqual([origin, []]);
  });

  it("uses none with BASE_URL, and logs nothing", async () => {
    const baseUrl = "https://app.example";
    const { login, findings } = await start(starter, true, { baseUrl, trustProxy: true });
    expect([await login("https, http"), findings()]).toEqual([baseUrl, []]);
  });
});

it("the page about proxies says the same of each framework", () => {
  const page = readFileSync(
    path.resolve(import.meta.dirname, "../../docs/deploy/proxies.md"),
    "utf8",
  );
  for (const [name, { own }] of Object.entries(FRAMEWORKS)) {
    const word = name.split(" ")[0] ?? "";
    const row = page
      .split("\n")
      .find(
        (line) => line.startsWith("| ") && line.includes(word) && line.includes("IDP_TRUST_PROXY"),
      );
    expect(row, name).toContain(own === undefined ? "| none | |" : `| the ${own} entry |`);
  }
});
