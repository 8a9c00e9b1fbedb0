import { OpenResponses } from "../fetch/fetch.js";

/** The bundles of Next.js share the open responses of their process, as they share its components. */
const KEY = Symbol.for("idpauth.next.open-responses");

export function openResponses(): OpenResponses {
  return ((globalThis as unknown as Record<symbol, OpenResponses | undefined>)[KEY] ??= new OpenResponses());
}
