import type { Request } from "express";
import type { HostSession } from "../index.js";

/** What is used of express-session; its types are the application's own, optional dependency. */
interface Session {
  [key: string]: unknown;
  regenerate(done: Done): unknown;
  save(done: Done): unknown;
}

interface Store {
  get(id: string, done: (error: unknown, data?: Record<string, unknown> | null) => void): void;
  set(id: string, data: Record<string, unknown>, done: Done): void;
}

type Done = (error?: unknown) => void;

interface SessionRequest {
  session?: Session;
  sessionID?: string;
  sessionStore?: Store;
  res?: { readonly writableEnded: boolean };
}

/** The session of express-session on this request. A session without a store lies in a cookie, and is none for us. */
export function hostSessionOf(raw: Request): HostSession | undefined {
  const request = raw as unknown as SessionRequest;
  if (request.session === undefined || request.sessionStore === undefined || typeof request.session.regenerate !== "function")
    return undefined;
  return new ExpressSession(request);
}

class ExpressSession implements HostSession {
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

  mirror(keys: Readonly<Record<string, unknown>>): void {
    put(this.#session, keys);
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

  async regenerate(keys: Readonly<Record<string, unknown>>, keepHostKeys: boolean): Promise<void> {
    const hostKeys = keepHostKeys ? hostKeysOf(this.#session) : {};
    await promised((done) => this.#session.regenerate(done));
    put(this.#session, { ...hostKeys, ...keys });
    await promised((done) => this.#session.save(done));
  }

  async destroy(): Promise<void> {
    const isStored = (await this.load()) !== undefined;
    // A visitor who never had a session gets none by signing out.
    if (isStored) await promised((done) => this.#session.regenerate(done));
    else for (const key of Object.keys(hostKeysOf(this.#session))) Reflect.deleteProperty(this.#session, key);
  }

  /** Looked up each time: `regenerate` puts another object in its place. */
  get #session(): Session {
    return this.#request.session as Session;
  }

  get #store(): Store {
    return this.#request.sessionStore as Store;
  }
}

/** Everything in the session that is not the middleware's own. */
function hostKeysOf(session: Session): Record<string, unknown> {
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
