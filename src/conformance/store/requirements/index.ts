import { contentObligations } from "./content.js";
import { deleteObligations } from "./delete.js";
import { expiryObligations } from "./expiry.js";
import { getObligations } from "./get.js";
import { insertObligations } from "./insert.js";
import { listObligations } from "./list-by-subject.js";
import type { StoreObligation } from "./requirement.js";
import { outageObligations } from "./outage.js";
import { processObligations } from "./processes.js";
import { replaceObligations } from "./replace.js";
import { touchObligations } from "./touch.js";

/** THE table: everything that a store owes. */
export const storeObligations: readonly StoreObligation[] = [
  ...getObligations,
  ...insertObligations,
  ...replaceObligations,
  ...touchObligations,
  ...deleteObligations,
  ...listObligations,
  ...expiryObligations,
  ...contentObligations,
  ...processObligations,
  ...outageObligations,
];
