// The provider is away for a while.
import { seconds } from "../application/tab.mjs";

/** Seconds within which a session must answer again after an outage; the back-off is shorter. */
const RECOVERY_SECONDS = 60;

/** @typedef {import("../application/tab.mjs").Tab} Tab */

/**
 * @param {object} options
 * @param {string} options.key
 * @param {string} options.title
 * @param {(server: any) => Promise<void>} options.begin
 * @param {(server: any) => Promise<void>} options.end
 * @returns {import("../servers.mjs").Step}
 */
export function outageStep({ key, title, begin, end }) {
  return {
    key,
    title,
    run: (stage) =>
      stage.withApplication({}, async (application) => {
        const tab = await application.newTab();
        await tab.signIn();
        await tab.untilExpired();
        await begin(stage.server);
        const wrong = await duringOutage(tab).finally(() => end(stage.server));
        return wrong ?? (await afterOutage(tab));
      }),
  };
}

/**
 * @param {object} options
 * @param {string} options.name of the server, in the title
 * @param {string} [options.key]
 * @param {(server: any) => Promise<void>} [options.start] default: `restart()`
 * @returns {import("../servers.mjs").Step} for a server with `stop()`
 */
export function stoppedStep({ name, key = "restart", start = (server) => server.restart() }) {
  return outageStep({
    key,
    title: `While ${name} is stopped, the response is 503 with Retry-After; once it is back, the same session works again.`,
    begin: (server) => server.stop(),
    end: start,
  });
}

/** Seconds for which a frozen server answers nothing. */
const FROZEN_SECONDS = 20;

/**
 * @param {string} name of the server
 * @returns {import("../servers.mjs").Step} for a server with `freeze()` and `thaw()`
 */
export function frozenStep(name) {
  return outageStep({
    key: "frozen",
    title: `${name} accepts connections, but answers nothing for ${FROZEN_SECONDS} seconds: 503 with Retry-After, and afterwards the same session goes on.`,
    begin: async (server) => server.freeze(),
    end: async (server) => {
      await seconds(FROZEN_SECONDS);
      server.thaw();
    },
  });
}

/** @param {Tab} tab */
async function duringOutage(tab) {
  for (const path of ["/api/session", "/idpauth/session"]) {
    const { status, headers } = await tab.fetch(path);
    if (status !== 503) return `${path}: status ${status} in the outage`;
    if (!("retry-after" in headers)) return `${path}: no Retry-After`;
  }
  return undefined;
}

/** @param {Tab} tab */
export async function afterOutage(tab) {
  let status = 0;
  for (let second = 0; second < RECOVERY_SECONDS; second += 1) {
    ({ status } = await tab.fetch("/api/session"));
    if (status !== 503) break;
    await seconds(1);
  }
  return status === 200 ? undefined : `status ${status} after the outage`;
}
