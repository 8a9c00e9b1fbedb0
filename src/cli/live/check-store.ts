import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import type { SessionStore } from "../../ports/session-store.js";
import type { Environment } from "../../config/read-settings.js";
import { withinTime } from "../../stores/time-limit.js";
import type { StoreFacts } from "./live-facts.js";
import { openStore, type OpenStore } from "./open-store.js";
import { ownWords, storeFailure } from "./explain-store-error.js";
import { STORE_REQUIREMENTS, StoreTrial } from "./store-requirements.js";
import type { CheckIo } from "./check-io.js";

export interface StoreResult {
  readonly fact: StoreFacts | null;
  readonly findings: readonly Finding[];
}

/** Milliseconds for one operation of a store that does not bound its own time, though it owes that. */
const OPERATION = 3_000;
const CLOSE = 2_000;
const READS = 5;

/** Whether the store works and keeps its promises: with entries of its own that are removed again. Closes what it opened. */
export async function checkStore(address: string, env: Environment, io: CheckIo): Promise<StoreResult> {
  const open = await opened(address, env, io);
  if ("code" in open) return { fact: null, findings: [open] };
  try {
    return await tried(open.store, io);
  } finally {
    await withinTime(open.close(), CLOSE).catch(() => undefined);
  }
}

/** A driver that does not understand an address throws, and may repeat it in the error. */
async function opened(address: string, env: Environment, io: CheckIo): Promise<OpenStore | Finding> {
  try {
    return await openStore(address, env, io);
  } catch (error) {
    return check("E111", `The store that --store names cannot be opened: it ${storeFailure(error)}.`);
  }
}

async function tried(store: SessionStore, io: CheckIo): Promise<StoreResult> {
  const problems = (store.problems ?? []).map(({ message, remedy }) => check("E012", message, remedy));
  const name = /^[\w .-]{1,40}$/.test(store.name) ? store.name : "without a name";
  if (problems.length > 0) return { fact: { name, roundTripMs: null }, findings: problems };
  const trial = new StoreTrial(bounded(store), io.clock);
  const findings: Finding[] = [];
  let roundTripMs: number | null = null;
  try {
    roundTripMs = await roundTrip(trial, io);
    await trial.begin();
    for (const promise of STORE_REQUIREMENTS) {
      if (!(await promise.isMet(trial))) findings.push(check("E112", `The ${name} store ${promise.broken}. ${promise.harm}`));
    }
  } catch (error) {
    const words = ownWords(error, name);
    findings.push(
      check(
        "E111",
        words === undefined ? `The ${name} store that --store names ${storeFailure(error)}.` : `The store that --store names: ${words}.`,
      ),
    );
  }
  return { fact: { name, roundTripMs }, findings: [...findings, ...(await cleanUp(trial))] };
}

/** Milliseconds of a read, the median of several; the first one may have to connect. */
async function roundTrip({ store, newKey }: StoreTrial, { clock }: CheckIo): Promise<number> {
  await store.get(newKey());
  const times: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const began = clock.monotonic();
    await store.get(newKey());
    times.push(clock.monotonic() - began);
  }
  times.sort((one, other) => one - other);
  return Math.round((times[Math.floor(READS / 2)] ?? 0) * 100) / 100;
}

async function cleanUp(trial: StoreTrial): Promise<Finding[]> {
  const removed = await Promise.allSettled([...trial.keys].map((key) => trial.store.delete(key)));
  return removed.some(({ status }) => status === "rejected") ? [check("W112")] : [];
}

/** The same store, in which nothing takes for ever. */
function bounded(store: SessionStore): SessionStore {
  const within = <Result>(work: () => Promise<Result>): Promise<Result> => withinTime(Promise.resolve().then(work), OPERATION);
  return {
    name: store.name,
    ...(store.inProcess !== undefined && { inProcess: store.inProcess }),
    get: (key) => within(() => store.get(key)),
    insert: (key, entry) => within(() => store.insert(key, entry)),
    replace: (key, entry, version) => within(() => store.replace(key, entry, version)),
    touch: (key, lastActive, expiresAt) => within(() => store.touch(key, lastActive, expiresAt)),
    delete: (key) => within(() => store.delete(key)),
    listBySubject: (subject) => within(() => store.listBySubject(subject)),
  };
}
