import type { FastifyInstance } from "fastify";
import type { FrameworkSession, SessionMiddleware } from "../../adapter.js";
import {
  CallbackSession,
  type CallbackStore,
  type Done,
  type Identified,
  type SessionObject,
} from "../node/save-and-reload.js";
import type { AnyFastifyReply } from "./fastify-message.js";

// The types of @fastify/session are an optional dependency of the application, so the fields used
// here are described again.

interface Session extends SessionObject {
  readonly sessionId: string;
  /** Whether this object was saved, in this request. */
  isSaved(): boolean;
}

interface SessionRequest {
  session?: Partial<Session> | null;
  readonly sessionStore?: CallbackStore;
  readonly server: {
    /**
     * Puts the session of a signed id into the request, or a new one if the signature is wrong. It
     * stores nothing.
     */
    decryptSession?(signedId: string, request: SessionRequest, done: Done): void;
  };
}

/**
 * Whether @fastify/session is registered for this scope, among the plugins that were loaded before.
 */
export function sessionPluginOf(
  scope: Pick<FastifyInstance, "hasPlugin" | "hasRequestDecorator">,
): SessionMiddleware {
  if (scope.hasPlugin("@fastify/session")) return "present";
  if (scope.hasPlugin("@fastify/secure-session")) return "cookie-only";
  return scope.hasRequestDecorator("session") ? "unknown" : "absent";
}

/** The sessions of @fastify/session. */
export class FastifySessions {
  readonly #replies = new WeakMap<object, AnyFastifyReply>();
  readonly #sessions = new WeakMap<object, FastifySession>();

  /** Remembers the reply of a request, which shows later whether the response was sent. */
  meet(request: object, reply: AnyFastifyReply): void {
    this.#replies.set(request, reply);
  }

  /** The session of this request. Another object of that name has no store, and does not count. */
  of(raw: object): FrameworkSession | undefined {
    const request = raw as SessionRequest;
    const { session, sessionStore } = request;
    if (typeof session?.sessionId !== "string" || typeof session.save !== "function")
      return undefined;
    if (typeof sessionStore?.destroy !== "function") return undefined;
    const opened = new FastifySession(request, () => this.#replies.get(raw)?.sent === true);
    this.#sessions.set(raw, opened);
    return opened;
  }

  /**
   * Takes a session that another request has ended off this request. The plugin sends the cookie of
   * every session that was saved, and an ended session's cookie would replace the one that the
   * other request's response has set.
   */
  leaveEnded(raw: object): void {
    if (this.#sessions.get(raw)?.hasEnded === true) (raw as SessionRequest).session = null;
  }
}

class FastifySession extends CallbackSession {
  readonly #request: SessionRequest;
  readonly #isOver: () => boolean;
  /** The request's session when the store last had no session of its id. */
  #missing: SessionRequest["session"];

  constructor(request: SessionRequest, isOver: () => boolean) {
    super();
    this.#request = request;
    this.#isOver = isOver;
  }

  /** Whether the request has saved its session, and the store has it no longer. */
  get hasEnded(): boolean {
    const { session } = this.#request;
    return session === this.#missing && session?.isSaved?.() === true;
  }

  override async load(): Promise<Record<string, unknown> | undefined> {
    const stored = await super.load();
    this.#missing = stored === undefined ? this.#request.session : undefined;
    return stored;
  }

  override async save(keys: Readonly<Record<string, unknown>>): Promise<void> {
    await super.save(keys);
    this.#missing = undefined;
  }

  get id(): string {
    return this.#request.session?.sessionId ?? "";
  }

  protected get session(): SessionObject {
    return (this.#request.session ?? {}) as SessionObject;
  }

  protected get store(): CallbackStore {
    return this.#request.sessionStore as CallbackStore;
  }

  protected get isOver(): boolean {
    return this.#isOver();
  }

  protected create(): Identified {
    const request = this.#request;
    const { session } = request;
    try {
      // "" has no valid signature, so the plugin creates a new session synchronously.
      request.server.decryptSession?.("", request, () => undefined);
      if (request.session === session)
        throw new Error("@fastify/session didn't create a new session.");
      return { id: this.id, session: this.session };
    } finally {
      request.session = session ?? null;
    }
  }

  protected use({ session }: Identified): void {
    this.#request.session = session;
  }
}
