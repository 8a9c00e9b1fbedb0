// @ts-check
import { trace } from "@opentelemetry/api";
import { Counter, Registry } from "prom-client";

/** @typedef {ReturnType<typeof createTelemetry>} Telemetry */

/** @param {(line: string) => void} write gets each log line, as JSON */
export function createTelemetry(write) {
  const registry = new Registry();
  const requests = new Counter({
    name: "requests_total",
    help: "Completed requests",
    labelNames: ["status"],
    registers: [registry],
  });
  // The spans go to the SDK that `node --import` has loaded, and nowhere without one.
  const tracer = trace.getTracer("orders-desk");

  return {
    registry,
    requests,
    signIns: new Counter({ name: "sign_ins_total", help: "Sign-ins", registers: [registry] }),
    tracer,
    /** @param {object} fields */
    log: (fields) => write(JSON.stringify({ time: new Date().toISOString(), ...fields })),
  };
}
