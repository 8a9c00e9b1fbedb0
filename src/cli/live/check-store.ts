import { check } from "../../config/startup-checks.js";
import type { Finding } from "../../errors.js";
import type { SessionStore } from "../../ports/session-store.js";
import type { Environment } from "../../config/read-settings.js";
import { withinTime } from "../../stores/time-limit.js";
import { liveCheck } from "./live-check-table.js";
import type { StoreFacts } from "./live-facts.js";
import { openStore, type OpenStore } from "./open-store.js";
import { ownWords, storeFailure } from "./explain-store-error.js";
import { STORE_REQUIREMENTS, StoreTrial } from "./store-requirements.js";
import type { CheckIo } from "./check-io.js";

export interface StoreResult {
  readonly fact: StoreFacts | null;
  readonly findings: readonly Finding[];
}

/** Milliseconds for one operation, for a store without a time limit of its own. */
const OPERATION = 3_000;
const CLOSE = 2_000;
const READS = 5;

/** Checks whether the store works and meets the requirements, with test entries that it removes again. Closes the store. */
export async function checkStore(address: string, env: Environment, io: CheckIo): Promise<StoreResult> {
  const open = await opened(address, env, io);
  if ("code" in open) return { fact: null, findings: [open] };
  try {
    return await tried(open.store, io);
  } finally {
    await withinTime(open.close(), CLOSE).catch(() => undefined);
  }
}

/** Opens the store. The driver's own error is not shown, since it may contain the address with its password. */
async function opened(address: string, env: Environment, io: CheckIo): Promise<OpenStore | Finding> {
  try {
    return await openStore(address, env, io);
  } catch (error) {
    return liveCheck("E111", `The store in --store cannot be opened: it ${storeFailure(error)}.`);
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
    for (const requirement of STORE_REQUIREMENTS) {
      if (!(await requirement.isMet(trial)))
        findings.push(liveCheck("E112", `The ${name} store ${requirement.violation}. ${requirement.harm}`));
    }
  } catch (error) {
    const words = ownWords(error, name);
    findings.push(
      liveCheck("E111", words === undefined ? `The ${name} store in --store ${storeFailure(error)}.` : `The store in --store: ${words}.`),
    );
  }
  return { fact: { name, roundTripMs }, findings: [...findings, ...(await cleanUp(trial))] };
}

/** Returns the median time of several reads, in milliseconds. The first read does not count, since it may have to connect. */
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
  return removed.some(({ status }) => status === "rejected") ? [liveCheck("W112")] : [];
}

/** Returns the store with a time limit for each operation. */
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
    listBySid: (sid) => within(() => store.listBySid(sid)),
  };
}
