/** The registrations of providers that a source gives, as far as this process remembers them. */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../clock.js";
import { isSourceKey, type SourceOptions } from "../config/provider-source.js";
import type { ReadSourced, SourcedProvider } from "../config/read-settings.js";
import { ProviderUnavailableError, type Finding } from "../errors.js";
import type { Registration } from "../ports/registration.js";
import { within } from "../work/deadline.js";
import { createSlots, slotsWithin } from "../work/slots.js";

/** Calls of `find` at a time. Those for keys that a stranger may have written get half of them. */
const CALLS_AT_A_TIME = 16;
const STRANGERS_CALLS_AT_A_TIME = CALLS_AT_A_TIME / 2;
/** Milliseconds that one call may take, and that a further one waits for its turn. */
const CALL_MS = 5_000;
/** Milliseconds for which an unknown key, or one with wrong settings, isn't asked for again. */
const UNKNOWN_MS = 10_000;
/** Unknown keys that are remembered. Strangers guess keys. */
const MAX_UNKNOWN = 1_000;

export interface SourcedRegistrationsOptions<Own extends Registration> {
  readonly source: SourceOptions;
  readonly read: ReadSourced;
  readonly clock: Clock;
  /** Creates what the component needs of a provider. */
  readonly create: (provider: SourcedProvider) => Own;
  /**
   * Called when `find` has thrown or has taken too long.
   *
   * @param key undefined: a stranger may have written it
   */
  readonly onFailure: (key: string | undefined, error: ProviderUnavailableError) => void;
  /** Called with what is wrong with the settings that `find` returned, once for each time. */
  readonly onFindings: (key: string, findings: readonly Finding[]) => void;
}

/** Who has written a key: the record of a session, or perhaps a stranger. */
export type KeyOrigin = "session" | "request";

export interface SourcedRegistrations<Own extends Registration> {
  /** Undefined: this process doesn't remember it. It asks nobody, so it may be older than `maxAge`. */
  remembered(key: string): Own | undefined;
  /**
   * Returns the registration at the provider with this key, at once where this process remembers
   * it. Undefined: there is none.
   *
   * @throws ProviderUnavailableError `provider_source`: the source fails; `provider_settings`: what
   *   it returned can't be used. As a rejection
   */
  find(key: string, origin: KeyOrigin): Own | undefined | Promise<Own | undefined>;
  /** Forgets a provider, so that its next use asks the source again. */
  forget(key: string): void;
}

interface Remembered<Own> {
  readonly registration: Own;
  /** A copy of what `find` returned. */
  readonly settings: unknown;
  /** The clock's `monotonic()`. */
  readonly until: number;
}

/** A call of `find`, for all that need its key. */
interface Call<Own> {
  readonly origin: KeyOrigin;
  /** Whether it still waits for its turn. */
  isQueued: boolean;
  result: Promise<Own | undefined>;
}

/** A key without a provider. `error`: its settings can't be used. */
interface Unknown {
  readonly until: number;
  readonly error: ProviderUnavailableError | undefined;
}

