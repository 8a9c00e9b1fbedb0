import { driverCode, type Facts, type Operation } from "../adapter.js";
import { IdpAuthError } from "../index.js";

/** Attributes with few values, so that metrics have them too. */
export type Labels = Record<string, string | number>;

/** How many values an attribute has in metrics before further ones become `_OTHER`. */
const MAX_VALUES = 100;

/** What OpenTelemetry says of a value that isn't listed. */
const OTHER = "_OTHER";

/** The attributes that an operation has from its beginning. */
export function labelsOf({ name, provider, api, endpoint, method }: Operation): Labels {
  const labels: Labels = {};
  const add = (label: string, value: string | undefined) => {
    if (value !== undefined) labels[label] = value;
  };
  add("idpauth.provider", provider);
  add("idpauth.api", api);
  add("idpauth.endpoint", endpoint);
  add(name === "store" ? "idpauth.store.method" : "http.request.method", method);
  return labels;
}

/** Adds what an operation has told of itself. */
export function addFacts(labels: Labels, { outcome, status }: Facts): void {
  if (outcome !== undefined) labels["idpauth.outcome"] = outcome;
  if (status === undefined) return;
  labels["http.response.status_code"] = status;
  // Of a client's span, 4xx is an error too (OpenTelemetry's conventions for HTTP).
  if (status >= 400) labels["error.type"] = String(status);
}

/**
 * Returns the kind of an error: a word of ours, a provider's error code, or a driver's code. Never
 * a message, which may contain a secret.
 */
export function errorType(error: unknown): string {
  return error instanceof IdpAuthError ? (reasonOf(error) ?? error.code) : driverCode(error);
}

function reasonOf(error: IdpAuthError): string | undefined {
  const { reason } = error as { readonly reason?: unknown };
  return typeof reason === "string" ? reason : undefined;
}

/** Keeps the number of an attribute's values bounded, because a provider can invent words. */
export class BoundedValues {
  readonly #known = new Map<string, Set<string | number>>();

  of(labels: Readonly<Labels>): Labels {
    return Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [name, this.#bounded(name, value)]),
    );
  }

  #bounded(name: string, value: string | number): string | number {
    const known = this.#known.get(name) ?? new Set();
    this.#known.set(name, known);
    if (!known.has(value) && known.size >= MAX_VALUES) return OTHER;
    known.add(value);
    return value;
  }
}
