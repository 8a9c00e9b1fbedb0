import type { FrameworkSession } from "../../adapter.js";

/** How a session plugin and its store report that an operation is done. */
export type Done = (error?: unknown) => void;

/**
 * The functions that idpauth uses of a session object, of express-session and of @fastify/session.
 */
export interface SessionObject {
  [key: string]: unknown;
  save(done: Done): unknown;
}

/** The functions that idpauth uses of a session store. */
export interface CallbackStore {
  get(id: string, done: (error: unknown, data?: Record<string, unknown> | null) => void): void;
  set(id: string, data: Record<string, unknown>, done: Done): void;
  destroy(id: string, done: Done): void;
}

/** A session with its id. */
export interface Identified {
  readonly id: string;
  readonly session: SessionObject;
}

/**
 * The session of a framework whose session store takes callbacks. An adapter says where session and
 * store are on its request.
 */
export abstract class CallbackSession implements FrameworkSession {
  abstract readonly id: string;
  /** The request's session. Read each time, because a new id comes with a new object. */
  protected abstract readonly session: SessionObject;
  protected abstract readonly store: CallbackStore;
  /**
   * Whether the plugin remembers a failed `save` as done. It then writes the session again when the
   * response ends if the copy no longer is as it was for that `save`.
   */
  protected readonly isSavedAfterFailure: boolean = false;
  /** Whether the response was sent. The request's copy is old then. */
  protected abstract readonly isOver: boolean;
  /**
   * Creates a new session and stores nothing. The request keeps its own, so that the plugin finds
   * no change if the rest fails.
   */
  protected abstract create(): Identified;
  /** Makes a session the request's own. */
  protected abstract use(created: Identified): void;

  get data(): Readonly<Record<string, unknown>> {
    return this.session;
  }

  load(): Promise<Record<string, unknown> | undefined> {
    return new Promise((resolve, reject) => {
      this.store.get(this.id, (error, data) => {
        // Stores that keep files report a missing session as ENOENT; the plugins read it the same
        // way.
        if (error && (error as { code?: unknown }).code !== "ENOENT") reject(asError(error));
        else resolve(error ? undefined : (data ?? undefined));
      });
    });
  }

  async save(keys: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.isOver) {
      // Only these keys change in what other requests have stored since.
      const stored = await this.load();
      if (stored === undefined) return;
      // A store in memory returns the object that it keeps, which must not change before `set`.
      const next = { ...stored };
      put(next, keys);
      await promised((done) => {
        this.store.set(this.id, next, done);
      });
      return;
    }
    const { session } = this;
    const before = Object.fromEntries(Object.keys(keys).map((name) => [name, session[name]]));
    put(session, keys);
    try {
      // Saving through the session tells the plugin that nothing is left to write when the response
      // ends.
      await promised((done) => session.save(done));
    } catch (error) {
      // The plugin would write a changed session when the response ends.
      if (!this.isSavedAfterFailure) put(session, before);
      throw error;
    }
  }

  async regenerate(
    keys: Readonly<Record<string, unknown>>,
    keepApplicationKeys: boolean,
  ): Promise<void> {
    const oldId = this.id;
    const created = this.create();
    put(created.session, { ...(keepApplicationKeys && applicationKeysOf(this.session)), ...keys });
    try {
      // The plugin's own `regenerate` destroys first: if the store then failed, the user would be
      // signed out.
      await promised((done) => created.session.save(done));
      await this.#destroyStored(oldId);
    } catch (error) {
      await this.#destroyStored(created.id).catch(() => undefined);
      throw error;
    }
    this.use(created);
  }

  async destroy(): Promise<void> {
    if ((await this.load()) === undefined) {
      // A user without a session gets none by signing out.
      for (const key of Object.keys(applicationKeysOf(this.session)))
        Reflect.deleteProperty(this.session, key);
      return;
    }
    const created = this.create();
    await this.#destroyStored(this.id);
    this.use(created);
  }

  #destroyStored(id: string): Promise<void> {
    return promised((done) => {
      this.store.destroy(id, done);
    });
  }
}

/** Every key of the session except the plugin's own. */
function applicationKeysOf({ cookie: _cookie, ...keys }: SessionObject): Record<string, unknown> {
  return keys;
}

/** Sets these keys; an undefined value removes its key. */
function put(target: Record<string, unknown>, keys: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(keys)) {
    if (value === undefined) Reflect.deleteProperty(target, key);
    else target[key] = value;
  }
}

function promised(call: (done: Done) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => {
      if (error) reject(asError(error));
      else resolve();
    });
  });
}

function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error("The framework's session store failed.", { cause: error });
}
