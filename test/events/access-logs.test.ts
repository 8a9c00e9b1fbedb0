import { readFileSync } from "node:fs";
import path from "node:path";
import express from "express";
import fastify, { type FastifyServerOptions } from "fastify";
import { Hono } from "hono";
import { logger as honoLogger } from "hono/logger";
import morgan from "morgan";
import type { Options as PinoOptions, pinoHttp as PinoHttp } from "pino-http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { idpAuth as expressAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fastifyAuth } from "../../src/adapters/fastify/fastify.js";
import { idpAuth as honoAuth } from "../../src/adapters/hono/hono.js";
import type { IdpAuthOptions } from "../../src/index.js";
import * as kit from "../../src/testing/index.js";

// The samples of docs/how-to/access-logs.md, each run as an application loads it. What it logs goes
// to the test, and the provider and its clock come from it.

const given = vi.hoisted((): { options: IdpAuthOptions; text: string } => ({
  options: {},
  text: "",
}));

const stream = vi.hoisted(() => ({
  write: (text: string) => {
    given.text += text;
  },
}));

const withProvider = vi.hoisted(() => async (original: () => Promise<unknown>) => {
  const entry = (await original()) as { idpAuth(options?: IdpAuthOptions): unknown };
  return {
    ...entry,
    idpAuth: (options: IdpAuthOptions = {}) => entry.idpAuth({ ...given.options, ...options }),
  };
});

vi.mock("../../src/adapters/express/express.js", (original) => withProvider(original));
vi.mock("../../src/adapters/fastify/fastify.js", (original) => withProvider(original));
vi.mock("../../src/adapters/hono/hono.js", (original) => withProvider(original));
vi.mock("../../src/adapters/koa/koa.js", (original) => withProvider(original));

vi.mock("pino-http", async (original) => {
  const { pinoHttp } = await original<{ pinoHttp: typeof PinoHttp }>();
  return { pinoHttp: (options: PinoOptions) => pinoHttp({ ...options, stream }) };
});
vi.mock("morgan", async (original) => {
  const { default: real } = await original<{ default: typeof morgan }>();
  const toTest = (format: string) => real(format, { stream });
  return { default: Object.assign(toTest, { token: real.token.bind(real) }) };
});
vi.mock("fastify", async (original) => {
  const { default: real } = await original<{ default: typeof fastify }>();
  const logging = ({ logger }: FastifyServerOptions) =>
    real({ logger: { ...(logger as object), stream } });
  return { default: logging };
});

const SAMPLES = path.resolve(import.meta.dirname, "../../docs/snippets/access-logs");
const NAMES = ["pino-http", "morgan", "fastify", "koa", "hono"] as const;
const ADA = { sub: "ada-1815", email: "ada@users.example", name: "Ada Lovelace" };
const TOKEN = "bearer-of-a-script";

let provider: kit.TestProvider;
let browser: kit.TestBrowser;
let runs = 0;

beforeEach(async () => {
  provider = await kit.startTestProvider({ person: ADA });
  given.options = { env: provider.env, clock: provider.clock, log: false, sessionIdleTimeout: 600 };
  given.text = "";
  vi.spyOn(console, "log").mockImplementation((text: string) => {
    stream.write(`${text}\n`);
  });
  // Koa writes an error that no middleware catches.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await browser.close();
  await provider.stop();
});

async function open(name: string): Promise<void> {
  const file = `${SAMPLES}/${name}.ts?run=${String((runs += 1))}`;
  const { app } = (await import(file)) as { app: kit.TestedApplication };
  browser = await kit.browser(app);
}

interface Line {
  readonly path: string;
  readonly status: number;
  readonly user: string | null;
}

