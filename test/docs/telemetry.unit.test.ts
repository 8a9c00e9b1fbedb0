import { readFileSync } from "node:fs";
import path from "node:path";
import type { Meter } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { createInstruments } from "../../src/opentelemetry/metrics.js";

const page = readFileSync(
  path.resolve(import.meta.dirname, "../../docs/how-to/telemetry.md"),
  "utf8",
);

describe("docs/how-to/telemetry.md", () => {
  it("lists every metric with its kind", () => {
    const made: string[] = [];
    createInstruments({
      createHistogram: (name: string) => made.push(`${name} histogram`),
      createCounter: (name: string) => made.push(`${name} counter`),
    } as unknown as Meter);
    const listed = page.matchAll(/^\| `(idpauth\.[a-z.]+)` \| (histogram|counter) \|/gm);
    expect([...listed].map(([, name, kind]) => `${String(name)} ${String(kind)}`)).toEqual(made);
  });
});
