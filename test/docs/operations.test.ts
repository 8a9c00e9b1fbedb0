import { readFileSync } from "node:fs";
import path from "node:path";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { auditIdpauth } from "../../examples/metrics/audit-log.mjs";
import { observeIdpauth as observeByPrometheus } from "../../examples/metrics/prometheus.mjs";
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