/** The lines so far of responses, of which each logger has its own form. */
function lines(name: string): Line[] {
  const written = given.text.split("\n").filter((line) => line !== "");
  if (name === "morgan")
    return written.map((line) => {
      const [, target = "", status, user = ""] =
        /^\S+ [A-Z]+ (\S+) (\d+) [\d.]+ ms user=(.*)$/.exec(line) ?? [];
      return { path: target, status: Number(status), user: user === "-" ? null : user };
    });
  const requests = new Map<string, string>();
  return written.flatMap((text) => {
    const line = JSON.parse(text) as Partial<Line> & {
      readonly reqId?: string;
      readonly req?: { readonly path: string };
      readonly res?: { readonly statusCode: number; readonly user?: string | null };
    };
    const { reqId = "", req, res } = line;
    if (req !== undefined) requests.set(reqId, req.path);
    // Hono and Koa.
    if (line.path !== undefined) return [line as Line];
    if (res === undefined || !/"(?:responseTime)":/.test(text)) return [];
    const user = res.user ?? line.user ?? null;
    return [{ path: req?.path ?? requests.get(reqId) ?? "", status: res.statusCode, user }];
  });
}

/** Sends one request. Gives the status and the user of its line. */
async function logged(
  name: string,
  target: string,
  options: kit.BrowserRequestOptions = {},
): Promise<[status: number, user: string | null]> {
  given.text = "";
  const { status } = await browser.get(target, options);
  await vi.waitFor(() => expect(lines(name)).toHaveLength(1));
  const [line] = lines(name);
  expect([line?.path, line?.status]).toEqual([target.split("?")[0], status]);
  return [status, line?.user ?? null];
}

/** What a run has made and that no access log may contain: codes, states, tokens, cookies. */
function secrets(): string[] {
  const cookies = browser.cookies.all().map(({ value }) => value);
  const queries = provider.requests.flatMap(({ query, params }) => [
    ...["state", "nonce", "code_challenge"].map((name) => query.get(name)),
    ...["code", "code_verifier"].map((name) => params.get(name)),
  ]);
  return [...cookies, ...queries, ...provider.issued.map(({ value }) => value), TOKEN].filter(
    (value): value is string => typeof value === "string" && value.length > 5,
  );
}

const found = () => secrets().filter((secret) => given.text.includes(secret));

describe.each(NAMES)("docs/snippets/access-logs/%s.ts", (name) => {
  it("names the user of each request, and no user where none is signed in", async () => {
    await open(name);
    expect(await logged(name, "/reports")).toEqual([401, null]);
    await browser.follow("/idpauth/login/");
    expect(await logged(name, "/reports?token=x")).toEqual([200, ADA.sub]);
    expect(await logged(name, "/broken")).toEqual([500, ADA.sub]);
    expect(await logged(name, "/idpauth/session")).toEqual([200, ADA.sub]);
    expect(await logged(name, "/unread?code=1")).toEqual([404, null]);
    expect(await logged(name, "/idpauth/logout/?response=json")).toEqual([200, ADA.sub]);
    expect(await logged(name, "/reports")).toEqual([401, null]);
  });

  it("contains no code, state, token, cookie or e-mail address of a login", async () => {
    await open(name);
    await browser.follow("/reports", { headers: { authorization: `Bearer ${TOKEN}` } });
    await browser.get("/idpauth/login-callback-mistyped?code=the-code&state=the-state");
    await browser.get("/reports", { headers: { authorization: `Bearer ${TOKEN}` } });
    await browser.navigate("/idpauth/logout/");
    await vi.waitFor(() => expect(given.text).toContain("/idpauth/logout/"));
    expect(given.text).toContain("/idpauth/login-callback");
    expect(secrets().length).toBeGreaterThan(8);
    expect(found()).toEqual([]);
    expect(given.text).not.toMatch(/[?&](?:code|state)=|the-code|the-state|users\.example/);
  });

  it("neither refreshes the tokens of a session nor keeps it alive", async () => {
    await open(name);
    await browser.follow("/idpauth/login/");
    const { length } = provider.requests;
    for (let probe = 0; probe < 2; probe += 1) {
      provider.clock.advance(250_000);
      expect(await logged(name, "/idpauth/session?slide=false")).toEqual([200, ADA.sub]);
    }
    provider.clock.advance(250_000);
    expect(await logged(name, "/idpauth/session?slide=false")).toEqual([200, null]);
    await browser.follow("/idpauth/login/");
    const after = provider.requests.length;
    provider.clock.advance(3_600_000);
    expect(await logged(name, "/unread")).toEqual([404, null]);
    expect(provider.requests).toHaveLength(after);
    expect(after).toBeGreaterThan(length);
  });
});

