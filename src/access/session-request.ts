import type { Clock } from "../clock.js";
import { seenHost } from "../http/forwarded-headers.js";
import { isAtUnknownHost, ownOrigin, type AddressSettings } from "../http/own-origin.js";
import type { Origin } from "../http/redirects.js";
import type { IdpRequest } from "../http/request.js";
import type { UserSession } from "../ports/user-session.js";

/** What all requests of an application share. */
export interface SessionRequestParts {
  readonly settings: AddressSettings;
  readonly clock: Clock;
}

/**
 * One request with its session. Every request creates one, so it computes its addresses only when
 * they are read.
 */
export class SessionRequest {
  readonly request: IdpRequest;
  /** The session that the request's cookie names. */
  readonly session: UserSession;
  /** The clock's `monotonic()`. */
  readonly openedAt: number;
  readonly #settings: AddressSettings;

  constructor(request: IdpRequest, session: UserSession, { settings, clock }: SessionRequestParts) {
    this.request = request;
    this.session = session;
    this.openedAt = clock.monotonic();
    this.#settings = settings;
  }

  /**
   * The application's own origin as the user sees it; undefined when neither BASE_URL nor a usable
   * `Host` header gives it.
   */
  get origin(): Origin | undefined {
    return ownOrigin(this.request, this.#settings);
  }

  /** Whether the host isn't the application's, which has several origins. There is no session then. */
  get isAtUnknownHost(): boolean {
    return isAtUnknownHost(this.request, this.#settings);
  }

  /** Host and port as the browser sent them, whatever BASE_URL is. */
  get host(): string | undefined {
    return seenHost(this.request, this.#settings.trustProxy);
  }
}
