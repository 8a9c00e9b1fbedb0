// A step for which the server starts again with other settings.

/**
 * @param {object} settings of the server, while the step runs
 * @param {import("../servers.mjs").Step} step
 * @returns {import("../servers.mjs").Step} for a server whose `restart(settings)` without settings
 *   brings its own ones back
 */
export function withSettings(settings, step) {
  return {
    ...step,
    async run(stage) {
      await stage.server.restart(settings);
      return step.run(stage).finally(() => stage.server.restart());
    },
  };
}
