import type { SessionStore } from "../../src/index.js";
import type {
  GuaranteeNumber,
  StoreProperty,
  StoreUnderTest,
} from "../../packages/idpauth-conformance/src/index.js";

const START = 1_800_000_000;

/** A clock in seconds that stands still until a test moves it. */
export class StoppedClock {
  seconds = START;
  now(): number {
    return this.seconds * 1000;
  }
}

/** A moment in which others get their turn: the way to a server, or between two of its commands. */
export function moment(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export interface BrokenStore {
  /** What is wrong with it. */
  readonly name: string;
  /**
   * One of the requirements that it must be found to break: method, and the beginning of the title.
   */
  readonly breaks: readonly [method: string, title: string];
  /** All guarantees and properties that cannot be given over it. */
  readonly loses: readonly (GuaranteeNumber | StoreProperty)[];
  create(): StoreUnderTest;
}

type Wrong = new (clock: StoppedClock) => SessionStore;

/** A store that is wrong by itself. */
export function broken(
  name: string,
  breaks: BrokenStore["breaks"],
  loses: BrokenStore["loses"],
  Store: Wrong,
  timeLimit = 2_000,
): BrokenStore {
  return {
    name,
    breaks,
    loses,
    create() {
      const clock = new StoppedClock();
      return {
        store: new Store(clock),
        now: () => clock.seconds,
        advance: async (seconds) => void (clock.seconds += seconds),
        timeLimit,
      };
    },
  };
}
