import { AssertionError } from "node:assert/strict";

/** Milliseconds after which what should come at once is taken for what never comes. */
const LIMIT = 5_000;

/** The promise, or a failure that says what is missing. */
export async function withinLimit<Value>(promise: Promise<Value>, otherwise: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new AssertionError({ message: otherwise }));
    }, LIMIT);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
