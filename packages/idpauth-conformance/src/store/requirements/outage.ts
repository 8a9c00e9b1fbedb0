import assert from "node:assert/strict";
import type { InsertedEntry } from "idpauth/testing";
import type { CheckedMethod, StoreUnderTest } from "../store-under-test.js";
import { soon, watching } from "./ends.js";
import type { StoreRequirement } from "./requirement.js";
import {
  dataFor,
  entryOf,
  fieldsOf,
  inserted,
  listedBoth,
  LIFE_SECONDS,
  newKey,
  sameBytes,
  sameData,
} from "./store-steps.js";

const method = "outage";
const needs = "outage";

/** Milliseconds that a store may need to reconnect to its server. */
const RETURN_LIMIT_MS = 30_000;
/** Milliseconds between two checks for the reconnection. */
const LOOK_INTERVAL_MS = 20;
/** The number of later calls after which a refused write can no longer take effect. */
const LATER_CALLS = 20;

const SECRET = "secret bytes of an encrypted record";

/** Requirements during and after an outage of the store's server. */
export const outageRequirements: readonly StoreRequirement[] = [
  {
    method,
    title: "every method rejects in time, and none reports an existing entry as absent",
    guarantees: [7],
    properties: [],
    consequence: "A user with a session would count as signed out, or wait without a response.",
    needs,
    async check(under) {
      for (const { method: asked, mistake } of await duringOutage(under, await prepared(under))) {
        assert.ok(
          mistake === undefined,
          `while the server was away, ${asked} ${mistake ?? ""}; it must reject with an Error in time`,
        );
      }
    },
  },
  {
    method,
    title: "after an outage, every entry still exists and the store works again",
    guarantees: [7],
    properties: [],
    consequence: "Users would be signed out by the outage.",
    needs,
    async check(under) {
      const { kept, subject, summary } = await prepared(under);
      await away(under, () => under.store.get(kept.key).catch(() => undefined));
      await whenBack(async () => {
        const stored = await under.store.get(kept.key);
        assert.ok(stored !== undefined, "the entry is gone");
        sameData(stored, kept.entry.data);
        sameBytes(stored.summary, summary);
        assert.deepEqual(fieldsOf(stored), fieldsOf({ ...kept.entry, version: kept.version }));
        for (const listed of await listedBoth(under.store, subject))
          assert.ok(listed.includes(kept.key), "the entry is not listed any more");
        const { key } = await inserted(under, "after the outage");
        assert.notEqual(
          await under.store.delete(key),
          undefined,
          "what was inserted after the outage is not there",
        );
      });
    },
  },
  {
    method,
    title: "after an outage, no refused operation is executed",
    guarantees: [7],
    properties: [],
    consequence:
      "A logout that failed would sign the user out later, or an abandoned session would appear.",
    needs,
    async check(under) {
      const there = await prepared(under);
      await duringOutage(under, there);
      // A delayed write may still arrive, so other calls run first.
      for (let call = 0; call < LATER_CALLS; call += 1) {
        await whenBack(() => nothingIsDone(under, there));
        await whenBack(async () => {
          await inserted(under, "after the outage");
        });
      }
    },
  },
  {
    method,
    title:
      "announceEnd, if the store has it, does not reject, and watchers learn that they are not connected",
    guarantees: [],
    properties: ["ends"],
    consequence:
      "A logout would fail because of its announcement, or open connections would outlive their sessions.",
    needs,
    async check(under) {
      const { store } = under;
      if (store.watchEnds === undefined)
        return away(under, async () => store.announceEnd?.(newKey(), "logged_out"));
      await watching([store], ([watcher]) =>
        away(under, async () => {
          await store.announceEnd?.(newKey(), "logged_out");
          await soon(
            () => watcher?.isConnected() === false,
            "a watcher was not told of the outage",
          );
        }),
      );
    },
  },
  {
    method,
    title: "no error contains the data of the operation",
    guarantees: [],
    properties: ["secrecy"],
    consequence: "The encrypted data would be written to logs.",
    needs,
    async check(under) {
      for (const { method: asked, error } of await duringOutage(under, await prepared(under))) {
        for (const form of ["utf8", "base64", "base64url", "hex"] as const) {
          const text = Buffer.from(SECRET).toString(form).replace(/=+$/, "");
          assert.ok(
            !everythingIn(error).includes(text),
            `the error of ${asked} shows what was to be stored`,
          );
        }
      }
    },
  },
];

/** The entries before the outage: one for each method that could change it. */
interface Prepared {
  readonly kept: InsertedEntry;
  readonly replaced: InsertedEntry;
  readonly touched: InsertedEntry;
  readonly deleted: InsertedEntry;
  /** The subject of all four entries. */
  readonly subject: string;
  readonly summary: Uint8Array;
  /** A key without an entry. */
  readonly fresh: string;
}

