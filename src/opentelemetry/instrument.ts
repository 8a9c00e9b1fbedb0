/** Traces and metrics for OpenTelemetry. */
import { metrics, trace, type MeterProvider, type TracerProvider } from "@opentelemetry/api";
import { OBSERVE } from "../adapter.js";
import type { Instrumentable } from "./instrumentable.js";
import { countEvents, createInstruments } from "./metrics.js";
import { createObserver } from "./observer.js";

export type { Instrumentable };

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** Makes the spans. Default: the global one, which an SDK registers. */
  readonly tracerProvider?: TracerProvider;
  /** Makes the metrics. Default: the global one. */
  readonly meterProvider?: MeterProvider;
  /**
   * Whether spans of the guard and of refreshes have the attribute `enduser.pseudo.id`: a hash of
   * the user's issuer and `sub`, keyed by SECRET_KEY. Metrics never have it. Default: false.
   */
  readonly userHash?: boolean;
}

/**
 * Makes spans and metrics of what an `auth` object does, and has requests to APIs join the
 * application's trace. Call it before the first request, after your SDK has started.
 *
 * @returns a function that stops it
 * @throws TypeError `auth` is instrumented already
 *
 * @example
 * const stop = instrument(auth, { userHash: true });
 */
export function instrument(
  auth: Instrumentable,
  {
    tracerProvider = trace.getTracerProvider(),
    meterProvider = metrics.getMeterProvider(),
    userHash = false,
  }: InstrumentOptions = {},
): () => void {
  const instruments = createInstruments(meterProvider.getMeter("idpauth"));
  const observed = auth[OBSERVE](
    createObserver({
      tracer: tracerProvider.getTracer("idpauth"),
      instruments,
      hashOf: userHash ? (...user) => observed.userHash(...user) : undefined,
    }),
  );
  const stopCounting = countEvents(auth, instruments);
  return () => {
    observed.stop();
    stopCounting();
  };
}
