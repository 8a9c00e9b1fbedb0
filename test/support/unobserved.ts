import type { Operations } from "../../src/ports/observer.js";

/** Operations that nothing watches. */
export const unobserved: Operations = { observer: undefined, run: (_operation, work) => work() };
