import { AssertionError } from "node:assert/strict";

/** Milliseconds after which a missing event counts as a failure. */
const MISSING_EVENT_MS = 5_000;

/** Returns the promise, or rejects with the message after {@link MISSING_EVENT_MS}. */
export async function withinLimit<Value>(
  promise: Promise<Value>,
  otherwise: string,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new AssertionError({ message: otherwise }));
    }, MISSING_EVENT_MS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
