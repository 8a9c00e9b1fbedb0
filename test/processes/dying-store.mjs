import { writesAround } from "./writes-around.mjs";

/**
 * A store whose process dies of one of its writes, as by `kill -9`: nothing is finished, nobody is
 * told.
 *
 * @param {import("idpauth").SessionStore} store
 * @param {import("./process-options.js").Death | undefined} death
 * @returns {import("idpauth").SessionStore}
 */
export function dyingStore(store, death) {
  if (death === undefined) return store;
  let calls = 0;
  /** @type {import("./writes-around.mjs").Around} */
  async function around(method, work) {
    if (method !== death?.method) return work();
    calls += 1;
    const isLast = calls === death.number;
    if (isLast && death.moment === "before") process.kill(process.pid, "SIGKILL");
    const result = await work();
    if (isLast) process.kill(process.pid, "SIGKILL");
    return result;
  }
  return writesAround(store, around);
}
