import { writesAround } from "./writes-around.mjs";

/** @typedef {import("./process-options.js").Suspension} Suspension */

/** Until the process gets SIGCONT. */
function suspend() {
  process.kill(process.pid, "SIGSTOP");
}

/**
 * A store whose process suspends itself around one of its writes.
 *
 * @param {import("idpauth").SessionStore} store
 * @param {Suspension | undefined} suspension
 * @returns {import("idpauth").SessionStore}
 */
export function suspendingStore(store, suspension) {
  if (suspension === undefined || suspension.method === "send") return store;
  const { method: watched, number, moment } = suspension;
  let calls = 0;
  /** @type {import("./writes-around.mjs").Around} */
  async function around(method, work) {
    if (method !== watched) return work();
    calls += 1;
    if (calls !== number) return work();
    if (moment === "before") suspend();
    const running = work();
    if (moment === "during") {
      // Drivers send in the next turn at the latest.
      await new Promise((resolve) => setImmediate(resolve));
      suspend();
    }
    const result = await running;
    if (moment === "after") suspend();
    return result;
  }
  return writesAround(store, around);
}

/**
 * Has the process suspend itself just before it sends a token request.
 *
 * @param {Suspension | undefined} suspension
 */
export function suspendAtRequest(suspension) {
  if (suspension?.method !== "send") return;
  const send = globalThis.fetch;
  let isDone = false;
  globalThis.fetch = (input, init) => {
    const isIt =
      init?.body instanceof URLSearchParams && init.body.get("grant_type") === suspension.grant;
    if (isIt && !isDone) {
      isDone = true;
      suspend();
    }
    return send(input, init);
  };
}
