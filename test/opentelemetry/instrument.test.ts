// What a real OpenTelemetry SDK exports of an application: spans, metrics and trace headers.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { idpAuth } from "../../src/adapters/express/express.js";
import { idpAuth as fetchAuth } from "../../src/adapters/fetch/fetch.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { instrument, type InstrumentOptions } from "../../src/opentelemetry/instrument.js";
import {
  browser,
  CookieBrowser,
  settled,
  signedInAs,
  signIn,
  startTestApi,
  startTestProvider,
  TestClock,
  type TestApi,
  type TestProvider,
} from "../../src/testing/index.js";
import { optionsFor } from "../support/options-for.js";

const BROWSERS_TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

let spans: InMemorySpanExporter;
let tracerProvider: NodeTracerProvider;
let reader: PeriodicExportingMetricReader;
let exported: InMemoryMetricExporter;
let meterProvider: MeterProvider;
let provider: TestProvider;
let api: TestApi;
let clock: TestClock;
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  spans = new InMemorySpanExporter();
  tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  tracerProvider.register();
  exported = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  reader = new PeriodicExportingMetricReader({ exporter: exported, exportIntervalMillis: 1e9 });
  meterProvider = new MeterProvider({ readers: [reader] });
  clock = new TestClock();
  provider = await startTestProvider({ clock });
  api = await startTestApi(provider);
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await api.stop();
  await provider.stop();
  await tracerProvider.shutdown();
  await meterProvider.shutdown();
  // The files after this one share the process.
  trace.disable();
  context.disable();
  propagation.disable();
});

/** An Express application with an HTTP server span around each request, and a signed-in user. */
async function startApplication({
  auth: more = {},
  ...options
}: InstrumentOptions & { auth?: Partial<IdpAuthOptions> } = {}) {
  const settings = {
    ...optionsFor(provider),
    apis: { orders: { url: api.url, path: "/api/orders/" } },
    log: false,
    clock,
    ...more,
  } satisfies IdpAuthOptions;
  const auth = idpAuth(settings);
  const stop = instrument(auth, { tracerProvider, meterProvider, ...options });
  const app = express();
  app.use((_request, _response, next) => {
    const baggage = propagation.createBaggage({ user: { value: "alice" } });
    context.with(propagation.setBaggage(context.active(), baggage), next);
  });
  app.use((_request, response, next) => {
    tracerProvider.getTracer("http").startActiveSpan("server", (span) => {
      response.once("close", () => {
        span.end();
      });
      next();
    });
  });
  auth.mount(app);
  app.use(auth.proxyApi("orders"));
  app.get("/reports", auth.idpRequired, (_request, response) => {
    response.send("reports");
  });
  app.get("/staff", auth.idpRequiredWith({ allow: () => false }), (_request, response) => {
    response.send("staff");
  });
  const allow = () => {
    throw new Error("alice@example.com");
  };
  app.get("/broken", auth.idpRequiredWith({ allow }), (_request, response) => {
    response.send("broken");
  });
  app.get("/fetched", auth.idpRequired, async (request, response) => {
    const headers = { baggage: "user=alice", traceparent: BROWSERS_TRACE };
    const { status } = await auth.fetchApi(request, "orders", "items", { headers });
    response.sendStatus(status);
  });
  const user = await signIn(app, { sub: "user-1", email: "alice@example.com", name: "Alice" });
  stops.push(async () => {
    await settled(auth);
    await auth.close();
  });
  spans.reset();
  return { auth, app, user, stop, settings };
}

/** Starts a server, which the end of the test stops. @returns its port */
async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The finished spans of a name, in the order of their ends. */
const named = (name: string): ReadableSpan[] =>
  spans.getFinishedSpans().filter((span) => span.name === name);

const one = (name: string): ReadableSpan => {
  const found = named(name);
  expect(found, name).toHaveLength(1);
  return found[0] as ReadableSpan;
};

/** Every point of a metric: its attributes, and its value or its histogram's count. */
async function points(name: string): Promise<[attributes: object, count: number][]> {
  await reader.forceFlush();
  const metric = exported
    .getMetrics()
    .at(-1)
    ?.scopeMetrics.flatMap(({ metrics }) => metrics)
    .find(({ descriptor }) => descriptor.name === name);
  return (metric?.dataPoints ?? []).map(({ attributes, value }) => [
    attributes,
    typeof value === "number" ? value : value.count,
  ]);
}

