/** How many exchanges go to a provider at a time, and how long a further one waits. */
import type { Clock } from "../clock.js";
import { createSlots, slotsWithin, type Release } from "../work/slots.js";

/**
 * The concurrent requests of one process at one provider, and the milliseconds that a further one
 * waits for a slot. Our decision.
 */
const AT_PROVIDER = { limit: 50, patience: 2_000 };

/**
 * The concurrent requests at a provider from a source: so few that several of them that hang hold
 * a part of all slots. Our decision.
 */
const AT_SOURCED_PROVIDER = 10;

/** The concurrent requests at all providers: enough for several that hang. Our decision. */
const ALL_SLOTS = 4 * AT_PROVIDER.limit;

/** Returns what creates the slots of each provider, which are within those of all. */
export function slotsFor(
  reason: string,
  clock: Clock,
): (isSourced: boolean) => () => Promise<Release> {
  const slots = (limit: number) => createSlots({ ...AT_PROVIDER, limit, reason, clock });
  const common = slots(ALL_SLOTS);
  return (isSourced) =>
    slotsWithin(slots(isSourced ? AT_SOURCED_PROVIDER : AT_PROVIDER.limit), common);
}
