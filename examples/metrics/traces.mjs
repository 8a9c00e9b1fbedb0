import { subscribe } from "node:diagnostics_channel";
import { SpanStatusCode, trace } from "@opentelemetry/api";

/**
 * Makes a span of each event of idpauth that has a duration. Call it once, after the SDK has set
 * its tracer provider.
 */
export function traceIdpauth(tracer = trace.getTracer("idpauth")) {
  for (const event of ["login", "refresh", "logout", "failure", "outage"]) {
    subscribe(
      `idpauth:${event}`,
      (/** @type {any} */ { time, duration, during, kind, reason, side, endpoint }) => {
        if (duration === undefined) return;
        const attributes = Object.entries({ during, kind, reason, side, endpoint }).filter(
          ([, value]) => value !== undefined,
        );
        const span = tracer.startSpan(`idpauth.${event}`, {
          startTime: time - duration,
          attributes: Object.fromEntries(attributes),
        });
        if (event === "failure" || event === "outage")
          span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
        span.end(time);
      },
    );
  }
}
