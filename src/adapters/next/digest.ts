import { ERRORS } from "../../index.js";

/** Adds our code as `digest`, which Next.js passes to `error.tsx`. Next.js hides the message from the browser. */
export function withDigest(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return error;
  return Object.hasOwn(ERRORS, error.code) ? Object.assign(error, { digest: error.code }) : error;
}
