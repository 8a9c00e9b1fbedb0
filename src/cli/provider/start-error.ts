/** A reason why the command cannot start, and what to do. */
export class StartError extends Error {}

/** The system's code of an error of a file. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}
