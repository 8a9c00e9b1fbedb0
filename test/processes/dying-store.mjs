/**
 * A store whose process dies of one of its writes, as by `kill -9`: nothing is finished, nobody is told.
 *
 * @param {import("idpauth").SessionStore} store
 * @param {import("./process-options.js").Death | undefined} death
 * @returns {import("idpauth").SessionStore}
 */
export function dyingStore(store, death) {
  if (death === undefined) return store;
  let replaces = 0;
  return {
    name: store.name,
    ...(store.problems && { problems: store.problems }),
    get: (key) => store.get(key),
    insert: (key, entry) => store.insert(key, entry),
    touch: (key, lastActive, expiresAt) => store.touch(key, lastActive, expiresAt),
    delete: (key) => store.delete(key),
    listBySubject: (subject) => store.listBySubject(subject),
    async replace(key, entry, version) {
      replaces += 1;
      const isLast = replaces === death.replace;
      if (isLast && death.moment === "before") process.kill(process.pid, "SIGKILL");
      const isReplaced = await store.replace(key, entry, version);
      if (isLast) process.kill(process.pid, "SIGKILL");
      return isReplaced;
    },
  };
}
