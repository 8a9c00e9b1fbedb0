/**
 * The code of a store driver's error, such as `ECONNREFUSED` or PostgreSQL's `57P01`; `rejected` if there is none. Never the error's
 * message, which may contain a secret.
 */
export function driverCode(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    const { code } = at as { readonly code?: unknown };
    if (typeof code === "string" && /^[A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return "rejected";
}