export function createSourcedRegistrations<Own extends Registration>({
  source,
  read,
  clock,
  create,
  onFailure,
  onFindings,
}: SourcedRegistrationsOptions<Own>): SourcedRegistrations<Own> {
  const { maxAge, limit } = source;
  /** The least recently used first. */
  const known = new Map<string, Remembered<Own>>();
  /** The oldest first. */
  const unknown = new Map<string, Unknown>();
  const calls = new Map<string, Call<Own>>();
  const reason = "provider_source";
  const slots = (most: number) => createSlots({ limit: most, reason, clock, patience: CALL_MS });
  const all = slots(CALLS_AT_A_TIME);
  const takeSlot = {
    session: () => all.take(),
    request: slotsWithin(slots(STRANGERS_CALLS_AT_A_TIME), all),
  };
  const late = () => new ProviderUnavailableError(reason);

  function find(key: string, origin: KeyOrigin): Own | undefined | Promise<Own | undefined> {
    if (!isSourceKey(key)) return undefined;
    const found = known.get(key);
    if (found !== undefined && clock.monotonic() < found.until) {
      // It becomes the most recently used.
      known.delete(key);
      known.set(key, found);
      return found.registration;
    }
    const running = calls.get(key);
    // A session doesn't wait in the queue of strangers: its own call takes the place of theirs.
    const isSlower = running?.isQueued === true && running.origin === "request";
    if (running !== undefined && !(isSlower && origin === "session")) return running.result;
    const noted = unknownAt(key);
    if (noted !== undefined)
      return noted.error === undefined ? undefined : Promise.reject(noted.error);
    return begin(key, found === undefined ? origin : "session");
  }

  function begin(key: string, origin: KeyOrigin): Promise<Own | undefined> {
    const own: Call<Own> = { origin, isQueued: true, result: Promise.resolve(undefined) };
    own.result = answer(key, own).finally(() => {
      if (calls.get(key) === own) calls.delete(key);
    });
    calls.set(key, own);
    return own.result;
  }

  /** @throws ProviderUnavailableError */
  async function answer(key: string, own: Call<Own>): Promise<Own | undefined> {
    const release = await takeSlot[own.origin]();
    // Another call has taken its place.
    if (calls.get(key) !== own) {
      release();
      return find(key, own.origin);
    }
    own.isQueued = false;
    const given = await ask(key, own.origin).finally(release);
    // `forget` may have come meanwhile: then the answer is used once, and not remembered.
    return calls.get(key) === own ? keep(key, given) : registrationOf(key, given);
  }

  /** @throws ProviderUnavailableError */
  async function ask(key: string, origin: KeyOrigin): Promise<unknown> {
    try {
      return await within(async () => source.find(key), { clock, milliseconds: CALL_MS, late });
    } catch (cause) {
      const error = new ProviderUnavailableError(reason, { cause });
      onFailure(origin === "session" ? key : undefined, error);
      throw error;
    }
  }

  /** Remembers what `find` returned. */
  function keep(key: string, given: unknown): Own | undefined {
    const until = clock.monotonic() + maxAge * 1_000;
    const before = known.get(key);
    known.delete(key);
    const settings = copyOf(given);
    // Its document, keys and back-offs stay.
    if (before !== undefined && isDeepStrictEqual(before.settings, settings)) {
      known.set(key, { ...before, until });
      return before.registration;
    }
    let registration: Own | undefined;
    try {
      registration = registrationOf(key, given);
    } catch (error) {
      keepUnknown(key, error as ProviderUnavailableError);
      throw error;
    }
    if (registration === undefined) {
      keepUnknown(key, undefined);
      return undefined;
    }
    known.set(key, { registration, settings, until });
    while (known.size > limit) known.delete(oldestOf(known));
    return registration;
  }

  /** @throws ProviderUnavailableError the settings can't be used */
  function registrationOf(key: string, given: unknown): Own | undefined {
    if (given === undefined || given === null) return undefined;
    const { provider, findings } = read(key, given);
    if (findings.length > 0) onFindings(key, findings);
    if (provider === undefined)
      throw new ProviderUnavailableError("provider_settings", { misconfigured: true });
    return create(provider);
  }

  function keepUnknown(key: string, error: ProviderUnavailableError | undefined): void {
    unknown.delete(key);
    while (unknown.size >= MAX_UNKNOWN) unknown.delete(oldestOf(unknown));
    unknown.set(key, { until: clock.monotonic() + UNKNOWN_MS, error });
  }

  function unknownAt(key: string): Unknown | undefined {
    const noted = unknown.get(key);
    if (noted === undefined || clock.monotonic() < noted.until) return noted;
    unknown.delete(key);
    return undefined;
  }

  return {
    remembered: (key) => known.get(key)?.registration,
    find,
    forget(key) {
      known.delete(key);
      unknown.delete(key);
      // One that is still queued hasn't asked yet.
      if (calls.get(key)?.isQueued === false) calls.delete(key);
    },
  };
}

function oldestOf(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value ?? "";
}

/**
 * A copy, so that an object which the application changes later is seen as changed. It has no
 * prototype of a database's rows or entities, so that copies of equal ones are equal.
 */
function copyOf(given: unknown): unknown {
  try {
    return structuredClone(given);
  } catch {
    // It has functions, such as those that sign with a remote key.
    return typeof given === "object" ? { ...given } : given;
  }
}
