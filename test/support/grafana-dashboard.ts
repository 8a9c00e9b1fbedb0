import { readFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");
export interface Panel {
  readonly type: string;
  title?: string;
  description?: string;
  datasource?: { readonly uid: string };
  gridPos: Record<"x" | "y" | "w" | "h", unknown>;
  fieldConfig?: { readonly defaults: { unit?: string; custom: Record<string, unknown> } };
  options?: Record<string, unknown>;
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

export interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: Panel[];
}

/** A dashboard of examples/metrics/. */
export function readDashboard(name: string): Dashboard {
  const file = path.join(ROOT, "examples/metrics", name);
  return JSON.parse(readFileSync(file, "utf8")) as Dashboard;
}

export const charts = ({ panels }: Dashboard) => panels.filter(({ type }) => type !== "row");

/** The queries of a dashboard, each with its panel's title and its own letter. */
export function queriesOf(dashboard: Dashboard): (readonly [string, string, string])[] {
  return charts(dashboard).flatMap(({ title = "", targets = [] }) =>
    targets.map(({ refId, expr }) => [title, refId, expr] as const),
  );
}
