import type { HostObligation } from "./obligation.js";
import { tripObligations } from "./trip.js";

/** THE table: everything that a host owes, in the order of a report. */
export const hostObligations: readonly HostObligation[] = [...tripObligations];
