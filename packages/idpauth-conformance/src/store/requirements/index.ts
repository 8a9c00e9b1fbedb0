import { contentRequirements } from "./content.js";
import { deleteRequirements } from "./delete.js";
import { endRequirements } from "./ends.js";
import { expiryRequirements } from "./expiry.js";
import { getManyRequirements } from "./get-many.js";
import { getRequirements } from "./get.js";
import { insertRequirements } from "./insert.js";
import { listRequirements } from "./list.js";
import { lossyIndexRequirements } from "./lossy-index.js";
import { outageRequirements } from "./outage.js";
import { processRequirements } from "./processes.js";
import { replaceRequirements } from "./replace.js";
import type { StoreRequirement } from "./requirement.js";
import { touchRequirements } from "./touch.js";

/** All requirements of a session store, in the order of a report. */
export const storeRequirements: readonly StoreRequirement[] = [
  ...getRequirements,
  ...insertRequirements,
  ...replaceRequirements,
  ...touchRequirements,
  ...deleteRequirements,
  ...listRequirements,
  ...lossyIndexRequirements,
  ...getManyRequirements,
  ...endRequirements,
  ...expiryRequirements,
  ...contentRequirements,
  ...processRequirements,
  ...outageRequirements,
];
