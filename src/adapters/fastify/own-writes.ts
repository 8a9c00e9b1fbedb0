/** What is used of @fastify/session; its types are the application's own, optional dependency. */
export interface Session {
  [key: string]: unknown;
  readonly sessionId: string;
  /** Without `done` it gives a promise. */
  save(done?: Done): unknown;
  isModified(): boolean;
}

/** How the plugin and its stores say that something is done. */
export type Done = (error?: unknown) => void;

/** How many sessions are remembered that we have written. What was forgotten counts as newer than what a request has read. */
const REMEMBERED = 1_000;

/**
 * What we have written lately. With its option `rolling`, which is the default, the plugin writes the session as a request
 * read it when its response ends, whoever has written since: it would bring spent tokens back and undo a logout. In this
 * process it does not; of other processes nobody here knows.
 */
export class OwnWrites {
  /** One for all components of an application, for they share its sessions. */
  static readonly ofThisProcess = new OwnWrites();

  /** By session id, the latest last. Undefined keys: the session has ended. */
  readonly #latest = new Map<string, { readonly at: number; readonly keys: Readonly<Record<string, unknown>> | undefined }>();
  #count = 0;
  /** The latest write that is not remembered any more. */
  #forgotten = 0;

  note(id: string, keys: Readonly<Record<string, unknown>> | undefined): void {
    this.#count += 1;
    this.#latest.delete(id);
    this.#latest.set(id, { at: this.#count, keys });
    if (this.#latest.size <= REMEMBERED) return;
    for (const [oldest, { at }] of this.#latest) {
      this.#forgotten = at;
      this.#latest.delete(oldest);
      break;
    }
  }

  hasEnded(id: string | undefined): boolean {
    const latest = this.#latest.get(id ?? "");
    return latest !== undefined && latest.keys === undefined;
  }

  watch(session: Session): void {
    const readAt = this.#count;
    Object.defineProperty(session, "save", {
      configurable: true,
      value: (done?: Done): unknown => {
        const since = this.#latest.get(session.sessionId);
        // An ended session stays so, also for a request whose look into the store began before that and ended after.
        const isNewest = since === undefined ? this.#forgotten <= readAt : since.keys !== undefined && since.at <= readAt;
        if (isNewest) return savedByPlugin(session, done);
        if (since?.keys !== undefined && session.isModified()) {
          put(session, since.keys);
          return savedByPlugin(session, done);
        }
        // Nothing of this request's own is left to write.
        if (done === undefined) return Promise.resolve();
        done();
        return undefined;
      },
    });
  }
}

/** As the plugin's own class has it, whatever lies over it. */
export function savedByPlugin(session: Session, done?: Done): unknown {
  return (Object.getPrototypeOf(session) as Session).save.call(session, done);
}

/** Sets these keys; an undefined value removes its key. */
export function put(target: Record<string, unknown>, keys: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(keys)) {
    if (value === undefined) Reflect.deleteProperty(target, key);
    else target[key] = value;
  }
}
