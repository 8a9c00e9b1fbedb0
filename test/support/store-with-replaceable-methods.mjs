/**
 * A store as a plain object whose methods call the given one's, so that a test can replace some.
 *
 * @param {import("../../src/index.js").SessionStore} store
 * @returns {import("../../src/index.js").SessionStore}
 */
export function methodsOf(store) {
  return {
    name: store.name,
    ...(store.problems && { problems: store.problems }),
    get: (key) => store.get(key),
    insert: (key, entry) => store.insert(key, entry),
    replace: (key, entry, version) => store.replace(key, entry, version),
    touch: (key, lastActive, expiresAt) => store.touch(key, lastActive, expiresAt),
    delete: (key) => store.delete(key),
    listBySubject: (subject, cursor) => store.listBySubject(subject, cursor),
    listBySid: (sid, cursor) => store.listBySid(sid, cursor),
  };
}
