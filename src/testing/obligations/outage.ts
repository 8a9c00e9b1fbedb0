import assert from "node:assert/strict";
import type { StoreMethod, StoreUnderTest } from "../store-under-test.js";
import type { StoreObligation } from "./obligation.js";
import { dataFor, entryOf, inserted, LONG, newKey, sameBytes, sameData, type Inserted } from "./samples.js";

const method = "outage";
const needs = "outage";

/** Milliseconds that a store may need to find its server again. */
const RETURN_LIMIT = 30_000;
/** Milliseconds between two looks at whether it has. */
const LOOK_INTERVAL = 20;
/** How many calls are answered before what was refused counts as refused for good. */
const LATER_CALLS = 20;

const SECRET = "sealed bytes that nobody may read";

/** What holds while the store's server is away, and after. */
export const outageObligations: readonly StoreObligation[] = [
  {
    method,
    promise: "every method rejects in time, and none says that what is there is not",
    guarantees: [7],
    others: [],
    why: "A visitor whose session is there would be taken for signed out, or wait without an answer.",
    needs,
    async check(under) {
      const there = await prepared(under);
      const outcomes = await duringOutage(under, there);
      for (const { method: asked, answer } of outcomes) {
        assert.equal(answer, undefined, `${asked} answered ${String(answer)} while the server was away; it must reject`);
      }
    },
  },
  {
    method,
    promise: "after it everything is there that was, and nothing is done later that was refused",
    guarantees: [6, 7],
    others: ["everywhere"],
    why: "Visitors would be signed out by the outage, or a write of long ago run over what has been written since.",
    needs,
    async check(under) {
      const there = await prepared(under);
      await duringOutage(under, there);
      // What was held back may still be on its way: other calls go first, so that it had its chance.
      for (let call = 0; call < LATER_CALLS; call += 1) {
        await whenBack(() => isAsBefore(under, there));
        await whenBack(async () => {
          const { key } = await inserted(under, "after the outage");
          assert.notEqual(await under.store.delete(key), undefined, "what was inserted after the outage is not there");
        });
      }
    },
  },
  {
    method,
    promise: "no error shows what was to be stored",
    guarantees: [],
    others: ["secrecy"],
    why: "What is sealed would be written to logs.",
    needs,
    async check(under) {
      const there = await prepared(under);
      const outcomes = await duringOutage(under, there);
      for (const { method: asked, error } of outcomes) {
        for (const form of ["utf8", "base64", "base64url", "hex"] as const) {
          const text = Buffer.from(SECRET).toString(form).replace(/=+$/, "");
          assert.ok(!everythingIn(error).includes(text), `the error of ${asked} shows what was to be stored`);
        }
      }
    },
  },
];

/** What is there before the outage: one entry for each method that could spoil it. */
interface Prepared {
  readonly kept: Inserted;
  readonly replaced: Inserted;
  readonly touched: Inserted;
  readonly deleted: Inserted;
  /** Of all four. */
  readonly subject: string;
  readonly summary: Uint8Array;
  /** Not there. */
  readonly fresh: string;
}

async function prepared(under: StoreUnderTest): Promise<Prepared> {
  const subject = newKey();
  const summary = new Uint8Array([1, 2, 3]);
  const fields = { subject, summary, lastActive: under.now() - 100 };
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
  readonly method: StoreMethod;
  /** What it answered although it could not know; undefined: it rejected, as it must. */
  readonly answer: string | undefined;
  readonly error: unknown;
}

/** Asks every method while the server is away, twice: the first to find out, and one that knows. */
async function duringOutage(under: StoreUnderTest, there: Prepared): Promise<Outcome[]> {
  const { store, outage } = under;
  assert.ok(outage !== undefined);
  const entry = entryOf(under, "", { data: dataFor(store, SECRET), subject: there.subject, summary: new TextEncoder().encode(SECRET) });
  const ask = (): Promise<Outcome[]> =>
    Promise.all([
      outcomeOf("get", () => store.get(there.kept.key)),
      outcomeOf("insert", () => store.insert(there.fresh, entry)),
      outcomeOf("replace", () => store.replace(there.replaced.key, entry, there.replaced.version)),
      outcomeOf("touch", () => store.touch(there.touched.key, under.now(), under.now() + 2 * LONG)),
      outcomeOf("delete", () => store.delete(there.deleted.key)),
      outcomeOf("listBySubject", () => store.listBySubject(there.subject)),
    ]);
  try {
    await outage.begin();
    return [...(await ask()), ...(await ask())];
  } finally {
    await outage.end();
  }
}

async function outcomeOf(asked: StoreMethod, question: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { method: asked, answer: shown(await question()), error: undefined };
  } catch (error) {
    // Not the store's: its answer was late, or of the wrong kind.
    if (error instanceof assert.AssertionError) throw error;
    assert.ok(error instanceof Error, `${asked} rejected with what is no Error`);
    return { method: asked, answer: undefined, error };
  }
}

function shown(answer: unknown): string {
  if (typeof answer === "boolean" || answer === undefined) return `with ${String(answer)}`;
  return Array.isArray(answer) ? `with ${answer.length} keys` : "with an entry";
}

/** Does the work again while the store rejects: finding its server may take it a moment, and several connections. */
async function whenBack(work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (error instanceof assert.AssertionError || performance.now() - started > RETURN_LIMIT) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL));
  }
}

async function isAsBefore({ store }: StoreUnderTest, there: Prepared): Promise<void> {
  for (const name of ["kept", "replaced", "touched", "deleted"] as const) {
    const { key, entry, version } = there[name];
    const stored = await store.get(key);
    assert.ok(
      stored !== undefined,
      name === "deleted" ? "a delete that was refused has been done later" : "an entry is gone after the outage",
    );
    sameData(stored, entry.data);
    sameBytes(stored.summary, there.summary);
    assert.deepEqual(
      [stored.version, stored.lastActive, stored.expiresAt],
      [version, entry.lastActive, entry.expiresAt],
      `a ${name === "touched" ? "touch" : "replace"} that was refused has been done later`,
    );
  }
  assert.equal(await store.get(there.fresh), undefined, "an insert that was refused has been done later");
  const expected = [there.kept, there.replaced, there.touched, there.deleted].map(({ key }) => key).sort();
  assert.deepEqual((await store.listBySubject(there.subject)).sort(), expected, "listBySubject after the outage");
}

/** All the text that a log could take from an error. */
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
