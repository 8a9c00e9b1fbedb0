// Each query of examples/metrics/opentelemetry-dashboard.json finds a series that Prometheus gets
// from what a real SDK exports of an application.
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
} from "@opentelemetry/sdk-metrics";
import express from "express";
import { beforeAll, describe, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import { instrument } from "../../src/opentelemetry/instrument.js";
import {
  browser,
  settled,
  signIn,
  startTestApi,
  startTestProvider,
  TestClock,
} from "../../src/testing/index.js";
import { freePort } from "../support/free-port.js";
import { queriesOf, readDashboard } from "../support/grafana-dashboard.js";
import { mistakesIn, readQuery, type Series } from "../support/promql.js";
import { SealingStore } from "../support/sealing-store.js";
import { optionsFor } from "../support/options-for.js";

const HOUR = 3_600_000;

/** A name of OpenTelemetry as one of a metric or a label. */
const escaped = (name: string) => name.replaceAll(/\W+/g, "_").replaceAll(/_+/g, "_");

/**
 * The series of a metric in Prometheus (OpenTelemetry's specification, "Prometheus and OpenMetrics
 * Compatibility"). The SDK's own exporter for Prometheus leaves out the unit, which the specification
 * only recommends.
 */
function seriesOf(metric: MetricData, { hasUnit }: { readonly hasUnit: boolean }): Series[] {
  const { descriptor, dataPointType, dataPoints } = metric;
  // Units in braces, such as `{login}`, aren't part of the name.
  const units = hasUnit && descriptor.unit === "s" ? ["seconds"] : [];
  const base = escaped([descriptor.name, ...units].join("_"));
  return dataPoints.flatMap(({ attributes }) => {
    const labels = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [escaped(name), String(value)]),
    );
    return dataPointType === DataPointType.HISTOGRAM
      ? [
          { metric: `${base}_bucket`, labels: { ...labels, le: "+Inf" } },
          { metric: `${base}_sum`, labels },
          { metric: `${base}_count`, labels },
        ]
      : [{ metric: `${base}_total`, labels }];
  });
}

const metricsIn = (query: string) => readQuery(query).selectors.map(({ metric }) => metric);

/** Has an application sign users in and out, refresh, block and fail. */
async function use(meterProvider: MeterProvider): Promise<void> {
  const clock = new TestClock();
  const store = new SealingStore(clock);
  const provider = await startTestProvider({ clock });
  const api = await startTestApi(provider);
  const gone = `http://127.0.0.1:${String(await freePort())}/`;
  const auth = idpAuth({
    ...optionsFor(provider),
    apis: {
      orders: { url: api.url, path: "/api/orders/" },
      gone: { url: gone, path: "/api/gone/" },
      refused: { url: gone, path: "/api/refused/", resource: "https://refused.example" },
    },
    log: false,
    clock,
    store,
  });
  instrument(auth, { meterProvider });
  const app = express();
  auth.mount(app);
  app.use(auth.proxyApi("orders"), auth.proxyApi("gone"), auth.proxyApi("refused"));
  app.get("/reports", auth.idpRequired, (_request, response) => {
    response.send("reports");
  });
  const throwing = auth.idpRequiredWith({
    allow: () => {
      throw new Error();
    },
  });
  app.get("/throws", throwing);
  app.use(((_error, _request, response, _next) => {
    response.sendStatus(500);
  }) satisfies express.ErrorRequestHandler);

  await (await browser(app)).get("/reports");
  const user = await signIn(app);
  await user.get("/idpauth/login-callback?state=x&code=y");
  await user.navigate("/idpauth/logout/?response=x");
  await user.get("/throws");
  await user.get("/api/orders/items");
  await user.get("/api/gone/items");
  provider.fault("token", {
    kind: "status",
    status: 400,
    times: 1,
    body: { error: "invalid_target" },
  });
  await user.get("/api/refused/items");
  await user.get("/idpauth/logout/?response=json");

  const other = await signIn(app);
  clock.advance(HOUR);
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  await other.get("/reports");
  clock.advance(60_000);
  await other.get("/reports");
  clock.advance(HOUR);
  provider.fault("token", {
    kind: "status",
    status: 400,
    times: 1,
    body: { error: "invalid_grant" },
  });
  await other.get("/reports");

  const last = await signIn(app);
  store.before = () => {
    throw Object.assign(new Error(), { code: "ECONNREFUSED" });
  };
  await last.get("/reports");
  await last.get("/idpauth/session");
  store.before = undefined;
  await settled(auth);
  await auth.close();
  await api.stop();
  await provider.stop();
}

/** What the SDK exports of such an application. */
async function exported(): Promise<MetricData[]> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e9 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  await use(meterProvider);
  await reader.forceFlush();
  const [last] = exporter.getMetrics().slice(-1);
  await meterProvider.shutdown();
  return last?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
}

describe("each query finds what the SDK exports", () => {
  let byOtlp: Series[];
  let byExporter: Series[];
  beforeAll(async () => {
    const metrics = await exported();
    byOtlp = metrics.flatMap((metric) => seriesOf(metric, { hasUnit: true }));
    byExporter = metrics.flatMap((metric) => seriesOf(metric, { hasUnit: false }));
  });

  it.each(queriesOf(readDashboard("opentelemetry-dashboard.json")))(
    "of the panel %s, %s",
    (_title, _refId, expr) => {
      expect(mistakesIn(expr, [...byOtlp, ...byExporter])).toEqual([]);
      for (const series of [byOtlp, byExporter])
        expect(metricsIn(expr).some((name) => series.some(({ metric }) => metric === name))).toBe(
          true,
        );
    },
  );

  it.each([
    ["sum(rate(idpauth_logins[5m]))", "no idpauth_logins"],
    ["sum(rate(idpauth_logins_login_total[5m]))", "no idpauth_logins_login_total"],
    ['sum(rate(idpauth_failures_total{idpauth_during="signin"}[5m]))', "no idpauth_failures_total"],
    ["sum by (reason) (rate(idpauth_outages_total[5m]))", "no label reason"],
    ["sum(rate(idpauth_guard_duration_seconds_count[5m])", "is no PromQL"],
  ])("and the mistake in %s is found", (query, mistake) => {
    expect(mistakesIn(query, byOtlp).join()).toContain(mistake);
  });
});
