// A step of a user who has signed in.

/**
 * @param {import("../application/start.mjs").ApplicationOptions} options of the application
 * @param {(tab: import("../application/tab.mjs").Tab, application: import("../application/start.mjs").RunningApplication, stage: import("../servers.mjs").Stage) => Promise<string | undefined>} use
 *   gets ada's window
 * @returns {import("../servers.mjs").Step["run"]}
 */
export function asAda(options, use) {
  return (stage) =>
    stage.withApplication(options, async (application) => {
      const tab = await application.newTab();
      await tab.signIn("ada");
      return use(tab, application, stage);
    });
}
