// A step in a realm of its own, which it may change.

/**
 * @param {import("../servers.mjs").Step} step
 * @param {import("./realm.mjs").RealmWish} [wish]
 * @returns {import("../servers.mjs").Step}
 */
export function inOwnRealm(step, wish) {
  return {
    ...step,
    async run(stage) {
      /** @type {import("./keycloak.mjs").KeycloakServer} */
      const server = await stage.server.newServer(wish);
      try {
        return await step.run({
          ...stage,
          server,
          withApplication: (options, use) => stage.withApplication({ ...options, server }, use),
        });
      } finally {
        await server.realm.remove();
      }
    },
  };
}
