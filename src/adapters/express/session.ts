import type { Request } from "express";
import type { FrameworkSession } from "../../index.js";

/** What is used of express-session; its types are the application's own, optional dependency. */
interface Session {
  [key: string]: unknown;
  save(done: Done): unknown;
}

interface Store {
  get(id: string, done: (error: unknown, data?: Record<string, unknown> | null) => void): void;
  set(id: string, data: Record<string, unknown>, done: Done): void;
  destroy(id: string, done: Done): void;
  /** Puts a new, empty session with a new id into the request; nothing is stored. The middleware itself adds this. */
  generate(request: SessionRequest): void;
}

type Done = (error?: unknown) => void;

interface SessionRequest {
  session?: Session;
  sessionID?: string;
  sessionStore?: Store;
  res?: { readonly writableEnded: boolean };
}

/** The session of express-session on this request. A session without a store lies in a cookie, and is none for us. */
export function frameworkSessionOf(raw: Request): FrameworkSession | undefined {
  const request = raw as unknown as SessionRequest;
  if (request.session === undefined || typeof request.sessionStore?.generate !== "function") return undefined;
  return new ExpressSession(request);
}

class ExpressSession implements FrameworkSession {
  readonly #request: SessionRequest;

  constructor(request: SessionRequest) {
    this.#request = request;
  }

  get id(): string {
    return this.#request.sessionID ?? "";
  }

  get data(): Readonly<Record<string, unknown>> {
    return this.#session;
  }

  load(): Promise<Record<string, unknown> | undefined> {
    return new Promise((resolve, reject) => {
      this.#store.get(this.id, (error, data) => {
        if (error) reject(asError(error));
        else resolve(data ?? undefined);
      });
    });
  }

  async save(keys: Readonly<Record<string, unknown>>): Promise<void> {
    put(this.#session, keys);
    if (this.#request.res?.writableEnded !== true) {
      // Saving through the session tells the middleware that nothing is left to write when the response ends.
      await promised((done) => this.#session.save(done));
      return;
    }
    // The request is over, and its copy old: only our keys go onto what others have stored since.
    const fresh = await this.load();
    if (fresh === undefined) return;
    put(fresh, keys);
    await promised((done) => {
      this.#store.set(this.id, fresh, done);
    });
  }

  async regenerate(keys: Readonly<Record<string, unknown>>, keepApplicationKeys: boolean): Promise<void> {
    const old = { id: this.id, session: this.#session };
    const next = this.#generated();
    put(next.session, { ...(keepApplicationKeys && applicationKeysOf(old.session)), ...keys });
    try {
      // The middleware's own `regenerate` destroys first: a store that then fails would have signed the visitor out.
      await promised((done) => next.session.save(done));
      await this.#destroyStored(old.id);
    } catch (error) {
      await this.#destroyStored(next.id).catch(() => undefined);
      throw error;
    }
    this.#request.sessionID = next.id;
    this.#request.session = next.session;
  }

  async destroy(): Promise<void> {
    if ((await this.load()) === undefined) {
      // A visitor who never had a session gets none by signing out.
      for (const key of Object.keys(applicationKeysOf(this.#session))) Reflect.deleteProperty(this.#session, key);
      return;
    }
    await this.#destroyStored(this.id);
    this.#store.generate(this.#request);
  }

  /** A new session beside the request's own, which stays: the middleware finds nothing changed should the rest fail. */
  #generated(): { readonly id: string; readonly session: Session } {
    const { id } = this;
    const session = this.#session;
    try {
      this.#store.generate(this.#request);
      return { id: this.id, session: this.#session };
    } finally {
      this.#request.sessionID = id;
      this.#request.session = session;
    }
  }

  #destroyStored(id: string): Promise<void> {
    return promised((done) => {
      this.#store.destroy(id, done);
    });
  }

  /** Looked up each time: a new id brings another object with it. */
  get #session(): Session {
    return this.#request.session as Session;
  }

  get #store(): Store {
    return this.#request.sessionStore as Store;
  }
}

/** Everything in the session that is not the middleware's own. */
function applicationKeysOf(session: Session): Record<string, unknown> {
  const { cookie: _cookie, ...keys } = session;
  return keys;
}

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
  return error instanceof Error ? error : new Error("The session middleware's store failed.", { cause: error });
}
