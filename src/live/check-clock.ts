import type { UnnamedFinding } from "../config/findings.js";
import { liveCheck } from "./live-check-table.js";
import type { Exchange } from "./timed-fetch.js";

/**
 * If the provider's clock is further behind, it is an error: ID tokens expire that much
 * earlier.
 */
const MAX_BEHIND_SECONDS = 60;

/**
 * The difference of the clocks. The time of the request and the header's whole seconds make it
 * uncertain.
 */
interface Offset {
  /** Seconds, positive if the provider is ahead: the smallest possible difference. */
  readonly least: number;
  /** Whole seconds: the most likely difference. */
  readonly likely: number;
}

/**
 * Compares the provider's clock with this machine's clock, from the Date headers of responses.
 * Pure.
 */
export function clockFindings(
  exchanges: readonly Exchange[],
  clockTolerance: number,
): { readonly offset: number | null; readonly findings: readonly UnnamedFinding[] } {
  const offset = offsetOf(exchanges);
  if (offset === undefined) return { offset: null, findings: [] };
  const { least, likely } = offset;
  const seconds = `about ${Math.abs(likely)} seconds`;
  // Each ID token would be refused, since its `iat` is in the future.
  if (least > clockTolerance) {
    const message = `The provider's clock is ${seconds} ahead of this machine's clock. idpauth would refuse each of its ID tokens as issued in the future.`;
    return { offset: likely, findings: [liveCheck("E110", message)] };
  }
  if (least < -MAX_BEHIND_SECONDS) {
    const message = `The provider's clock is ${seconds} behind this machine's clock. ID tokens expire too early by that time, or have already expired when they arrive.`;
    return { offset: likely, findings: [liveCheck("E110", message)] };
  }
  if (least < -clockTolerance) {
    const message = `The provider's clock is ${seconds} behind this machine's clock. ID tokens expire too early by that time.`;
    return { offset: likely, findings: [liveCheck("W106", message)] };
  }
  return { offset: likely, findings: [] };
}

function offsetOf(exchanges: readonly Exchange[]): Offset | undefined {
  const samples = exchanges.flatMap((exchange) => {
    const date = exchange.date === null ? NaN : Date.parse(exchange.date);
    return Number.isNaN(date) ? [] : [{ ...exchange, date }];
  });
  // No cache responds to a POST, and the token endpoint sets the times of ID tokens.
  const sample =
    samples.findLast(({ method }) => method === "POST") ??
    samples.find(({ age }) => age === null || age === "0");
  if (sample === undefined) return undefined;
  // The server wrote the header between the two times, in whole seconds.
  const earliest = sample.date - sample.receivedAt;
  const latest = sample.date + 1000 - sample.sentAt;
  const least = earliest > 0 ? earliest : latest < 0 ? latest : 0;
  return { least: least / 1000, likely: least === 0 ? 0 : Math.round((earliest + latest) / 2000) };
}
