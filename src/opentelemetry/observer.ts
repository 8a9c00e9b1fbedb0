import {
  context,
  isSpanContextValid,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import type { Facts, Observation, Observer, Operation } from "../adapter.js";
import { addFacts, errorType, labelsOf, type Labels } from "./attributes.js";
import type { Instruments } from "./metrics.js";

export interface ObserverParts {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  /** Returns what stands for a user in spans. Undefined: nothing does. */
  readonly hashOf:
    ((issuer: string, subject: string, provider: string | undefined) => string) | undefined;
}

/** Makes a span of each operation, and records how long it took. */
export function createObserver(parts: ObserverParts): Observer {
  return {
    async observe(operation, work) {
      const watched = attempt(() => new WatchedOperation(operation, parts));
      if (watched === undefined) return work();
      try {
        return await context.with(watched.context, () => work(watched));
      } catch (error) {
        watched.failed(error);
        throw error;
      } finally {
        attempt(() => {
          watched.end();
        });
      }
    },
  };
}

/** A tracer or a processor that throws must not break a request, or a refresh between two writes. */
function attempt<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

class WatchedOperation implements Observation {
  readonly context;
  readonly #parts: ObserverParts;
  readonly #name: Operation["name"];
  readonly #labels: Labels;
  readonly #span: Span;
  readonly #started = performance.now();

  constructor(operation: Operation, parts: ObserverParts) {
    this.#parts = parts;
    this.#name = operation.name;
    this.#labels = labelsOf(operation);
    const isRequest = this.#name === "api" || this.#name === "provider";
    this.#span = parts.tracer.startSpan(spanName(operation), {
      kind: isRequest ? SpanKind.CLIENT : SpanKind.INTERNAL,
      attributes: { ...this.#labels, ...serverOf(operation) },
    });
    // The SDK's instrumentation of HTTP would send on the baggage that the browser sent.
    const around = isRequest ? propagation.deleteBaggage(context.active()) : context.active();
    this.context = trace.setSpan(around, this.#span);
  }

  get traceHeaders(): Readonly<Record<string, string>> {
    return attempt(() => traceHeadersOf(this.#span)) ?? {};
  }

  note(facts: Facts): void {
    addFacts(this.#labels, facts);
    const { issuer, subject, provider } = facts.identity ?? {};
    const { hashOf } = this.#parts;
    if (hashOf === undefined || issuer === undefined || subject === undefined) return;
    attempt(() => this.#span.setAttribute("enduser.pseudo.id", hashOf(issuer, subject, provider)));
  }

  failed(error: unknown): void {
    this.#labels["error.type"] = errorType(error);
  }

  end(): void {
    const labels = this.#labels;
    if (labels["error.type"] !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.setAttributes(labels).end();
    const { durations, values } = this.#parts.instruments;
    const seconds = (performance.now() - this.#started) / 1000;
    durations[this.#name].record(seconds, values.of(labels), this.context);
  }
}

/** The headers of W3C Trace Context. */
function traceHeadersOf(span: Span): Readonly<Record<string, string>> {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return {};
  const { traceId, spanId, traceFlags, traceState } = spanContext;
  const flags = traceFlags.toString(16).padStart(2, "0");
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const tracestate = traceState?.serialize();
  return { traceparent, ...(tracestate && { tracestate }) };
}

function spanName({ name, endpoint, api, method }: Operation): string {
  const detail = { guard: undefined, refresh: undefined, provider: endpoint, store: method, api };
  return ["idpauth", name, detail[name] ?? []].flat().join(".");
}

/** Not the path, which may name what a user looks at. */
function serverOf({ url }: Operation): Attributes {
  if (url === undefined) return {};
  const { hostname, port, protocol } = url;
  const known = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return { "server.address": hostname, "server.port": known };
}
