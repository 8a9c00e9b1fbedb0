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
  /** Called when `find` has thrown or has taken too long. */
  readonly onFailure: (key: string, error: ProviderUnavailableError) => void;
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
  /** What `find` returned. */
  readonly given: unknown;
  /** The clock's `monotonic()`. */
  readonly until: number;
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
  const calls = new Map<string, Promise<Own | undefined>>();
  const reason = "provider_source";
  const slots = (most: number) => createSlots({ limit: most, reason, clock, patience: CALL_MS });
  const all = slots(CALLS_AT_A_TIME);
  const takeSlot = {
    session: () => all.take(),
    request: slotsWithin(slots(STRANGERS_CALLS_AT_A_TIME), all),
  };
  const late = () => new ProviderUnavailableError(reason);

  /** @throws ProviderUnavailableError */
  async function call(key: string, origin: KeyOrigin): Promise<unknown> {
    const release = await takeSlot[origin]();
    try {
      return await within(async () => source.find(key), { clock, milliseconds: CALL_MS, late });
    } catch (cause) {
      const error = new ProviderUnavailableError(reason, { cause });
      onFailure(key, error);
      throw error;
    } finally {
      release();
    }
  }

  /** Remembers what `find` returned. */
  function keep(key: string, given: unknown): Own | undefined {
    const until = clock.monotonic() + maxAge * 1_000;
    const before = known.get(key);
    known.delete(key);
    if (given === undefined || given === null) {
      keepUnknown(key, undefined);
      return undefined;
    }
    // Its document, keys and back-offs stay.
    if (before !== undefined && isDeepStrictEqual(before.given, given)) {
      known.set(key, { ...before, until });
      return before.registration;
    }
    const { provider, findings } = read(key, given);
    if (findings.length > 0) onFindings(key, findings);
    if (provider === undefined) {
      const error = new ProviderUnavailableError("provider_settings", { misconfigured: true });
      keepUnknown(key, error);
      throw error;
    }
    const registration = create(provider);
    known.set(key, { registration, given: copyOf(given), until });
    while (known.size > limit) known.delete(oldestOf(known));
    return registration;
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
    find(key, origin) {
      if (!isSourceKey(key)) return undefined;
      const found = known.get(key);
      if (found !== undefined && clock.monotonic() < found.until) {
        // It becomes the most recently used.
        known.delete(key);
        known.set(key, found);
        return found.registration;
      }
      const running = calls.get(key);
      if (running !== undefined) return running;
      const noted = unknownAt(key);
      if (noted !== undefined)
        return noted.error === undefined ? undefined : Promise.reject(noted.error);
      const asked: Promise<Own | undefined> = call(key, found === undefined ? origin : "session")
        // `forget` may have come meanwhile: then the answer is used once, and not remembered.
        .then((given) => (calls.get(key) === asked ? keep(key, given) : once(key, given)))
        .finally(() => {
          if (calls.get(key) === asked) calls.delete(key);
        });
      calls.set(key, asked);
      return asked;
    },
    forget(key) {
      known.delete(key);
      unknown.delete(key);
      calls.delete(key);
    },
  };

  /** Uses what a call returned that began before `forget`: its next use asks again. */
  function once(key: string, given: unknown): Own | undefined {
    const registration = keep(key, given);
    known.delete(key);
    unknown.delete(key);
    return registration;
  }
}

function oldestOf(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value ?? "";
}

/** A copy, so that an object which the application changes later is seen as changed. */
function copyOf(given: unknown): unknown {
  try {
    return structuredClone(given);
  } catch {
    // It has functions, such as those that sign with a remote key.
    return typeof given === "object" ? { ...given } : given;
  }
}
