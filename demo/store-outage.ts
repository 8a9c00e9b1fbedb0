import type { SessionStore } from "idpauth";

export interface StoreWithOutage {
  readonly store: SessionStore;
  /** For so many milliseconds from now on, every operation fails. */
  fail(milliseconds: number): void;
}

/** The operations that an outage of the database behind the store would break. */
const OPERATIONS = /^(?:get|insert|replace|touch|delete|list|announce)/;

/** Returns the store with a switch for the outage button. */
export function withOutage(store: SessionStore): StoreWithOutage {
  let awayUntil = 0;
  return {
    store: new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...values: unknown[]): unknown =>
          OPERATIONS.test(String(name)) && performance.now() < awayUntil
            ? Promise.reject(new Error("The demo's outage button has stopped the store."))
            : Reflect.apply(member, target, values);
      },
    }),
    fail(milliseconds) {
      awayUntil = performance.now() + milliseconds;
    },
  };
}
