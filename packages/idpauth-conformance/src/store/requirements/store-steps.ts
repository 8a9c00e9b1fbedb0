import assert from "node:assert/strict";
import type { SessionStore } from "idpauth";
import type { EpochSeconds, Stored } from "idpauth/adapter";
import { storeSteps } from "idpauth/testing";
import type { StoreUnderTest } from "../store-under-test.js";

/** What `idpauth check --live` does with a store, too. */
export const {
  LIFE_SECONDS,
  ROUNDS,
  WRITERS,
  newKey,
  dataFor,
  sameData,
  sameBytes,
  entryOf,
  inserted,
  insertedAs,
  versionOf,
  fieldsOf,
  listed,
  isAbsent,
  atOnce,
  oneWinner,
} = storeSteps;

export function textOf(stored: Stored | undefined): string {
  assert.ok(stored !== undefined, "the entry is gone");
  return stored.data instanceof Uint8Array
    ? new TextDecoder().decode(stored.data)
    : String(stored.data.final_redirect);
}

/** Returns the keys with this hash as their subject, and those with it as their sid. */
export async function listedBoth(
  store: SessionStore,
  hash: string,
): Promise<[bySubject: string[], bySid: string[]]> {
  const [bySubject, bySid] = await Promise.all([
    listed(store, "listBySubject", hash),
    listed(store, "listBySid", hash),
  ]);
  return [[...bySubject.keys()].sort(), [...bySid.keys()].sort()];
}

/** Returns what {@link listedBoth} returns for sessions with one hash as their subject and sid. */
export function both(...keys: string[]): [string[], string[]] {
  return [[...keys].sort(), [...keys].sort()];
}

/** Lets time pass until the store's own time is `time`. */
export async function until(under: StoreUnderTest, time: EpochSeconds): Promise<void> {
  for (let attempt = 0; under.now() < time; attempt += 1) {
    assert.ok(attempt < 100, "advance() lets no time pass: now() stays the same");
    await under.advance(time - under.now());
  }
}

/**
 * Gives a store that writes later than it results the time to do so: some turns of the event loop,
 * and short timers.
 */
export function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Counts up from many writers at once, each of which reads and replaces until it succeeds, and
 * checks the sum.
 */
export async function countTogether(
  under: StoreUnderTest,
  stores: readonly SessionStore[],
  times: number,
): Promise<void> {
  const { key } = await inserted(under, "0");
  const count = async (store: SessionStore): Promise<void> => {
    for (let done = 0, tries = 0; done < times; tries += 1) {
      // A try fails only because another writer's try has succeeded.
      assert.ok(
        tries <= stores.length * times,
        "of many writers that read and replace, none succeeds",
      );
      const stored = await store.get(key);
      assert.ok(stored !== undefined, "the entry is gone");
      const next = entryOf(under, String(Number(textOf(stored)) + 1));
      if (await store.replace(key, next, stored.version)) done += 1;
    }
  };
  await Promise.all(stores.map(count));
  assert.equal(
    textOf(await under.store.get(key)),
    String(stores.length * times),
    "writes were lost",
  );
}

/** Returns a second store over the same data. Use it only in requirements that need `another`. */
export async function anotherStore(under: StoreUnderTest): Promise<SessionStore> {
  const other = await under.another?.();
  assert.ok(other !== undefined, "there is no another()");
  return other;
}
