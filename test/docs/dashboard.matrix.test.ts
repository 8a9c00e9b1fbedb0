import { readFileSync } from "node:fs";
import path from "node:path";
import { Registry } from "prom-client";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { observeIdpauth } from "../../examples/metrics/prometheus.mjs";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication } from "../support/application.js";
import { startExpressApplication } from "../support/express-application.js";
import { freePort } from "../support/free-port.js";
import {
  charts,
  queriesOf,
  readDashboard,
  type Dashboard,
  type Panel,
} from "../support/grafana-dashboard.js";
import { mistakesIn, readQuery, seriesOf, type Series } from "../support/promql.js";
import { SealingStore } from "../support/sealing-store.js";

// The dashboards of examples/metrics/ fit Grafana's types, and each query of dashboard.json finds
// what the exporter of examples/metrics/prometheus.mjs really gives. For the other dashboard's
// queries, see test/opentelemetry/dashboard.test.ts.

const ROOT = path.resolve(import.meta.dirname, "../..");
const HOUR = 3_600_000;
const TIME_SERIES =
  "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";
const DASHBOARDS = ["dashboard.json", "opentelemetry-dashboard.json"];

/** A dashboard as a constant of Grafana's type. */
function moduleOf(json: Dashboard): string {
  const constant = (name: string, type: string, value: unknown) =>
    `export const ${name}: Json<${type}> = ${JSON.stringify(value)};\n`;
  const panels = charts(json);
  return [
    'import type { Dashboard } from "@grafana/schema";\n',
    `import type { FieldConfig, Options } from "${TIME_SERIES}";\n`,
    "type Json<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;\n",
    constant("dashboard", "Dashboard", json),
    constant(
      "options",
      "Options[]",
      panels.map(({ options }) => options),
    ),
    constant(
      "fields",
      "FieldConfig[]",
      panels.map(({ fieldConfig }) => fieldConfig?.defaults.custom),
    ),
  ].join("");
}

