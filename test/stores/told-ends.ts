import { expect } from "vitest";
import type { EndWatcher } from "../../src/ports/session-store.js";
import { eventually } from "../support/eventually.js";

/** A watcher that notes what it is told of, each as one line. */
export function told(): EndWatcher & { readonly log: string[] } {
  const log: string[] = [];
  return {
    log,
    ended: (key, reason) => void log.push(`${key} ${reason}`),
    connected: (value) => void log.push(String(value)),
  };
}

/** Waits until the last line is this one. */
export async function last(
  { log }: { readonly log: readonly string[] },
  word: string,
): Promise<void> {
  await eventually(() => {
    expect(log.at(-1)).toBe(word);
    return Promise.resolve();
  });
}
