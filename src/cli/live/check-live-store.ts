import { AssertionError } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { epochSeconds } from "../../clock.js";
import type { UnnamedFinding } from "../../config/findings.js";
import type { Environment } from "../../config/read-settings.js";
import { serverFinding, storeFinding } from "../../config/startup-checks.js";
import { liveCheck } from "../../live/live-check-table.js";
import type { StoreFacts } from "../../live/live-facts.js";
import type { Entry, SessionStore } from "../../ports/session-store.js";
import { withinTime } from "../../stores/time-limit.js";
import { liveStoreRequirements, type StoreToCheck } from "../../testing/index.js";
import type { CheckIo } from "./check-io.js";
import { ownWords, storeFailure } from "./explain-store-error.js";
import { openStore, type OpenStore } from "./open-store.js";

export interface StoreResult {
  readonly fact: StoreFacts | null;
  readonly findings: readonly UnnamedFinding[];
}

/** Milliseconds for one operation, for a store without a time limit of its own. */
const OPERATION_MS = 3_000;
const CLOSE_MS = 2_000;
const READS = 5;
/** Seconds until the entry expires whose expiry is checked. */
const ENTRY_LIFE_SECONDS = 2;
/**
 * Seconds for which an expired entry may still be returned, since the store's clock may be behind.
 */
const STORE_CLOCK_SECONDS = 10;

/**
 * Checks whether the store works and meets the requirements, with test entries that it removes
 * again. Closes the store.
 */
export async function checkStore(
  address: string,
  env: Environment,
  io: CheckIo,
): Promise<StoreResult> {
  const open = await opened(address, env, io);
  if ("code" in open) return { fact: null, findings: [open] };
  try {
    return await tried(open.store, io);
  } finally {
    await withinTime(open.close(), CLOSE_MS).catch(() => undefined);
  }
}

/**
 * Opens the store. The driver's own error is not shown, since it may contain the address with its
 * password.
 */
async function opened(
  address: string,
  env: Environment,
  io: CheckIo,
): Promise<OpenStore | UnnamedFinding> {
  try {
    return await openStore(address, env, io);
  } catch (error) {
    return liveCheck("E111", `The store in --store can't be opened: it ${storeFailure(error)}.`);
  }
}

async function tried(store: SessionStore, io: CheckIo): Promise<StoreResult> {
  const problems = (store.problems ?? []).map(storeFinding);
  const name = /^[\w .-]{1,40}$/.test(store.name) ? store.name : "without a name";
  if (problems.some(({ severity }) => severity === "error"))
    return { fact: { name, roundTripMs: null }, findings: problems };
  const ofServer = await serverFindings(store);
  // Every check would fail on a replica.
  if (ofServer.some(({ severity }) => severity === "error"))
    return { fact: { name, roundTripMs: null }, findings: [...problems, ...ofServer] };
  const { clock } = io;
  const keys = new Set<string>();
  const under = { store: remembering(store, keys), now: () => epochSeconds(clock) };
  const findings: UnnamedFinding[] = [];
  let roundTripMs: number | null = null;
  try {
    roundTripMs = await roundTrip(under.store, io);
    // Inserted first and read last, so that it expires in the meantime.
    const shortLived = newKey();
    await under.store.insert(shortLived, {
      data: dataFor(store),
      expiresAt: under.now() + ENTRY_LIFE_SECONDS,
    });
    await checkRequirements(under, name, findings);
    if (!(await isGone(under, shortLived))) {
      findings.push(
        liveCheck(
          "E112",
          `The ${name} store still returns an entry ${STORE_CLOCK_SECONDS} seconds after it expired by this machine's clock. Either the store's clock is behind by more than that, or the store doesn't expire entries.`,
        ),
      );
    }
  } catch (error) {
    findings.push(thrown(error, name));
  }
  await cleanUp(under.store, keys);
  return {
    fact: { name, roundTripMs },
    findings: [...problems, ...ofServer, ...findings],
  };
}

function thrown(error: unknown, name: string): UnnamedFinding {
  const words = ownWords(error, name);
  return liveCheck(
    "E111",
    words === undefined
      ? `The ${name} store in --store ${storeFailure(error)}.`
      : `The store in --store: ${words}.`,
  );
}

/** What the store's server tells. Whether it responds at all, the checks tell. */
async function serverFindings(store: SessionStore): Promise<UnnamedFinding[]> {
  try {
    const problems = await withinTime(
      Promise.resolve().then(() => store.serverProblems?.() ?? []),
      OPERATION_MS,
    );
    return problems.map(serverFinding);
  } catch {
    return [];
  }
}

/**
 * @param findings gets one finding for each broken requirement, also if a later one rejects with
 *   the store's own error
 */
async function checkRequirements(
  under: StoreToCheck,
  name: string,
  findings: UnnamedFinding[],
): Promise<void> {
  for (const { method, title, consequence, check: checkOn } of Object.values(
    liveStoreRequirements,
  )) {
    try {
      await checkOn(under);
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      findings.push(
        liveCheck(
          "E112",
          `The ${name} store breaks the requirement "${method}: ${title}". ${consequence}`,
        ),
      );
    }
  }
}

/** Whether the store stops returning an entry that lives for {@link ENTRY_LIFE_SECONDS} seconds. */
async function isGone(under: StoreToCheck, key: string): Promise<boolean> {
  const end = under.now() + ENTRY_LIFE_SECONDS + STORE_CLOCK_SECONDS;
  while ((await under.store.get(key)) !== undefined) {
    if (under.now() > end) return false;
    await pause(0.25);
  }
  return true;
}

function newKey(): string {
  return randomBytes(32).toString("base64url");
}

/** Data in the form that the store gets. */
function dataFor({ inProcess }: SessionStore): Entry["data"] {
  return inProcess === true ? { idp_state: { v: 1 } } : new Uint8Array(1);
}

/** Waits, and keeps the process alive, unlike a clock's timer. */
function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}

/**
 * Returns the median time of several reads, in milliseconds. The first read does not count, since
 * it may have to connect.
 */
async function roundTrip(store: SessionStore, { clock }: CheckIo): Promise<number> {
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

/** An entry that can't be removed expires within two minutes. */
async function cleanUp(store: SessionStore, keys: ReadonlySet<string>): Promise<void> {
  await Promise.allSettled([...keys].map((key) => store.delete(key)));
}

/**
 * Returns the store with a time limit for each operation.
 * @param keys gets each key that may be written
 */
function remembering(store: SessionStore, keys: Set<string>): SessionStore {
  const within = <Result>(work: () => Promise<Result>): Promise<Result> =>
    withinTime(Promise.resolve().then(work), OPERATION_MS);
  const writes = <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    keys.add(key);
    return within(work);
  };
  return {
    name: store.name,
    ...(store.inProcess !== undefined && { inProcess: store.inProcess }),
    get: (key) => within(() => store.get(key)),
    insert: (key, entry) => writes(key, () => store.insert(key, entry)),
    replace: (key, entry, version) => writes(key, () => store.replace(key, entry, version)),
    touch: (key, lastActive, expiresAt) =>
      writes(key, () => store.touch(key, lastActive, expiresAt)),
    delete: (key) => within(() => store.delete(key)),
    listBySubject: (subject, cursor) => within(() => store.listBySubject(subject, cursor)),
    listBySid: (sid, cursor) => within(() => store.listBySid(sid, cursor)),
  };
}
