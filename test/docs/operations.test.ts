import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import path from "node:path";
import { metrics, SpanStatusCode, type SpanOptions, type Tracer } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { observeIdpauth as observeByOpenTelemetry } from "../../examples/metrics/opentelemetry.mjs";
import { auditIdpauth } from "../../examples/metrics/audit-log.mjs";
import { observeIdpauth as observeByPrometheus } from "../../examples/metrics/prometheus.mjs";
import { traceIdpauth } from "../../examples/metrics/traces.mjs";
import { startApplication, type Application } from "../support/application.js";

const root = path.resolve(import.meta.dirname, "../..");

let application: Application;
beforeEach(async () => (application = await startApplication()));
afterEach(() => application.stop());

/** A sign-in, a refresh of 250 ms, an outage, a guard that blocks, a sign-out. */
async function aDay(): Promise<void> {
  const user = application.user();
  await user.signIn();
  application.clock.advance(3600_000);
  const hold = application.provider.hold("token");
  const probe = user.get("/idpauth/session");
  await hold.arrived;
  application.clock.advance(250);
  hold.release();
  await probe;
  application.clock.advance(3600_000);
  application.provider.fault("token", { kind: "status", status: 503, times: 1 });
  await user.get("/idpauth/session");
  await application.auth.guard(application.user().request("/reports"));
  await user.get("/idpauth/logout/");
}

describe("docs/how-to/operations.md", () => {
  it("the recipe for Prometheus counts and times", async () => {
    const registry = new Registry();
    observeByPrometheus([registry]);
    await aDay();
    const text = await registry.metrics();
    const value = (series: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length + 1),
      );
    expect(value('idpauth_events_total{event="login"}')).toBe(1);
    expect(value('idpauth_events_total{event="refresh"}')).toBe(1);
    expect(
      value(
        'idpauth_events_total{event="outage",reason="http_503",side="provider",endpoint="token"}',
      ),
    ).toBe(1);
    expect(
      value(
        'idpauth_events_total{event="failure",during="refresh",kind="outage",reason="http_503"}',
      ),
    ).toBe(1);
    expect(value('idpauth_events_total{event="blocked",reason="no_credentials"}')).toBe(1);
    expect(value('idpauth_events_total{event="logout"}')).toBe(1);
    expect(value('idpauth_provider_seconds_sum{event="refresh"}')).toBe(0.25);
    expect(value('idpauth_provider_seconds_count{event="login"}')).toBe(1);
  });

  it("the recipe for OpenTelemetry counts and times", async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600_000 });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    observeByOpenTelemetry();
    await aDay();
    await reader.forceFlush();
    const told = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const points = (name: string) =>
      told
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }) =>
          dataPoints.map(({ attributes, value }) => ({ attributes, value })),
        );
    expect(points("idpauth.events")).toEqual(
      expect.arrayContaining([
        { attributes: { event: "login" }, value: 1 },
        {
          attributes: { event: "outage", reason: "http_503", side: "provider", endpoint: "token" },
          value: 1,
        },
        { attributes: { event: "blocked", reason: "no_credentials" }, value: 1 },
      ]),
    );
    expect(points("idpauth.provider.duration")).toEqual(
      expect.arrayContaining([
        {
          attributes: { event: "refresh" },
          value: expect.objectContaining({ sum: 0.25, count: 1 }) as unknown,
        },
      ]),
    );
    await reader.shutdown();
    metrics.disable();
  });

  it("the recipe for traces makes a span of each event with a duration, in the context of the request that caused it", async () => {
    const context = new AsyncLocalStorage<string>();
    const spans: {
      name: string;
      seconds: number;
      status: number | undefined;
      context: string | undefined;
    }[] = [];
    const startSpan = (name: string, { startTime }: SpanOptions) => {
      const span = {
        name,
        seconds: 0,
        status: undefined as number | undefined,
        context: context.getStore(),
      };
      return {
        setStatus: ({ code }: { code: number }) => (span.status = code),
        end: (time: number) =>
          spans.push({ ...span, seconds: (time - (startTime as number)) / 1000 }),
      };
    };
    traceIdpauth({ startSpan } as unknown as Tracer);
    await context.run("the day", aDay);
    // The clock that moves an hour may also end a request for keys.
    expect([...new Set(spans.map(({ name }) => name))]).toEqual([
      "idpauth.login",
      "idpauth.refresh",
      "idpauth.outage",
      "idpauth.failure",
      "idpauth.logout",
    ]);
    expect(spans.find(({ name }) => name === "idpauth.refresh")?.seconds).toBe(0.25);
    expect(spans.find(({ name }) => name === "idpauth.outage")?.status).toBe(SpanStatusCode.ERROR);
    expect(spans.map((span) => span.context)).toEqual(spans.map(() => "the day"));
  });
});

describe("docs/how-to/audit-log.md", () => {
  const auditPage = readFileSync(path.join(root, "docs/how-to/audit-log.md"), "utf8");

  it("the recipe writes who signed in and out", async () => {
    const rows: unknown[][] = [];
    auditIdpauth(application.auth, {
      query: (_text: string, values: unknown[]) => Promise.resolve(rows.push(values)),
    });
    await aDay();
    const actions = rows.map(([, action, , subject]) => [action, typeof subject]);
    expect(actions).toEqual([
      ["signed in", "string"],
      ["refresh failed", "string"],
      ["signed out", "string"],
    ]);
    for (const action of ["signed in", "signed out", "session ended", "callback failed", "blocked"])
      expect(auditPage).toContain(`\`${action}\``);
  });
});
