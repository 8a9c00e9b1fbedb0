import { subscribe } from "node:diagnostics_channel";
import { Counter, Histogram, register } from "prom-client";

/**
 * Counts and times the events of every idpauth component in this process. Call it once, at startup.
 */
export function observeIdpauth(registers = [register]) {
  const labelNames = ["event", "during", "kind", "reason", "side", "endpoint", "api"];
  const events = new Counter({
    name: "idpauth_events_total",
    help: "Events of idpauth",
    labelNames,
    registers,
  });
  const seconds = new Histogram({
    name: "idpauth_provider_seconds",
    help: "Time that the provider took for a login, refresh or logout, or until an outage was detected",
    labelNames: ["event", "api"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  for (const event of ["login", "refresh", "logout", "blocked", "ended", "failure", "outage"]) {
    subscribe(
      `idpauth:${event}`,
      (/** @type {any} */ { during, kind, reason, side, endpoint, api, duration }) => {
        const labels = { event, during, kind, reason, side, endpoint, api };
        events.inc(
          Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)),
        );
        const timed = api === undefined ? { event } : { event, api };
        if (duration !== undefined) seconds.observe(timed, duration / 1000);
      },
    );
  }
}
