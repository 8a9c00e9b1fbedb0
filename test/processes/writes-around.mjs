import { methodsOf } from "../support/store-with-replaceable-methods.mjs";

/**
 * @callback Around
 * @param {string} method of the store
 * @param {() => Promise<any>} work the write
 * @returns {Promise<any>} what the write gives
 */

/**
 * A store with something around each of its writes, except the time stamps of `touch`.
 *
 * @param {import("idpauth").SessionStore} store
 * @param {Around} around
 * @returns {import("idpauth").SessionStore}
 */
export function writesAround(store, around) {
  return {
    ...methodsOf(store),
    insert: (key, entry) => around("insert", () => store.insert(key, entry)),
    delete: (key) => around("delete", () => store.delete(key)),
    replace: (key, entry, version) => around("replace", () => store.replace(key, entry, version)),
  };
}
