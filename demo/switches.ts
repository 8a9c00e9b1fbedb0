import type { Stored } from "idpauth/adapter";
import { memoryStore, type SessionStore } from "idpauth";
import type { DemoConfiguration, Environment } from "./configuration.js";

/**
 * What the buttons of /app/session do to the session store, so that a user sees how an application
 * copes.
 */
export interface Switches {
  /** The store that the application uses. */
  readonly store: SessionStore;
  /** From now on, every operation of the store fails for some seconds. @returns the seconds */
  startOutage(): number;
  /**
   * Makes every session that is not active from now on end in 70 seconds.
   *
   * @returns the seconds; undefined if there is no idle timeout, or a shorter one
   */
  approachIdleLimit(): number | undefined;
}

/**
 * Seconds until the idle limit, after {@link Switches.approachIdleLimit}: ten seconds more than the
 * warning's minute.
 */
const REST = 70;

const OPERATIONS: ReadonlySet<string | symbol> = new Set<keyof SessionStore>([
  ...([
    "get",
    "insert",
    "replace",
    "touch",
    "delete",
    "listBySubject",
    "listBySid",
    "getMany",
    "announceEnd",
  ] as const),
]);

/**
 * @param idleTimeout seconds; undefined: none
 * @param outageSeconds how long an outage lasts
 */
function withSwitches(
  store: SessionStore,
  idleTimeout: number | undefined,
  outageSeconds: number,
): Switches {
  let awayUntil = 0;
  /**
   * Sessions that were last active at or before this time, in epoch seconds, count as inactive for
   * so many seconds more.
   */
  let aged = { until: 0, by: 0 };

  const withAge = (stored: Stored | undefined): Stored | undefined =>
    stored?.lastActive === undefined || stored.lastActive > aged.until
      ? stored
      : { ...stored, lastActive: stored.lastActive - aged.by };

  const switched = new Proxy(store, {
    get(target, name) {
      if (name === "get")
        return async (key: string) => withAge(await operation(() => target.get(key)));
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const call = (...values: unknown[]): unknown => Reflect.apply(member, target, values);
      return OPERATIONS.has(name)
        ? (...values: unknown[]) => operation(() => call(...values))
        : call;
    },
  });

  async function operation<Result>(run: () => Result): Promise<Awaited<Result>> {
    if (performance.now() < awayUntil) throw new Error("The outage switch of /app/session is on.");
    return await run();
  }

  return {
    store: switched,
    startOutage() {
      awayUntil = performance.now() + outageSeconds * 1000;
      return outageSeconds;
    },
    approachIdleLimit() {
      if (idleTimeout === undefined || idleTimeout <= REST) return undefined;
      aged = { until: Math.floor(Date.now() / 1000), by: idleTimeout - REST };
      return REST;
    },
  };
}

/** Returns the switches of the demo's store; undefined if the framework keeps the sessions. */
export function switchesOf(
  { sessions, outageSeconds }: DemoConfiguration,
  env: Environment,
  store: SessionStore | undefined,
): Switches | undefined {
  if (sessions.kind === "host") return undefined;
  const idleTimeout = Number(env["IDP_SESSION_IDLE_TIMEOUT"]);
  return withSwitches(
    store ?? memoryStore(),
    idleTimeout > 0 ? idleTimeout : undefined,
    outageSeconds,
  );
}
