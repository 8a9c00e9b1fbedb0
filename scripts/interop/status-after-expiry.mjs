// What a session comes to once its tokens have expired.
import { eventually } from "./application/tab.mjs";

/** Seconds after which a session must answer with 200 or 401, and no longer with 503. */
const SETTLED_SECONDS = 40;

/**
 * @param {import("./application/tab.mjs").Tab} tab
 * @param {200 | 401} expected
 * @returns {Promise<string | undefined>} what the session answers instead, once its tokens have
 *   expired and it isn't 503
 */
export async function wrongStatusAfterExpiry(tab, expected) {
  await tab.untilExpired();
  let status = 503;
  await eventually(async () => {
    ({ status } = await tab.fetch("/api/session"));
    return status !== 503;
  }, SETTLED_SECONDS).catch(() => undefined);
  return status === expected ? undefined : `status ${status}`;
}