async function prepared(under: StoreUnderTest): Promise<Prepared> {
  const subject = newKey();
  const summary = new Uint8Array([1, 2, 3]);
  const fields = { subject, sid: subject, summary, lastActive: under.now() - 100 };
  return {
    kept: await inserted(under, "kept", fields),
    replaced: await inserted(under, "replaced", fields),
    touched: await inserted(under, "touched", fields),
    deleted: await inserted(under, "deleted", fields),
    subject,
    summary,
    fresh: newKey(),
  };
}

interface Outcome {
  readonly method: CheckedMethod;
  /** What the method did instead of rejecting with an Error in time; undefined if it rejected. */
  readonly mistake: string | undefined;
  readonly error: unknown;
}

/** Calls every method twice during the outage: before and after the store has noticed it. */
async function duringOutage(under: StoreUnderTest, there: Prepared): Promise<Outcome[]> {
  const { store } = under;
  const getMany = store.getMany?.bind(store);
  const entry = entryOf(under, "", {
    data: dataFor(store, SECRET),
    subject: there.subject,
    summary: new TextEncoder().encode(SECRET),
  });
  const ask = (): Promise<Outcome[]> =>
    Promise.all([
      outcomeOf("get", () => store.get(there.kept.key)),
      outcomeOf("insert", () => store.insert(there.fresh, entry)),
      outcomeOf("replace", () => store.replace(there.replaced.key, entry, there.replaced.version)),
      outcomeOf("touch", () =>
        store.touch(there.touched.key, under.now(), under.now() + 2 * LIFE_SECONDS),
      ),
      outcomeOf("delete", () => store.delete(there.deleted.key)),
      outcomeOf("listBySubject", () => store.listBySubject(there.subject)),
      outcomeOf("listBySid", () => store.listBySid(there.subject)),
      ...(getMany === undefined ? [] : [outcomeOf("getMany", () => getMany([there.kept.key]))]),
    ]);
  const outcomes: Outcome[] = [];
  await away(under, async () => {
    outcomes.push(...(await ask()));
    outcomes.push(...(await ask()));
  });
  return outcomes;
}

/** Runs the work during an outage. The outage ends even if the work fails. */
async function away({ outage }: StoreUnderTest, work: () => Promise<unknown>): Promise<void> {
  assert.ok(outage !== undefined, "there is no outage");
  try {
    await outage.begin();
    await work();
  } finally {
    await outage.end();
  }
}

async function outcomeOf(asked: CheckedMethod, question: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { method: asked, mistake: `returned ${shown(await question())}`, error: undefined };
  } catch (error) {
    return { method: asked, mistake: mistakeIn(error), error };
  }
}

function mistakeIn(error: unknown): string | undefined {
  // An AssertionError comes from the check: the result was late or of the wrong type.
  if (error instanceof assert.AssertionError) return `failed: ${error.message}`;
  return error instanceof Error ? undefined : "rejected with what is no Error";
}

function shown(result: unknown): string {
  if (typeof result === "boolean" || result === undefined) return String(result);
  if (result instanceof Map) return `${result.size} entries`;
  return "entries" in (result as object) ? "a page of entries" : "an entry";
}

/** Repeats the work while the store rejects. Reconnecting may take time and several attempts. */
async function whenBack(work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (error instanceof assert.AssertionError || performance.now() - started > RETURN_LIMIT_MS)
        throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
}

async function nothingIsDone({ store }: StoreUnderTest, there: Prepared): Promise<void> {
  assert.equal(await store.get(there.fresh), undefined, "an insert that was refused has been done");
  const replaced = await store.get(there.replaced.key);
  // Another requirement checks for entries that the server has lost.
  if ((await store.get(there.kept.key)) === undefined) return;
  assert.equal(
    replaced?.version,
    there.replaced.version,
    "a replace that was refused has been done",
  );
  const touched = await store.get(there.touched.key);
  const { lastActive, expiresAt } = there.touched.entry;
  assert.deepEqual(
    [touched?.lastActive, touched?.expiresAt],
    [lastActive, expiresAt],
    "a touch that was refused has been done",
  );
  assert.notEqual(
    await store.get(there.deleted.key),
    undefined,
    "a delete that was refused has been done",
  );
}

/** Returns all text in an error that a log could contain. */
function everythingIn(error: unknown): string {
  const seen = new Set<unknown>();
  const walk = (value: unknown): string => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
    if (typeof value !== "object" || value === null) return String(value);
    if (seen.has(value)) return "";
    seen.add(value);
    return Object.getOwnPropertyNames(value)
      .map((name) => walk((value as Record<string, unknown>)[name]))
      .join("\n");
  };
  return walk(error);
}
