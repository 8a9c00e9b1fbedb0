// Many requests at the moment when the session's tokens have expired.
import { seconds } from "../application/tab.mjs";

const REQUESTS = 50;
/** Seconds within which a session must answer again after a process was killed. */
const RECOVERY_SECONDS = 40;

/**
 * @param {import("../application/start.mjs").ApplicationOptions} [application]
 * @param {number} [rounds] expiries
 * @returns {import("../servers.mjs").Step}
 */
export function refreshRaceStep(application = {}, rounds = 3) {
  return {
    key: "refresh-race",
    title: `${REQUESTS} requests at once after the expiry, over two processes with one Redis, cause one token request, and all succeed${rounds === 1 ? "" : `; ${rounds} times in a row`}.`,
    run: (stage) =>
      stage.withApplication({ ...application, processes: 2 }, async ({ newTab }) => {
        const tab = await newTab();
        await tab.signIn("ada");
        for (let round = 0; round < rounds; round += 1) {
          await tab.untilExpired();
          const before = await stage.server.tokenRequests();
          const answers = await tab.fetchMany("/api/session", REQUESTS);
          const requests = (await stage.server.tokenRequests()) - before;
          const good = answers.filter(({ status }) => status === 200).length;
          if (good !== REQUESTS || requests !== 1)
            return `round ${round + 1}: ${good} of ${REQUESTS} succeed, ${requests} token requests`;
        }
        return undefined;
      }),
  };
}

/**
 * @param {import("../application/start.mjs").ApplicationOptions} [application]
 * @returns {import("../servers.mjs").Step}
 */
export function killedProcessStep(application = {}) {
  return {
    key: "killed-process",
    title: `One of two processes is killed in the middle of ${REQUESTS} requests after the expiry: the other one answers with 200, or with 401 if the killed one had used the refresh token; never with an error of its own. Another user's session isn't affected.`,
    run: (stage) =>
      stage.withApplication({ ...application, processes: 2 }, async ({ newTab, kill }) => {
        const [tab, other] = [await newTab(), await newTab()];
        await tab.signIn("ada");
        await other.signIn("grace");
        await tab.untilExpired();
        const asked = tab.fetchMany("/api/session", REQUESTS);
        await seconds(0.03);
        await kill(0);
        const answers = (await asked).filter((_, index) => index % 2 === 1);
        const wrong = answers.filter(({ status }) => ![200, 401, 503].includes(status));
        if (wrong.length > 0) return `status ${wrong[0]?.status} from the process that lives`;
        const status = await settledStatus(tab);
        if (status !== 200 && status !== 401) return `status ${status} after ${RECOVERY_SECONDS} s`;
        const { status: untouched } = await other.fetch("/api/session", { process: 1 });
        return untouched === 200 ? undefined : `status ${untouched} for the other user`;
      }),
  };
}

/**
 * @param {import("../application/tab.mjs").Tab} tab
 * @returns {Promise<number>} the status at the second process, once it isn't 503
 */
async function settledStatus(tab) {
  let status = 0;
  for (let second = 0; second < RECOVERY_SECONDS; second += 1) {
    ({ status } = await tab.fetch("/api/session", { process: 1 }));
    if (status !== 503) break;
    await seconds(1);
  }
  return status;
}
