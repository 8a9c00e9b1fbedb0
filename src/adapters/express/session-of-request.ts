import type { Request } from "express";
import type { FrameworkSession } from "../../adapter.js";
import {
  CallbackSession,
  type CallbackStore,
  type Identified,
  type SessionObject,
} from "../node/save-and-reload.js";

// The types of express-session are an optional dependency of the application, so the fields used
// here are described again.

interface Store extends CallbackStore {
  /**
   * Puts a new, empty session with a new id into the request and stores nothing. The middleware
   * itself adds this method.
   */
  generate(request: SessionRequest): void;
}

interface SessionRequest {
  session?: SessionObject;
  sessionID?: string;
  sessionStore?: Store;
  res?: { readonly writableEnded: boolean };
}

/**
 * The session of express-session on this request. A session without a store is kept in a cookie,
 * and does not count.
 */
export function frameworkSessionOf(raw: Request): FrameworkSession | undefined {
  const request = raw as unknown as SessionRequest;
  if (request.session === undefined || typeof request.sessionStore?.generate !== "function")
    return undefined;
  return new ExpressSession(request);
}

class ExpressSession extends CallbackSession {
  protected override readonly isSavedAfterFailure = true;
  readonly #request: SessionRequest;

  constructor(request: SessionRequest) {
    super();
    this.#request = request;
  }

  get id(): string {
    return this.#request.sessionID ?? "";
  }

  protected get session(): SessionObject {
    return this.#request.session as SessionObject;
  }

  protected get store(): Store {
    return this.#request.sessionStore as Store;
  }

  protected get isOver(): boolean {
    return this.#request.res?.writableEnded === true;
  }

  protected create(): Identified {
    const { id, session } = this;
    try {
      this.store.generate(this.#request);
      return { id: this.id, session: this.session };
    } finally {
      this.use({ id, session });
    }
  }

  protected use({ id, session }: Identified): void {
    this.#request.sessionID = id;
    this.#request.session = session;
  }
}
