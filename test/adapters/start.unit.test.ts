import express from "express";
import { describe, expect, it } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import { idpAuth as koaAuth } from "../../src/adapters/koa/koa.js";
import { idpAuth as nodeAuth } from "../../src/adapters/node/node.js";
import { STARTUP_CHECKS } from "../../src/adapter.js";
import {
  ConfigurationError,
  memoryStore,
  type Finding,
  type IdpAuthOptions,
  type LogEntry,
} from "../../src/index.js";
import { UNREACHED } from "../support/options-for.js";

describe.each([
  ["Express", expressAuth],
  ["Fastify", fastifyAuth],
  ["fetch", fetchAuth],
  ["Hono", honoAuth],
  ["Koa", koaAuth],
  ["node:http", nodeAuth],
])("on %s", (_framework, idpAuth) => {
  it("start() returns the warnings, and a second call logs none of them again", () => {
    const log: LogEntry[] = [];
    const auth = idpAuth({ ...UNREACHED, log: (entry) => log.push(entry) });
    const codes = auth.start().map(({ code }) => code);
    expect(codes).toContain("W001");
    expect(auth.start().map(({ code }) => code)).toEqual(codes);
    expect(log.map(({ code }) => code)).toEqual([...codes, "started"]);
  });

  it("`idpauth check --module` can run the startup checks without starting anything", () => {
    const log: LogEntry[] = [];
    const auth = idpAuth({ ...UNREACHED, log: (entry) => log.push(entry) });
    const { findings } = auth[STARTUP_CHECKS]() as { readonly findings: readonly Finding[] };
    expect(findings.map(({ code }) => code)).toContain("W001");
    expect(log).toEqual([]);
    expect(() => idpAuth({ ...UNREACHED, secretKey: "" })[STARTUP_CHECKS]()).toThrow(
      ConfigurationError,
    );
  });

  it("start() throws every configuration error at once, each time", () => {
    const auth = idpAuth({ ...UNREACHED, secretKey: "", clientId: "", log: false });
    for (let call = 1; call <= 2; call += 1) expect(() => auth.start()).toThrow(/E001[^]*E003/);
  });

  it("reading a property neither throws nor runs the checks, even with a configuration error", () => {
    const log: LogEntry[] = [];
    for (const secretKey of [UNREACHED.secretKey as string, ""]) {
      const auth: object = idpAuth({ ...UNREACHED, secretKey, log: (entry) => log.push(entry) });
      for (const name of Reflect.ownKeys(auth))
        expect(Reflect.get(auth, name), String(name)).toBe(Reflect.get(auth, name));
    }
    expect(log).toEqual([]);
  });
});

describe("the log line of the first start", () => {
  function started(options: IdpAuthOptions): LogEntry[] {
    const log: LogEntry[] = [];
    nodeAuth({ ...UNREACHED, ...options, log: (entry) => log.push(entry) }).start();
    return log.filter(({ code }) => code === "started");
  }

  it("names the provider, the store, the session limits, the path and the debug mode, and no secret", () => {
    const lines = started({
      sessionMaxAge: 3600,
      pathPrefix: "/portal",
      store: memoryStore(),
      fetch,
    });
    expect(lines).toEqual([
      {
        level: "info",
        code: "started",
        message:
          "idpauth has started: providers https://login.example.com; store memory; sessionMaxAge 3600; sessionIdleTimeout none; sessionTtl 1209600; path /portal/idpauth/; debug false.",
        details: {
          providers: "https://login.example.com",
          store: "memory",
          sessionMaxAge: 3600,
          sessionIdleTimeout: "none",
          sessionTtl: 1_209_600,
          path: "/portal/idpauth/",
          debug: false,
        },
      },
    ]);
  });

  it("names each of several providers by its key", () => {
    const one = { clientId: "client", clientSecret: "a client's secret" };
    const providers = {
      staff: { ...one, issuer: "https://staff.example" },
      partners: { ...one, issuer: "https://partners.example" },
    };
    const [line] = started({
      clientId: undefined,
      clientSecret: undefined,
      issuer: undefined,
      providers,
    });
    expect(line?.details?.providers).toBe(
      "staff (https://staff.example), partners (https://partners.example)",
    );
    expect(JSON.stringify(line)).not.toContain("secret");
  });
});

it.each(["Express", "Hono", "Koa", "node:http", "fetch"])(
  "on %s, without start() the first request reports the configuration error",
  async (framework) => {
    const settings = { ...UNREACHED, secretKey: "", log: false as const };
    await expect(firstRequest[framework]?.(settings)).rejects.toBeInstanceOf(ConfigurationError);
  },
);

/**
 * What a hand-mounted application throws at its first request, to a path that is not an endpoint's.
 */
const firstRequest: Record<string, (settings: IdpAuthOptions) => Promise<unknown>> = {
  Express: (settings) =>
    new Promise((_resolve, reject) => {
      const app = express().use(expressAuth(settings).routes);
      const request = Object.assign(Object.create(app.request) as object, {
        method: "GET",
        url: "/",
        headers: {},
      });
      const response = Object.assign(Object.create(app.response) as object, {
        setHeader: () => undefined,
      });
      (
        app as unknown as (
          request: object,
          response: object,
          done: (error: unknown) => void,
        ) => void
      )(request, response, reject);
    }),
  async Hono(settings) {
    const { Hono } = await import("hono");
    const app = new Hono()
      .route("/", honoAuth(settings).routes)
      .onError((error) => Promise.reject(error));
    return app.request("/");
  },
  Koa: async (settings) =>
    koaAuth(settings).routes({ originalUrl: "/" } as never, () => Promise.resolve()),
  "node:http": async (settings) => nodeAuth(settings).handle({ url: "/" } as never, {} as never),
  fetch: async (settings) => fetchAuth(settings).fetch(new Request("http://app.example/")),
};