it("pino-http.ts names the user of a request that a rule denies, and of one that requires a step-up", async () => {
  await open("pino-http");
  await browser.follow("/idpauth/login/");
  expect(await logged("pino-http", "/admin")).toEqual([403, ADA.sub]);
  provider.clock.advance(120_000);
  expect(await logged("pino-http", "/transfer")).toEqual([401, ADA.sub]);
});

describe("docs/snippets/access-logs/request-ids.ts", () => {
  const written = () => given.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>])); // prettier-ignore
  const idOf = (target: string) =>
    written().find(({ req }) => (req as { path?: string } | undefined)?.path === target)?.["req"];

  it("puts the ID of the request into the lines of events and of idpauth's log", async () => {
    vi.mocked(console.error).mockImplementation((text: string) => {
      stream.write(`${text}\n`);
    });
    given.options = { env: provider.env, clock: provider.clock };
    await open("request-ids");
    await browser.follow("/idpauth/login/");
    await vi.waitFor(() => expect(idOf("/idpauth/login-callback")).toBeDefined());
    const { id } = idOf("/idpauth/login-callback") as { id: string };
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(written()).toContainEqual({ event: "login", user: ADA.sub, requestId: id });
    given.text = "";
    provider.clock.advance(3_600_000);
    provider.fault("token", { kind: "status", status: 503 });
    await browser.get("/reports");
    await vi.waitFor(() => expect(idOf("/reports")).toBeDefined());
    expect(written()).toContainEqual(
      expect.objectContaining({
        code: "refresh_failed",
        requestId: (idOf("/reports") as { id: string }).id,
      }),
    );
  });

  it("logs a thrown error as JSON, and not in Express's own form", async () => {
    await open("request-ids");
    expect((await browser.get("/broken")).status).toBe(500);
    await vi.waitFor(() => expect(idOf("/broken")).toBeDefined());
    expect(written()).toContainEqual(
      expect.objectContaining({
        err: expect.objectContaining({ message: "This route is broken." }) as object,
      }),
    );
    expect(console.error).not.toHaveBeenCalled();
  });
});

describe("without the samples, a log contains the code and the state", () => {
  it.each<[string, () => Promise<kit.TestedApplication>]>([
    [
      "of pino-http",
      async () => {
        const { pinoHttp } = await import("pino-http");
        const app = express();
        app.use(pinoHttp());
        expressAuth().mount(app);
        return app;
      },
    ],
    [
      "of morgan",
      async () => {
        const app = express();
        app.use(morgan("combined"));
        expressAuth().mount(app);
        return Promise.resolve(app);
      },
    ],
    [
      "of Fastify",
      async () => {
        const app = fastify({ logger: {} });
        await app.register(fastifyAuth().plugin);
        return app;
      },
    ],
    [
      "of Hono",
      () => {
        const app = new Hono();
        app.use(honoLogger());
        honoAuth().mount(app);
        return Promise.resolve(app);
      },
    ],
  ])("%s", async (_name, application) => {
    browser = await kit.browser(await application());
    await browser.follow("/idpauth/login/");
    expect(given.text).toMatch(
      /login-callback\/?\?[^"]*code=[^"]*&state=|\?[^"]*state=[^"]*&code=/,
    );
    expect(found().length).toBeGreaterThan(1);
  });
});

it("docs/how-to/access-logs.md shows every sample", () => {
  const page = readFileSync(path.resolve(SAMPLES, "../../how-to/access-logs.md"), "utf8");
  for (const name of NAMES)
    expect(page).toContain(`<!-- snippet: docs/snippets/access-logs/${name}.ts#log -->`);
  expect(page).toContain("<!-- snippet: docs/snippets/access-logs/request-ids.ts#ids -->");
});
