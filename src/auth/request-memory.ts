import type { SessionRequest } from "../access/session-request.js";
import type { Clock } from "../clock.js";
import type { Remembered } from "../guard/guard.js";
import { PerRequest } from "../http/per-request.js";
import type { SeenSession, UserSession } from "../ports/user-session.js";
import type { Session } from "../record/session-view.js";

/**
 * Milliseconds for which the guard and the accessors share one read of the session. A request that
 * lives longer, such as an event stream, must see a logout.
 */
const SHARED_READ_MS = 1_000;

/** What is remembered of one request. */
interface Memory extends Remembered {
  /** What an earlier read of the session found. */
  seen: SeenSession | undefined;
}

/** The sessions of the requests, for the guards and the accessors. */
export class RequestMemory<FrameworkRequest extends object> {
  readonly #open: (raw: FrameworkRequest) => SessionRequest;
  readonly #clock: Clock;
  readonly #begin: (raw: FrameworkRequest) => Memory;
  readonly #memory = new PerRequest<Memory>();
  /** The sessions of requests for the endpoints, which share no read with other code. */
  readonly #atEndpoints = new PerRequest<UserSession>();

  constructor(open: (raw: FrameworkRequest) => SessionRequest, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
    this.#begin = (raw) => ({ opened: open(raw), passedWith: undefined, seen: undefined });
  }

  endpointOpened(raw: FrameworkRequest, { session }: SessionRequest): void {
    this.#atEndpoints.set(raw, session);
  }

  /** What is remembered of a request, with a session that was opened within the last second. */
  remember(raw: FrameworkRequest): Remembered {
    const known = this.#memory.getOrSet(raw, this.#begin);
    if (this.#clock.monotonic() - known.opened.openedAt >= SHARED_READ_MS) {
      known.seen ??= known.opened.session.seen;
      known.opened = this.#open(raw);
    }
    return known;
  }

  /** The session that the first gate of this request found. */
  seenBy(raw: FrameworkRequest): SeenSession | undefined {
    const known = this.#memory.get(raw);
    return this.#atEndpoints.get(raw)?.seen ?? known?.seen ?? known?.opened.session.seen;
  }

  /** The session with which a guard let this request pass. */
  passedWith(raw: FrameworkRequest): Session | null | undefined {
    return this.#memory.get(raw)?.passedWith?.session();
  }
  /** Whether a guard let this request pass, which also keeps its response private. */
  isGuarded(raw: FrameworkRequest): boolean {
    return this.#memory.get(raw)?.passedWith !== undefined;
  }
}
