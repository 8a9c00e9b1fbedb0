import type { Endpoint, ReceivedRequest } from "./received-requests.js";

interface FaultScope {
  /**
   * Whether the fault strikes before the endpoint does its work. With `false` the work is done
   * first: a code is spent, a refresh token is rotated, and only the reply suffers. Default true,
   * but for the kinds that change the real reply (`drip`, `wrong-type`, `truncated`, unless they
   * are given a `body`) it is false.
   */
  readonly before?: boolean;
  /** How many requests it affects; default all until it is removed. */
  readonly times?: number;
  /** Applies only to requests for which this returns true. */
  readonly when?: (request: ReceivedRequest) => boolean;
}

/** A fault at an endpoint. */
export type Fault = FaultScope &
  (
    | {
        /** Another status, headers and body. */
        readonly kind: "status";
        /** Default 500. */
        readonly status?: number;
        /** Text, bytes, or a value that is sent as JSON. Default: no body. */
        readonly body?: unknown;
        /** Added; a `Content-Type` replaces the default one. */
        readonly headers?: Readonly<Record<string, string>>;
      }
    | {
        /** The provider reads the request and never responds. */
        readonly kind: "hang";
      }
    | {
        /** The connection is reset without a reply. */
        readonly kind: "reset";
      }
    | {
        /** The endpoint waits, then goes on as usual. */
        readonly kind: "delay";
        /** Milliseconds of the provider's clock, default 1000. */
        readonly ms?: number;
      }
    | {
        /** 200 and the media type of JSON, but a body that isn't JSON. */
        readonly kind: "garbage";
        /** Default `{"garbage`. */
        readonly body?: string;
      }
    | {
        /**
         * 200 and well-formed JSON of `bytes` bytes. With `before: false` it is the real reply,
         * padded.
         */
        readonly kind: "oversized";
        /** Default 2 MiB. Infinity streams until the client leaves. */
        readonly bytes?: number;
      }
    | {
        /** A redirect without a body. */
        readonly kind: "redirect";
        /** Default 302. */
        readonly status?: number;
        /** Default: a path of the provider where nothing is. */
        readonly location?: string;
      }
    | {
        /** One byte of the reply at a time. */
        readonly kind: "drip";
        /** Milliseconds of the provider's clock before each byte, default 1000. */
        readonly ms?: number;
        /** Default: that of the real reply. */
        readonly body?: string;
      }
    | {
        /** The reply under another media type. */
        readonly kind: "wrong-type";
        /** Added to those of the reply. Default: `Content-Type: text/html`. */
        readonly headers?: Readonly<Record<string, string>>;
        /** Whether the body begins with a byte order mark; default false. */
        readonly byteOrderMark?: boolean;
        /** Default: that of the real reply. */
        readonly body?: string;
      }
    | {
        /** The connection ends before the body has the length that Content-Length gives. */
        readonly kind: "truncated";
        /** The bytes of the body that are sent. Default: half of them. */
        readonly bytes?: number;
        /** Default: that of the real reply. */
        readonly body?: string;
      }
  );

/** Which requests a hold keeps waiting. */
export interface HoldOptions {
  /**
   * Hold before the endpoint does its work (default), or with `false` after the work and before the
   * reply leaves.
   */
  readonly before?: boolean;
  /** How many requests are held; later ones pass. Default every one until the release. */
  readonly times?: number;
  /** `arrived` resolves with this many requests held; default 1. */
  readonly count?: number;
  /** Holds only requests for which this returns true. */
  readonly when?: (request: ReceivedRequest) => boolean;
}

/** A barrier at an endpoint: requests wait there until `release()`. */
export interface Hold {
  /** Resolves when the request (or `count` of them) has reached the barrier. */
  readonly arrived: Promise<void>;
  /** How many requests wait at the barrier now. */
  readonly held: number;
  /** Lets every held request go on and removes the barrier. May be called again without effect. */
  release(): void;
}

type Stage = "before" | "after";

/** A fault or barrier, and how often it still applies. */
class Standing<
  Command extends {
    readonly times?: number;
    readonly when?: (request: ReceivedRequest) => boolean;
  },
> {
  readonly command: Command;
  readonly #stage: Stage;
  #left: number;

  constructor(command: Command, stage: Stage) {
    this.command = command;
    this.#stage = stage;
    this.#left = command.times ?? Infinity;
  }

  /** Whether it applies to this request; uses up one time if it does. */
  claims(request: ReceivedRequest, stage: Stage): boolean {
    if (stage !== this.#stage || this.#left <= 0) return false;
    // JavaScript tests have no type check: `when` may return undefined or null.
    if (this.command.when !== undefined && !this.command.when(request)) return false;
    this.#left -= 1;
    return true;
  }
}

class Barrier implements Hold {
  readonly arrived: Promise<void>;
  readonly #waiting: (() => void)[] = [];
  readonly #count: number;
  readonly #withdraw: () => void;
  #arrive: () => void = () => undefined;

  constructor(count: number, withdraw: () => void) {
    this.#count = count;
    this.#withdraw = withdraw;
    this.arrived = new Promise((resolve) => {
      this.#arrive = resolve;
    });
  }

  get held(): number {
    return this.#waiting.length;
  }

  pass(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length >= this.#count) this.#arrive();
    });
  }

  release(): void {
    this.#withdraw();
    for (const go of this.#waiting.splice(0)) go();
  }
}

/** The faults and barriers at the endpoints, in the order in which they were set. */
export class FaultBoard {
  readonly #faults: { endpoint: Endpoint; standing: Standing<Fault> }[] = [];
  readonly #holds: { endpoint: Endpoint; standing: Standing<HoldOptions>; barrier: Barrier }[] = [];

  /**
   * Adds a fault and returns a function that removes it. Of several at one endpoint, the earliest
   * with times left applies.
   */
  add(endpoint: Endpoint, fault: Fault): () => void {
    const entry = { endpoint, standing: new Standing(fault, stageOf(fault)) };
    this.#faults.push(entry);
    return () => {
      remove(this.#faults, entry);
    };
  }

  hold(endpoint: Endpoint, options: HoldOptions): Hold {
    const standing = new Standing(options, options.before === false ? "after" : "before");
    const barrier = new Barrier(options.count ?? 1, () => {
      remove(this.#holds, entry);
    });
    const entry = { endpoint, standing, barrier };
    this.#holds.push(entry);
    return barrier;
  }

  /** Removes every fault and releases every barrier. */
  clear(): void {
    this.#faults.length = 0;
    for (const { barrier } of [...this.#holds]) barrier.release();
  }

  async waitAtBarriers(request: ReceivedRequest, stage: Stage): Promise<void> {
    for (const { endpoint, standing, barrier } of [...this.#holds]) {
      if (endpoint === request.endpoint && standing.claims(request, stage)) await barrier.pass();
    }
  }

  take(request: ReceivedRequest, stage: Stage): Fault | undefined {
    return this.#faults.find(
      ({ endpoint, standing }) => endpoint === request.endpoint && standing.claims(request, stage),
    )?.standing.command;
  }
}

function remove<Entry>(list: Entry[], entry: Entry): void {
  const index = list.indexOf(entry);
  if (index >= 0) list.splice(index, 1);
}

function stageOf(fault: Fault): Stage {
  const changesReply =
    fault.kind === "drip" || fault.kind === "wrong-type" || fault.kind === "truncated";
  const before = fault.before ?? !(changesReply && fault.body === undefined);
  return before ? "before" : "after";
}
