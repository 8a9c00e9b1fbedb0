/** The application's own responses to blocked requests. */
import { thrownBy } from "../errors.js";
import type { Blocked } from "./blocked-responses.js";

/**
 * The application's own responses to blocked requests. Each function is called with the framework's
 * arguments `Before`, the blocked request, and the arguments `After`.
 */
export interface GuardResponsesOf<
  Before extends readonly unknown[],
  After extends readonly unknown[] = [],
  Result = unknown,
> {
  /** Responds to a page request. Default: 302 to the login, which returns to the page. */
  readonly navigation?: (...args: [...Before, blocked: Blocked<"navigation">, ...After]) => Result;
  /** Responds to any other request. Default: 401 as JSON. */
  readonly unauthenticated?: (
    ...args: [...Before, blocked: Blocked<"unauthenticated">, ...After]
  ) => Result;
  /** Responds while the provider or the store is unavailable. Default: 503 with Retry-After. */
  readonly unavailable?: (
    ...args: [...Before, blocked: Blocked<"unavailable">, ...After]
  ) => Result;
  /** Responds to a user whom the route's `allow` does not let pass. Default: 403. */
  readonly forbidden?: (...args: [...Before, blocked: Blocked<"forbidden">, ...After]) => Result;
  /**
   * Responds to a user who must authenticate again (`maxAge`, `acr`). Default: 302 to the login for
   * a page, else 401 as JSON.
   */
  readonly stepUp?: (...args: [...Before, blocked: Blocked<"stepUp">, ...After]) => Result;
}

/** Strangers' hosts get no response of the application's own. */
type ResponseName = Exclude<Blocked["kind"], "misdirected">;

/** The same functions, for code that knows no framework. */
export type AnyGuardResponses = Readonly<
  Partial<Record<ResponseName, (...args: never[]) => unknown>>
>;

/**
 * Responds to a blocked request with the application's own function, or with `byDefault` if there
 * is none.
 *
 * @param args what the function gets: the arguments of the framework, and the blocked request among
 *   them
 * @returns what the function returns; rejects with what it throws
 */
// eslint-disable-next-line @typescript-eslint/max-params -- `idpauth/adapter` exports it.
export async function respondToBlocked<Result>(
  kind: string,
  responses: AnyGuardResponses,
  args: readonly unknown[],
  byDefault: () => Result,
): Promise<unknown> {
  const own = responses[kind as ResponseName] as
    ((...args: readonly unknown[]) => unknown) | undefined;
  if (own === undefined) return byDefault();
  try {
    return await own.apply(responses, [...args]);
  } catch (error) {
    throw thrownBy(kind, error);
  }
}

const RESPONSES: Readonly<Record<ResponseName, true>> = {
  navigation: true,
  unauthenticated: true,
  unavailable: true,
  forbidden: true,
  stepUp: true,
};

/** The names of the application's own responses. */
export const RESPONSE_NAMES: readonly string[] = Object.keys(RESPONSES);
