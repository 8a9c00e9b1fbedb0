import type { Counter, Histogram, Meter } from "@opentelemetry/api";
import type { Operation } from "../adapter.js";
import type { Events } from "../index.js";
import { BoundedValues, type Labels } from "./attributes.js";
import type { Instrumentable } from "./instrumentable.js";

type Named<Name extends string, Kind> = Readonly<Record<Name, Kind>>;

export interface Instruments {
  /** Seconds that the operations took. */
  readonly durations: Named<Operation["name"], Histogram>;
  readonly events: Named<keyof Events, Counter>;
  /** The attributes with which metrics are recorded. */
  readonly values: BoundedValues;
}

/** In seconds: from a store in memory to a provider's time limit. */
const BOUNDARIES = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

export function createInstruments(meter: Meter): Instruments {
  const duration = (name: Operation["name"], description: string) =>
    meter.createHistogram(`idpauth.${name}.duration`, {
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: BOUNDARIES },
    });
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`idpauth.${name}`, { description, unit });
  return {
    durations: {
      guard: duration("guard", "Decisions of the guard"),
      refresh: duration("refresh", "Refreshes of a session, with the wait for other processes"),
      provider: duration("provider", "Requests to the provider"),
      store: duration("store", "Calls of the session store"),
      api: duration("api", "Requests to APIs, until the head of the response"),
    },
    events: {
      login: counter("logins", "{login}", "Completed sign-ins"),
      refresh: counter("refreshes", "{refresh}", "Refreshed and verified tokens"),
      logout: counter("logouts", "{logout}", "Sessions that users or the application ended"),
      blocked: counter("blocked", "{request}", "Requests that the guard or `auth.csrf` blocked"),
      ended: counter(
        "sessions.ended",
        "{session}",
        "Sessions that ended by policy or at the provider",
      ),
      failure: counter("failures", "{failure}", "Failed logins, refreshes, logouts and API calls"),
      outage: counter("outages", "{outage}", "Failed requests to the provider or the store"),
    },
    values: new BoundedValues(),
  };
}

/** The fields of events that have few values. */
const FIELDS = ["provider", "api", "during", "kind", "reason", "side", "endpoint"];

/** Counts events. @returns a function that stops it */
export function countEvents(auth: Instrumentable, { events, values }: Instruments): () => void {
  const names = Object.keys(events) as (keyof Events)[];
  const stops = names.map((name) =>
    auth.on(name, (event) => {
      events[name].add(1, values.of(labelsOf(event)));
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

function labelsOf(event: object): Labels {
  const fields = event as Readonly<Record<string, unknown>>;
  const labels: Labels = {};
  for (const field of FIELDS) {
    const value = fields[field];
    if (typeof value === "string") labels[`idpauth.${field}`] = value;
  }
  return labels;
}
