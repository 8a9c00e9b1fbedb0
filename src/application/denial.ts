/** Marks a denial, in all copies of this package. */
const DENIAL: unique symbol = Symbol.for("idpauth.denial");

/** What `deny` returns. A hook returns it to refuse the user. */
export interface Denial {
  readonly [DENIAL]: true;
  readonly message: string | undefined;
}

/** Characters of a message. */
const MAX_LENGTH = 500;

/**
 * Refuses the user, as the result of `onSignIn` or `onRefresh`.
 *
 * @param message plain text for the page that the user sees, at most 500 characters; only `onSignIn` shows it
 */
export function deny(message?: string): Denial {
  return Object.freeze({ [DENIAL]: true as const, message: message === undefined ? undefined : message.slice(0, MAX_LENGTH) });
}

export function isDenial(value: unknown): value is Denial {
  return typeof value === "object" && value !== null && (value as { readonly [DENIAL]?: unknown })[DENIAL] === true;
}
