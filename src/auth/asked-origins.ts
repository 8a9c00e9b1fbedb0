/** The origins that a function of the application knows. */
import type { Clock } from "../clock.js";
import { HookFailedError } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { functionFailed, functionThrew } from "../events/log-lines.js";
import {
  NotAnOriginError,
  requestedHost,
  type AskOrigin,
  type OriginFunction,
  type Origins,
} from "../http/origins.js";
import { parseUrl, type Origin } from "../http/redirects.js";
import type { IdpRequest } from "../http/request.js";
import { RememberedAnswers } from "../work/remembered-answers.js";

/** Hosts whose origin is remembered. */
const MAX_HOSTS = 10_000;

export interface AskedOriginsParts {
  readonly clock: Clock;
  readonly events: EventHub;
}

/**
 * The origins of a running component whose application has a function for them. It is asked before
 * a request is served, and what it said holds for the whole request.
 */
export class AskedOrigins implements Origins {
  readonly list = undefined;
  readonly #hosts: RememberedAnswers<Origin>;
  readonly #ofRequest = new WeakMap<IdpRequest, Origin>();

  constructor({ ask }: OriginFunction, parts: AskedOriginsParts) {
    this.#hosts = new RememberedAnswers({
      ask: (host) => askOrThrow(ask, host, parts),
      clock: parts.clock,
      limit: MAX_HOSTS,
      late() {
        const took = { function: "baseUrl", kind: "timeout" };
        parts.events.log(functionFailed("took longer than 5 seconds", took));
        return new HookFailedError("baseUrl", "timeout");
      },
    });
  }

  of(request: IdpRequest, trustProxy: boolean): Origin | undefined {
    const found = this.#ofRequest.get(request);
    if (found !== undefined) return found;
    const host = requestedHost(request, trustProxy);
    return this.#keep(request, host === undefined ? undefined : this.#hosts.last(host));
  }

  /**
   * Asks for the origin of a request's host. Undefined: nothing has to be asked.
   *
   * @throws HookFailedError
   */
  find(request: IdpRequest, trustProxy: boolean): Promise<void> | undefined {
    if (this.#ofRequest.has(request)) return undefined;
    const host = requestedHost(request, trustProxy);
    if (host === undefined || this.#hosts.isKnown(host)) return undefined;
    return this.#hosts.ask(host).then((origin) => {
      this.#keep(request, origin);
    });
  }

  /**
   * Whether the function returns this origin for its host.
   *
   * @throws HookFailedError
   */
  async isOwn(origin: Origin): Promise<boolean> {
    const host = parseUrl(origin)?.host;
    if (host === undefined) return false;
    const known = this.#hosts.isKnown(host) ? this.#hosts.last(host) : await this.#hosts.ask(host);
    return known === origin;
  }

  /** How many hosts are remembered. */
  get size(): number {
    return this.#hosts.size;
  }

  /** Whether the function has returned this origin is not remembered. */
  has(): boolean {
    return false;
  }

  /** JSON of the debug endpoint. */
  toJSON(): string {
    return "function";
  }

  #keep(request: IdpRequest, origin: Origin | undefined): Origin | undefined {
    if (origin !== undefined) this.#ofRequest.set(request, origin);
    return origin;
  }
}

async function askOrThrow(
  ask: AskOrigin,
  host: string,
  { events }: AskedOriginsParts,
): Promise<Origin | undefined> {
  try {
    return await ask(host);
  } catch (error) {
    events.log(
      error instanceof NotAnOriginError
        ? functionFailed("returned something other than an origin or undefined", {
            function: "baseUrl",
            kind: "not_an_origin",
          })
        : functionThrew("baseUrl", error),
    );
    throw new HookFailedError("baseUrl", "threw", { cause: error });
  }
}
