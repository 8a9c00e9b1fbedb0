import { subscribe } from "node:diagnostics_channel";
import { metrics } from "@opentelemetry/api";

/**
 * Counts and times the events of every idpauth component in this process. Call it once, after the
 * SDK has set its meter provider.
 */
export function observeIdpauth(meter = metrics.getMeter("idpauth")) {
  const events = meter.createCounter("idpauth.events", { description: "Events of idpauth" });
  const seconds = meter.createHistogram("idpauth.provider.duration", {
    description:
      "Time that the provider took for a login, refresh or logout, or until an outage was known",
    unit: "s",
    advice: { explicitBucketBoundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] },
  });
  for (const event of ["login", "refresh", "logout", "blocked", "ended", "failure", "outage"]) {
    subscribe(
      `idpauth:${event}`,
      (/** @type {any} */ { during, kind, reason, side, endpoint, duration }) => {
        const attributes = { event, during, kind, reason, side, endpoint };
        events.add(
          1,
          Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
        );
        if (duration !== undefined) seconds.record(duration / 1000, { event });
      },
    );
  }
}