/** What the compiler says of each dashboard. */
function typeErrors(dashboards: readonly Dashboard[]): string[] {
  const texts = new Map(
    dashboards.map((json, index) => [
      path.join(import.meta.dirname, `dashboard-${String(index)}.ts`),
      moduleOf(json),
    ]),
  );
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.getSourceFile = (file, ...rest) => {
    const text = texts.get(file);
    return text === undefined
      ? getSourceFile(file, ...rest)
      : ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].map((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "))
      .join("\n"),
  );
}

it("the dashboards of examples/metrics fit Grafana's types, and mistakes in them are errors", () => {
  const mistakes: readonly ((panel: Panel) => unknown)[] = [
    (panel) => Object.assign(panel, { titel: "x" }),
    (panel) => (panel.gridPos.x = "0"),
    (panel) => (panel.options = { ...panel.options, legend: { calcs: [], placement: "top" } }),
    (panel) => Object.assign(panel.fieldConfig?.defaults.custom ?? {}, { drawStyle: "dots" }),
  ];
  const wrong = mistakes.map((make) => {
    const changed = readDashboard("dashboard.json");
    charts(changed).slice(0, 1).forEach(make);
    return changed;
  });
  expect(typeErrors([...DASHBOARDS.map(readDashboard), ...wrong])).toEqual([
    "",
    "",
    expect.stringContaining('"titel"\' does not exist'),
    expect.stringContaining("'string' is not assignable to type 'number'"),
    expect.stringContaining('"top"'),
    expect.stringContaining('"dots"'),
  ]);
});

it.each(DASHBOARDS)(
  "each panel of %s has a title, a description, a unit and the dashboard's data source, and none lies on another",
  (name) => {
    const dashboard = readDashboard(name);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(["datasource"]);
    expect(charts(dashboard).length).toBeGreaterThan(10);
    const places = new Set<string>();
    for (const { title, description, datasource, fieldConfig, gridPos } of charts(dashboard)) {
      expect(description, title).toMatch(/^[A-Z].*\.$/);
      expect(["cpm", "reqps", "s"], title).toContain(fieldConfig?.defaults.unit);
      expect(datasource?.uid, title).toBe("${datasource}");
      const { x, y, w, h } = gridPos as Record<string, number>;
      for (let column = x ?? 0; column < (x ?? 0) + (w ?? 0); column += 1)
        for (let line = y ?? 0; line < (y ?? 0) + (h ?? 0); line += 1)
          places.add(`${String(column)},${String(line)}`);
    }
    const area = charts(dashboard).map(({ gridPos: { w, h } }) => Number(w) * Number(h));
    expect(places.size).toBe(area.reduce((sum, one) => sum + one, 0));
  },
);

/** Everything that the exporter counts: sign-ins, refreshes, blocks, ends, failures and outages. */
async function exported(): Promise<Series[]> {
  const registry = new Registry();
  observeIdpauth([registry]);
  const clock = new TestClock();
  const store = new SealingStore(clock);
  const application = await startApplication({ clock, store, sessionMaxAge: 3 * 3600 });
  const { provider, auth } = application;
  const user = application.user();
  await user.signIn();
  clock.advance(HOUR);
  provider.fault("token", { kind: "status", status: 503, times: 1 });
  await user.get("/idpauth/session");
  clock.advance(60_000);
  await user.get("/idpauth/session");
  await user.get("/idpauth/login-callback?state=x&code=y");
  await user.get("/idpauth/logout/?response=x&response=json");
  await auth.guard(application.user().request("/reports"));
  clock.advance(3 * HOUR);
  await user.get("/idpauth/session");
  await user.signIn();
  await user.get("/idpauth/logout/?response=json");
  await user.signIn();
  store.before = () => {
    throw Object.assign(new Error(), { code: "ECONNREFUSED" });
  };
  await user.get("/idpauth/session");
  await application.stop();
  await useApis();
  return seriesOf(await registry.metrics());
}

/** A proxied request to an API that isn't there, and one whose token the provider refuses. */
async function useApis(): Promise<void> {
  const gone = `http://127.0.0.1:${String(await freePort())}/`;
  const application = await startExpressApplication({
    apis: {
      gone: { url: gone, path: "/api/gone/" },
      refused: { url: gone, path: "/api/refused/", resource: "https://refused.example" },
    },
    routes: (app, auth) => app.use(auth.proxyApi("gone"), auth.proxyApi("refused")),
  });
  const browser = application.browser();
  await browser.follow("/idpauth/login/");
  await browser.get("/api/gone/x");
  application.provider.fault("token", {
    kind: "status",
    status: 400,
    times: 1,
    body: { error: "invalid_target" },
  });
  await browser.get("/api/refused/x");
  await application.stop();
}

describe("each query finds what the exporter gives", () => {
  let all: Series[];
  beforeAll(async () => {
    all = await exported();
  });

  it.each(queriesOf(readDashboard("dashboard.json")))(
    "of the panel %s, %s",
    (_title, _refId, expr) => {
      expect(mistakesIn(expr, all)).toEqual([]);
    },
  );

  it("and those of the alerts in docs/how-to/operations.md have metrics and labels of the exporter", () => {
    const page = readFileSync(path.join(ROOT, "docs/how-to/operations.md"), "utf8");
    const alerts = [...page.matchAll(/^\| [^|]+ \| `((?:\\\||[^|])+)` \|/gm)].flatMap(
      ([, query = ""]) => (query.includes("idpauth_") ? [query.replaceAll("\\|", "|")] : []),
    );
    expect(alerts.length).toBeGreaterThan(4);
    for (const alert of alerts) {
      const { isValid, selectors } = readQuery(alert);
      expect(isValid, alert).toBe(true);
      for (const { metric, matchers } of selectors)
        for (const { label } of matchers)
          expect(
            all.some((series) => series.metric === metric && label in series.labels),
            `${alert}: ${label}`,
          ).toBe(true);
    }
  });

  it.each([
    ['sum(rate(idpauth_event_total{event="login"}[5m]))', "no idpauth_event_total"],
    ['sum(rate(idpauth_events_total{event="signin"}[5m]))', "no idpauth_events_total"],
    ['sum by (issuer) (rate(idpauth_events_total{event="login"}[5m]))', "no label issuer"],
    ['sum(rate(idpauth_events_total{event="login"}[5m])', "is no PromQL"],
  ])("and the mistake in %s is found", (query, mistake) => {
    expect(mistakesIn(query, all).join()).toContain(mistake);
  });
});
