import type { FastifyInstance } from "fastify";
import type { FrameworkSession, SessionMiddleware } from "../../index.js";
import type { AnyFastifyReply } from "./message.js";
import { OwnWrites, put, savedByPlugin, type Done, type Session } from "./own-writes.js";

interface Store {
  get(id: string, done: (error: unknown, data?: Record<string, unknown> | null) => void): void;
  set(id: string, data: Record<string, unknown>, done: Done): void;
  destroy(id: string, done: Done): void;
}

interface SessionRequest {
  session?: Partial<Session> | null;
  readonly sessionStore?: Store;
  readonly server: {
    /** Puts the session of a signed id into the request; for one that nobody has signed, a new, empty one. Nothing is stored. */
    decryptSession?(signedId: string, request: SessionRequest, done: Done): void;
  };
}

/** Whether @fastify/session is registered where the component is, as plugins tell at this moment: those before it. */
export function sessionPluginOf(app: Pick<FastifyInstance, "hasPlugin" | "hasRequestDecorator">): SessionMiddleware {
  if (app.hasPlugin("@fastify/session")) return "present";
  if (app.hasPlugin("@fastify/secure-session")) return "cookie-only";
  return app.hasRequestDecorator("session") ? "unknown" : "absent";
}

/** The sessions of @fastify/session, for one component. */
export class FastifySessions {
  readonly #writes = OwnWrites.ofThisProcess;
  readonly #replies = new WeakMap<object, AnyFastifyReply>();

  /** The session of this request. Anything else that is called `session` has no store, and is none for us. */
  of(raw: object): FrameworkSession | undefined {
    this.#watch(raw);
    const request = raw as SessionRequest;
    return sessionOf(request) && new SessionOfFastify(request, () => this.#replies.get(raw)?.sent === true, this.#writes);
  }

  /**
   * To be called as soon as a request is seen: keeps what the plugin writes at the end of its response from going over what we
   * write meanwhile, and tells whether the response has been sent.
   */
  meet(raw: object, reply: AnyFastifyReply): void {
    this.#replies.set(raw, reply);
    this.#watch(raw);
  }

  #watch(raw: object): void {
    const session = sessionOf(raw as SessionRequest);
    if (session !== undefined && !Object.hasOwn(session, "save")) this.#writes.watch(session);
  }

  /** To be called before an answer of our own is sent: the plugin sends no cookie for a session that has ended meanwhile. */
  leaveEnded(raw: object): void {
    const request = raw as SessionRequest;
    if (this.#writes.hasEnded(request.session?.sessionId)) request.session = null;
  }
}

function sessionOf({ session, sessionStore }: SessionRequest): Session | undefined {
  const isSession = typeof session?.sessionId === "string" && typeof session.save === "function";
  return isSession && typeof sessionStore?.destroy === "function" ? (session as Session) : undefined;
}

class SessionOfFastify implements FrameworkSession {
  readonly #request: SessionRequest;
  readonly #isOver: () => boolean;
  readonly #writes: OwnWrites;

  constructor(request: SessionRequest, isOver: () => boolean, writes: OwnWrites) {
    this.#request = request;
    this.#isOver = isOver;
    this.#writes = writes;
  }

  get id(): string {
    return this.#request.session?.sessionId ?? "";
  }

  get data(): Readonly<Record<string, unknown>> {
    return this.#request.session ?? {};
  }

  load(): Promise<Record<string, unknown> | undefined> {
    return new Promise((resolve, reject) => {
      this.#store.get(this.id, (error, data) => {
        // Stores out of files say so when there is no session; the plugin reads it the same way.
        if (error && (error as { code?: unknown }).code !== "ENOENT") reject(asError(error));
        else resolve(error ? undefined : (data ?? undefined));
      });
    });
  }

  async save(keys: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#isOver()) {
      // The request is over, and its copy old: only our keys go onto what others have stored since.
      const stored = await this.load();
      if (stored === undefined) return;
      // The store in memory hands out what it keeps: it must not change before it is told to.
      const next = { ...stored };
      put(next, keys);
      await promised((done) => {
        this.#store.set(this.id, next, done);
      });
      this.#writes.note(this.id, keys);
      return;
    }
    const session = this.#session;
    const before = Object.fromEntries(Object.keys(keys).map((name) => [name, session[name]]));
    put(session, keys);
    try {
      await promised((done) => savedByPlugin(session, done));
    } catch (error) {
      // Changed, it would be written at the end of the response.
      put(session, before);
      throw error;
    }
    this.#writes.note(session.sessionId, keys);
  }

  async regenerate(keys: Readonly<Record<string, unknown>>, keepApplicationKeys: boolean): Promise<void> {
    const old = this.#session;
    const oldId = this.id;
    const next = this.#generated();
    put(next, { ...(keepApplicationKeys && applicationKeysOf(old)), ...keys });
    try {
      // The plugin's own `regenerate` destroys first: a store that then fails would have signed the visitor out.
      await promised((done) => savedByPlugin(next, done));
      await this.#destroyStored(oldId);
    } catch (error) {
      await this.#destroyStored(next.sessionId).catch(() => undefined);
      throw error;
    }
    this.#writes.note(oldId, undefined);
    this.#writes.watch(next);
    this.#writes.note(next.sessionId, keys);
    this.#request.session = next;
  }

  async destroy(): Promise<void> {
    if ((await this.load()) === undefined) {
      // A visitor who never had a session gets none by signing out.
      for (const key of Object.keys(applicationKeysOf(this.#session))) Reflect.deleteProperty(this.#session, key);
      return;
    }
    const next = this.#generated();
    await this.#destroyStored(this.id);
    this.#writes.note(this.id, undefined);
    this.#request.session = next;
  }

  /** A new session beside the request's own, which stays: the plugin finds nothing changed should the rest fail. */
  #generated(): Session {
    const request = this.#request;
    const { session } = request;
    try {
      // Nobody has signed "", so the plugin makes a new one at once.
      request.server.decryptSession?.("", request, () => undefined);
      if (request.session === session) throw new Error("@fastify/session made no new session.");
      return request.session as Session;
    } finally {
      request.session = session ?? null;
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

/** Everything in the session that is not the plugin's own. */
function applicationKeysOf(session: Session): Record<string, unknown> {
  return Object.fromEntries(Object.entries(session).filter(([key]) => key !== "cookie"));
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
  return error instanceof Error ? error : new Error("The session plugin's store failed.", { cause: error });
}
