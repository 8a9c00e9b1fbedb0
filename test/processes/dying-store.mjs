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
  /**
   * @template Result
   * @param {string} method
   * @param {() => Promise<Result>} work
   */
  async function around(method, work) {
    if (method !== death?.method) return work();
    calls += 1;
    const isLast = calls === death.number;
    if (isLast && death.moment === "before") process.kill(process.pid, "SIGKILL");
    const result = await work();
    if (isLast) process.kill(process.pid, "SIGKILL");
    return result;
  }
  return {
    name: store.name,
    ...(store.problems && { problems: store.problems }),
    get: (key) => store.get(key),
    insert: (key, entry) => around("insert", () => store.insert(key, entry)),
    touch: (key, lastActive, expiresAt) => store.touch(key, lastActive, expiresAt),
    delete: (key) => around("delete", () => store.delete(key)),
    listBySubject: (subject, cursor) => store.listBySubject(subject, cursor),
    listBySid: (sid, cursor) => store.listBySid(sid, cursor),
    replace: (key, entry, version) => around("replace", () => store.replace(key, entry, version)),
  };
}
