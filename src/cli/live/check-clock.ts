import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import type { Exchange } from "./timed-fetch.js";

/** Seconds that the provider may be behind before it is an error: its ID tokens lose that much of their life. */
const MAX_BEHIND = 60;

/** The provider's clock against this machine's, for certain: what the answer's way and the header's whole seconds leave open is left out. */
interface Offset {
  /** Seconds, positive when the provider is ahead: the smallest that is possible. */
  readonly least: number;
  /** Whole seconds, the most likely. */
  readonly likely: number;
}

/** What the Date headers tell about the provider's clock. Pure. */
export function clockFindings(
  exchanges: readonly Exchange[],
  clockTolerance: number,
): { readonly offset: number | null; readonly findings: readonly Finding[] } {
  const offset = offsetOf(exchanges);
  if (offset === undefined) return { offset: null, findings: [] };
  const { least, likely } = offset;
  const seconds = `about ${Math.abs(likely)} seconds`;
  // An ID token from the future is refused (`iat`), and each one is.
  if (least > clockTolerance) {
    const message = `The provider's clock is ${seconds} ahead of this machine's: each of its ID tokens would be refused as issued in the future.`;
    return { offset: likely, findings: [check("E110", message)] };
  }
  if (least < -MAX_BEHIND) {
    const message = `The provider's clock is ${seconds} behind this machine's: its ID tokens lose that much of their life, or all of it.`;
    return { offset: likely, findings: [check("E110", message)] };
  }
  if (least < -clockTolerance) {
    const message = `The provider's clock is ${seconds} behind this machine's: its ID tokens expire that much too early.`;
    return { offset: likely, findings: [check("W106", message)] };
  }
  return { offset: likely, findings: [] };
}

function offsetOf(exchanges: readonly Exchange[]): Offset | undefined {
  const samples = exchanges.flatMap((exchange) => {
    const date = exchange.date === null ? NaN : Date.parse(exchange.date);
    return Number.isNaN(date) ? [] : [{ ...exchange, date }];
  });
  // A cache answers no POST, and the token endpoint is where ID tokens get their times from.
  const sample = samples.findLast(({ method }) => method === "POST") ?? samples.find(({ age }) => age === null || age === "0");
  if (sample === undefined) return undefined;
  // The header was written between the two times, and stands for a whole second.
  const earliest = sample.date - sample.receivedAt;
  const latest = sample.date + 1000 - sample.sentAt;
  const least = earliest > 0 ? earliest : latest < 0 ? latest : 0;
  return { least: least / 1000, likely: least === 0 ? 0 : Math.round((earliest + latest) / 2000) };
}