describe("spans", () => {
  it("of a guarded request: the guard below the server's span, the store below the guard", async () => {
    const { user } = await startApplication();
    expect((await user.get("/reports")).status).toBe(200);
    const [server, guard, get] = [one("server"), one("idpauth.guard"), one("idpauth.store.get")];
    expect(guard.parentSpanContext?.spanId).toBe(server.spanContext().spanId);
    expect(get.parentSpanContext?.spanId).toBe(guard.spanContext().spanId);
    expect(guard).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: { "idpauth.outcome": "passed" },
      status: { code: SpanStatusCode.UNSET },
    });
    expect(get.attributes).toEqual({ "idpauth.store.method": "get" });
  });

  it("of a blocked request name the reason, which is no error", async () => {
    const { app, user } = await startApplication();
    await user.get("/staff");
    await (await browser(app)).get("/reports");
    expect(
      named("idpauth.guard").map(({ attributes, status }) => [attributes, status.code]),
    ).toEqual([
      [{ "idpauth.outcome": "forbidden" }, SpanStatusCode.UNSET],
      [{ "idpauth.outcome": "no_credentials" }, SpanStatusCode.UNSET],
    ]);
  });

  it("of a rule that throws say neither `passed` nor the message", async () => {
    const { user } = await startApplication();
    await user.get("/broken");
    expect(one("idpauth.guard")).toMatchObject({
      attributes: { "error.type": "rejected" },
      status: { code: SpanStatusCode.ERROR },
    });
    expect(one("idpauth.guard").attributes).not.toHaveProperty("idpauth.outcome");
    expect(one("idpauth.guard").events).toEqual([]);
  });

  it("of a request that one of several rules of an API blocks name the reason", async () => {
    const { user } = await startApplication({
      auth: {
        apis: {
          orders: {
            url: api.url,
            path: "/api/orders/",
            rules: [
              { path: "items", maxAge: 60 },
              { path: "items", allow: () => true },
            ],
          },
        },
      },
    });
    clock.advance(120_000);
    expect((await user.get("/api/orders/items")).status).toBe(401);
    expect(one("idpauth.guard").attributes).toEqual({ "idpauth.outcome": "step_up_required" });
  });

  it("of a refresh: the token request below the refresh, the refresh below the guard", async () => {
    const { user } = await startApplication();
    clock.advance(3600_000);
    await user.get("/reports");
    const [guard, refresh] = [one("idpauth.guard"), one("idpauth.refresh")];
    const token = one("idpauth.provider.token");
    expect(refresh.parentSpanContext?.spanId).toBe(guard.spanContext().spanId);
    expect(token.parentSpanContext?.spanId).toBe(refresh.spanContext().spanId);
    expect(refresh.attributes).toEqual({ "idpauth.outcome": "refreshed" });
    expect(token).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: { "idpauth.endpoint": "token" },
    });
  });

  it("of 200 requests at once contain one refresh", async () => {
    const { user } = await startApplication();
    clock.advance(3600_000);
    await Promise.all(Array.from({ length: 200 }, () => user.get("/reports")));
    expect(named("idpauth.guard")).toHaveLength(200);
    expect(named("idpauth.refresh")).toHaveLength(1);
    expect(named("idpauth.provider.token")).toHaveLength(1);
  });

  it("of an outage are errors with its reason", async () => {
    const { user } = await startApplication();
    clock.advance(3600_000);
    provider.fault("token", { kind: "status", status: 503, times: 1 });
    expect((await user.get("/reports")).status).toBe(503);
    for (const name of ["idpauth.provider.token", "idpauth.refresh"])
      expect(one(name)).toMatchObject({
        attributes: { "error.type": "http_503" },
        status: { code: SpanStatusCode.ERROR },
      });
    expect(one("idpauth.guard").attributes).toEqual({ "idpauth.outcome": "unavailable" });
  });

  it("of a refused refresh say so", async () => {
    const { user } = await startApplication();
    clock.advance(3600_000);
    provider.fault("token", { kind: "status", status: 400, body: { error: "invalid_grant" } });
    await user.get("/reports");
    expect(one("idpauth.refresh").attributes).toEqual({ "idpauth.outcome": "refused" });
  });
});

