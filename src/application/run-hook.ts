import type { Clock } from "../clock.js";
import { HookFailedError, isOutage, type HookName } from "../errors.js";

/**
 * Runs a function of the application with a time limit.
 *
 * @param seconds the limit
 * @throws HookFailedError it threw, or its time is over
 */
export async function runHook<Result>(
  hook: HookName,
  seconds: number,
  clock: Clock,
  run: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let cancel: (() => void) | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    cancel = clock.timer(seconds * 1000, () => {
      reject(new HookFailedError(hook, "timeout"));
      controller.abort(new DOMException("The hook took too long.", "TimeoutError"));
    });
  });
  try {
    return await Promise.race([(async () => run(controller.signal))(), timeout]);
  } catch (error) {
    // An outage that the hook passes on, such as the store's, is an outage like any other.
    throw error instanceof HookFailedError || isOutage(error) ? error : new HookFailedError(hook, "threw", { cause: error });
  } finally {
    cancel?.();
  }
}

/**
 * Where an error was thrown: the first frame of its stack. Never its message, which may contain a token or a claim, and lines that look
 * like frames. Undefined if the message cannot be told from the frames.
 */
export function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== "string") return undefined;
  const { message, stack } = error;
  const start = stack.indexOf(message);
  if (start === -1) return undefined;
  const frame = stack
    .slice(start + message.length)
    .split("\n")
    .find((line) => /^\s+at /.test(line));
  return frame?.trim().slice(0, 200);
}
