import type { ClientRequest } from "node:http";
import type { Clock } from "../clock.js";
import { apiTimeout } from "./transport.js";

/**
 * The timeout is checked in as many parts, because the bytes of a connection are counted, but not
 * announced.
 */
const PARTS = 4;

interface IdleTimeout {
  readonly clock: Clock;
  /** Seconds that the API may take for its next byte, also for the first one of its response. */
  readonly timeout: number;
  /** Whether the next byte is the API's matter. */
  isWaiting(): boolean;
  breakOff(reason: Error): void;
}

/**
 * Breaks off a request whose connection has been idle for too long.
 * @returns a function that ends the watch
 */
export function watchIdle(
  outgoing: ClientRequest,
  { clock, timeout, isWaiting, breakOff }: IdleTimeout,
): () => void {
  let [seen, idle] = [0, 0];
  let cancel: () => void;
  const check = () => {
    const { bytesRead = 0, bytesWritten = 0 } = outgoing.socket ?? {};
    idle = bytesRead + bytesWritten === seen && isWaiting() ? idle + 1 : 0;
    seen = bytesRead + bytesWritten;
    if (idle < PARTS) next();
    else breakOff(apiTimeout());
  };
  const next = () => {
    cancel = clock.timer((timeout * 1000) / PARTS, check);
  };
  next();
  return () => {
    cancel();
  };
}