describe("a request to an API", () => {
  it("through the proxy joins the application's trace, not the browser's", async () => {
    const { user } = await startApplication({
      auth: {
        apis: {
          orders: { url: api.url, path: "/api/orders/", requestHeaders: { baggage: true } },
        },
      },
    });
    const headers = { traceparent: BROWSERS_TRACE, tracestate: "a=b", baggage: "user=alice" };
    expect((await user.get("/api/orders/items", { headers })).status).toBe(200);
    const span = one("idpauth.api.orders");
    const { traceId, spanId } = span.spanContext();
    expect(traceId).toBe(one("server").spanContext().traceId);
    const [sent] = api.requests;
    expect(sent?.headers["traceparent"]).toBe(`00-${traceId}-${spanId}-01`);
    expect(sent?.headers).not.toHaveProperty("tracestate");
    expect(sent?.headers).not.toHaveProperty("baggage");
    expect(span).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: {
        "idpauth.api": "orders",
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": Number(new URL(api.url).port),
      },
    });
  });

  it("is a span for each time that it is sent, after an API has rejected the token", async () => {
    const { user } = await startApplication();
    api.refuseNext();
    expect((await user.get("/api/orders/items")).status).toBe(200);
    const sent = api.requests.map(({ headers }) => headers["traceparent"]);
    const { traceId } = one("server").spanContext();
    expect(sent).toEqual(
      named("idpauth.api.orders").map((span) => `00-${traceId}-${span.spanContext().spanId}-01`),
    );
    expect(new Set(sent).size).toBe(2);
  });

  it("for an event stream ends with the response's head, and joins the trace", async () => {
    const { user } = await startApplication();
    const leaving = new AbortController();
    const headers = { accept: "text/event-stream", traceparent: BROWSERS_TRACE };
    const { signal } = leaving;
    const stream = user.get("/api/orders/stream", { headers, signal }).catch(() => "left");
    await expect.poll(() => named("idpauth.api.orders")).toHaveLength(1);
    const { traceId, spanId } = one("idpauth.api.orders").spanContext();
    expect(api.requests[0]?.headers["traceparent"]).toBe(`00-${traceId}-${spanId}-01`);
    leaving.abort();
    expect(await stream).toBe("left");
  });

  it("for a WebSocket joins the trace", async () => {
    const { app, auth } = await startApplication();
    const server = createServer(app).on("upgrade", (...upgrade) => auth.proxyUpgrade(...upgrade));
    const origin = `http://127.0.0.1:${String(await listen(server))}`;
    const user = new CookieBrowser({ origin });
    await user.follow("/idpauth/login/");
    const cookie = user.cookies.header(new URL(origin)) ?? "";
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/orders/socket`, {
      origin,
      headers: { cookie, traceparent: BROWSERS_TRACE, tracestate: "a=b" },
    });
    await once(socket, "open");
    const { traceId, spanId } = one("idpauth.api.orders").spanContext();
    const [sent] = api.requests;
    expect(sent?.headers["traceparent"]).toBe(`00-${traceId}-${spanId}-01`);
    expect(sent?.headers).not.toHaveProperty("tracestate");
    socket.terminate();
  });

  it("through the proxy of a Fetch-style server joins the trace", async () => {
    const { settings } = await startApplication();
    const auth = fetchAuth(settings);
    instrument(auth, { tracerProvider, meterProvider });
    const proxied = auth.proxyApi("orders")(() => new Response("elsewhere"));
    const cookie = await signedInAs(auth, { sub: "user-1" });
    const url = "http://app.example/api/orders/items";
    const headers = { cookie, traceparent: BROWSERS_TRACE, tracestate: "a=b", baggage: "a=b" };
    // The API refuses the token of a session that was made up, and nothing can renew it.
    expect((await proxied(new Request(url, { headers }))).status).toBe(401);
    const { traceId, spanId } = one("idpauth.api.orders").spanContext();
    const [sent] = api.requests;
    expect(sent?.headers["traceparent"]).toBe(`00-${traceId}-${spanId}-01`);
    expect(Object.keys(sent?.headers ?? {})).not.toContain("tracestate");
    expect(Object.keys(sent?.headers ?? {})).not.toContain("baggage");
  });

  it("has no baggage that the SDK's instrumentation of HTTP could send, nor has the provider's", async () => {
    const sent: object[] = [];
    const { user } = await startApplication({
      auth: {
        fetch: (...request) => {
          const headers = {};
          propagation.inject(context.active(), headers);
          sent.push(headers);
          return fetch(...request);
        },
      },
    });
    clock.advance(3600_000);
    sent.length = 0;
    await user.get("/fetched");
    expect(sent.length).toBeGreaterThan(0);
    for (const headers of sent) expect(Object.keys(headers)).toEqual(["traceparent"]);
  });

  it("that the browser has left is no failure of the API", async () => {
    let arrived: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const hanging = createServer(() => {
      arrived();
    });
    const url = `http://127.0.0.1:${String(await listen(hanging))}/`;
    const { user } = await startApplication({
      auth: { apis: { orders: { url, path: "/api/orders/" } } },
    });
    const leaving = new AbortController();
    const left = user.get("/api/orders/items", { signal: leaving.signal }).catch(() => "left");
    await arrival;
    leaving.abort();
    expect(await left).toBe("left");
    await expect
      .poll(() => named("idpauth.api.orders")[0]?.attributes["error.type"])
      .toBe("browser_left");
  });

  it("by `fetchApi` joins it too", async () => {
    const { user } = await startApplication();
    expect((await user.get("/fetched")).text).toBe("OK");
    const { traceId, spanId } = one("idpauth.api.orders").spanContext();
    const [sent] = api.requests;
    expect(sent?.headers["traceparent"]).toBe(`00-${traceId}-${spanId}-01`);
    expect(sent?.headers).not.toHaveProperty("baggage");
  });

  it("says in the headers that the trace isn't sampled", async () => {
    const unsampled = new NodeTracerProvider({ sampler: new AlwaysOffSampler() });
    const { user } = await startApplication({ tracerProvider: unsampled });
    await user.get("/api/orders/items", { headers: { traceparent: BROWSERS_TRACE } });
    expect(api.requests[0]?.headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  it("is an error if the API says so, or is away", async () => {
    const { user } = await startApplication();
    api.refuseNext();
    await user.get("/api/orders/items");
    await api.stop();
    await user.get("/api/orders/items");
    const spansOfApi = named("idpauth.api.orders");
    expect(spansOfApi.map(({ attributes }) => attributes["error.type"])).toEqual([
      "401",
      undefined,
      "api_unreachable",
    ]);
  });

  it("keeps the browser's headers without `instrument`", async () => {
    const { user, stop } = await startApplication();
    stop();
    await user.get("/api/orders/items", { headers: { traceparent: BROWSERS_TRACE } });
    expect(api.requests[0]?.headers["traceparent"]).toBe(BROWSERS_TRACE);
    expect(named("idpauth.api.orders")).toHaveLength(0);
  });
});

describe("metrics", () => {
  it("time each operation and count each event", async () => {
    const { user } = await startApplication();
    await user.get("/reports");
    clock.advance(3600_000);
    await user.get("/api/orders/items");
    await user.get("/idpauth/logout/?response=json");
    expect(await points("idpauth.logins")).toEqual([[{}, 1]]);
    expect(await points("idpauth.refreshes")).toEqual([[{}, 1]]);
    expect(await points("idpauth.logouts")).toEqual([[{}, 1]]);
    expect(await points("idpauth.guard.duration")).toEqual([[{ "idpauth.outcome": "passed" }, 2]]);
    expect(await points("idpauth.refresh.duration")).toEqual([
      [{ "idpauth.outcome": "refreshed" }, 1],
    ]);
    expect(await points("idpauth.api.duration")).toEqual([
      [
        {
          "idpauth.api": "orders",
          "http.request.method": "GET",
          "http.response.status_code": 200,
        },
        1,
      ],
    ]);
    const endpoints = (await points("idpauth.provider.duration")).map(([attributes]) => attributes);
    expect(endpoints).toContainEqual({ "idpauth.endpoint": "token" });
    const methods = (await points("idpauth.store.duration")).map(([attributes]) => attributes);
    expect(methods).toContainEqual({ "idpauth.store.method": "get" });
  });

  it("count failures, outages, blocked requests and ended sessions by reason", async () => {
    const { user } = await startApplication();
    clock.advance(3600_000);
    provider.fault("token", { kind: "status", status: 503, times: 1 });
    await user.get("/reports");
    clock.advance(60_000);
    provider.fault("token", { kind: "status", status: 400, body: { error: "invalid_grant" } });
    await user.get("/reports");
    const counted = async (name: string) =>
      (await points(name)).map(([labels, count]) => [...Object.values(labels).toSorted(), count]);
    expect(await points("idpauth.outages")).toEqual([
      [
        {
          "idpauth.side": "provider",
          "idpauth.endpoint": "token",
          "idpauth.reason": "http_503",
        },
        1,
      ],
    ]);
    expect(await counted("idpauth.failures")).toEqual([
      ["http_503", "outage", "refresh", 1],
      ["invalid_grant", "refresh", "refusal", 1],
    ]);
    expect(await counted("idpauth.blocked")).toEqual([["refresh_rejected", 1]]);
    expect(await counted("idpauth.sessions.ended")).toEqual([["refresh_rejected", 1]]);
  });
});

describe("what is exported", () => {
  it("contains no token, secret, address or claim of the user", async () => {
    const { user } = await startApplication();
    await user.get("/reports");
    clock.advance(3600_000);
    await user.get("/fetched");
    await user.get("/staff");
    await reader.forceFlush();
    const text = JSON.stringify([
      spans.getFinishedSpans().map(({ name, attributes, events, links, status }) => ({
        name,
        attributes,
        events,
        links,
        status,
      })),
      exported.getMetrics(),
    ]);
    expect(text).toContain("idpauth.guard");
    const secrets = [provider.clientSecret, "alice@example.com", "Alice", "user-1", "eyJ"];
    const bearer = api.requests.map(({ headers }) => headers.authorization?.slice(7) ?? "-");
    for (const secret of [...secrets, ...bearer]) expect(text).not.toContain(secret);
  });

  it("contains a hash of the user only if it was asked for, and only in spans", async () => {
    const { user } = await startApplication({ userHash: true });
    clock.advance(3600_000);
    await user.get("/reports");
    const hash = one("idpauth.guard").attributes["enduser.pseudo.id"];
    expect(hash).toMatch(/^[\w-]{43}$/);
    expect(one("idpauth.refresh").attributes["enduser.pseudo.id"]).toBe(hash);
    await reader.forceFlush();
    expect(JSON.stringify(exported.getMetrics())).not.toContain(String(hash));
  });

  it("tells users with the same `sub` apart by SECRET_KEY", async () => {
    const hashes = [];
    for (const secretKey of [
      "a secret key of at least 32 bytes",
      "another key of at least 32 bytes",
    ]) {
      const { user } = await startApplication({ userHash: true, auth: { secretKey } });
      await user.get("/reports");
      hashes.push(one("idpauth.guard").attributes["enduser.pseudo.id"]);
    }
    expect(new Set(hashes).size).toBe(2);
  });
});

describe("instrument", () => {
  it("uses the global providers by default", async () => {
    const { user } = await startApplication({ tracerProvider: undefined } as never);
    await user.get("/reports");
    expect(named("idpauth.guard")).toHaveLength(1);
  });

  it("refuses an `auth` that is instrumented, until it was stopped", async () => {
    const { auth, stop } = await startApplication();
    expect(() => instrument(auth)).toThrow(TypeError);
    stop();
    instrument(auth)();
  });

  it("lets a request and a refresh pass although a span throws", async () => {
    const refuse = (): never => {
      throw new Error("a span");
    };
    const span = { setAttribute: refuse, setAttributes: refuse, spanContext: refuse, end: refuse };
    const tracer = { startSpan: () => span };
    const { user } = await startApplication({
      userHash: true,
      tracerProvider: { getTracer: () => tracer } as never,
    });
    expect((await user.get("/reports")).text).toBe("reports");
    clock.advance(3600_000);
    expect((await user.get("/api/orders/items")).status).toBe(200);
    expect(provider.requestsTo("token")).toHaveLength(2);
  });

  it("lets a request pass although a span processor throws", async () => {
    const broken: SpanProcessor = {
      onStart: () => {
        throw new Error("onStart");
      },
      onEnd: () => {
        throw new Error("onEnd");
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    const { user } = await startApplication({
      tracerProvider: new NodeTracerProvider({ spanProcessors: [broken] }),
    });
    expect((await user.get("/reports")).text).toBe("reports");
  });

  it("ends the spans although a metric throws", async () => {
    const broken = () => {
      throw new Error("record");
    };
    const meter = {
      createHistogram: () => ({ record: broken }),
      createCounter: () => ({ add: broken }),
    };
    const { user } = await startApplication({
      meterProvider: { getMeter: () => meter } as never,
    });
    expect((await user.get("/reports")).text).toBe("reports");
    expect(named("idpauth.guard")).toHaveLength(1);
  });
});
