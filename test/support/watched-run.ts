import { expect } from "vitest";
import type { EventName } from "../../src/events/events.js";
import type { AnyReply, IdpAuth } from "../../src/adapter.js";
import type { IdpAuthOptions, IdpRequest } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  TestUser,
  type Application,
  type ApplicationOptions,
} from "./application.js";
import { openedRecord, storedUnder } from "./opened-record.js";
import { SealingStore } from "./sealing-store.js";
import { leaksIn, secretsOf } from "./secrets.js";

const EVENTS: readonly EventName[] = ["login", "refresh", "logout", "blocked", "ended", "failure"];

/**
 * An application over a store outside the process, all of whose answers, log lines and events are
 * watched.
 */
export interface WatchedRun extends Application {
  readonly store: SealingStore;
  /**
   * Requests to the provider that have no answer yet. Those take real time, which the clock must
   * not run ahead of.
   */
  readonly asking: number;
  /**
   * Moves the clock, 5 ms at a time, until the work is done: for those who wait for another process.
   * It stands still while something takes real time: a request to the provider, or a signature on
   * another thread.
   */
  whileTimePasses<Result>(work: Promise<Result>): Promise<Result>;
  /** The text of a user's record as the store holds it, opened. Throws when there is none. */
  record(user: TestUser): Promise<string>;
  /** Events so far, by name. */
  count(event: EventName): number;
  /**
   * What holds of every run, whatever befell it: nothing rejected without a handler, no answer of
   * 500 or more but 503 with Retry-After, and no secret in log or events.
   */
  finish(): Promise<void>;
}

export async function startWatchedRun({
  clock = new TestClock(),
  ...options
}: ApplicationOptions = {}): Promise<WatchedRun> {
  const unhandled: unknown[] = [];
  const take = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", take);
  const store = new SealingStore(clock);
  let asking = 0;
  const send = options.fetch ?? fetch;
  const counted: typeof fetch = async (input, init) => {
    asking += 1;
    try {
      return await send(input, init);
    } finally {
      asking -= 1;
    }
  };
  const app = await startApplication({ store, clock, ...options, fetch: counted });
  const undocumented: string[] = [];
  const told: string[] = [];
  const counts = new Map<EventName, number>();

  function watched(auth: IdpAuth<IdpRequest>): IdpAuth<IdpRequest> {
    for (const name of EVENTS) {
      auth.on(name, (event) => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        told.push(JSON.stringify(event));
      });
    }
    return {
      ...auth,
      handle(raw) {
        const handled = auth.handle(raw);
        handled?.then(
          (reply) => {
            if (!isDocumented(reply))
              undocumented.push(`${raw.target.split("?", 1)[0] ?? ""}: ${String(reply.status)}`);
          },
          (error: unknown) =>
            undocumented.push(`${raw.target.split("?", 1)[0] ?? ""}: ${String(error)}`),
        );
        return handled;
      },
    };
  }

  const auth = watched(app.auth);
  return {
    ...app,
    auth,
    store,
    get asking() {
      return asking;
    },
    another: (overrides?: Partial<IdpAuthOptions>) => watched(app.another(overrides)),
    user: () => new TestUser(auth, app.provider, clock),
    async whileTimePasses(work) {
      let isOpen = true as boolean;
      const done = work.finally(() => (isOpen = false));
      while (isOpen) {
        for (let turn = 0; turn < 20; turn += 1)
          await new Promise((resolve) => setImmediate(resolve));
        await otherThreads();
        if (asking === 0) await clock.advanceAsync(5);
      }
      return done;
    },
    async record({ cookies }) {
      const cookie = cookies.get("idpauth") ?? "";
      return openedRecord(await store.peek(storedUnder(cookie)), cookie);
    },
    count: (event) => counts.get(event) ?? 0,
    async finish() {
      // Node tells of rejections once the queue of promises is empty.
      await new Promise((resolve) => setImmediate(resolve));
      process.off("unhandledRejection", take);
      await app.stop();
      expect(unhandled).toEqual([]);
      expect(undocumented).toEqual([]);
      const lines = new Set([...app.log.map((entry) => JSON.stringify(entry)), ...told]);
      expect(leaksIn([...lines].join("\n"), secretsOf(app))).toEqual([]);
    },
  };
}

/**
 * Resolves when the threads of the process have come to what they were given before. They take
 * their tasks in order.
 */
async function otherThreads(): Promise<void> {
  await Promise.all(
    Array.from({ length: 8 }, () => crypto.subtle.digest("SHA-256", new Uint8Array(1))),
  );
}

function isDocumented({ status, headers }: AnyReply): boolean {
  return status < 500 || (status === 503 && Number(headers["Retry-After"]) >= 1);
}
