import type { EndReason } from "../../src/record/end-reason.js";
import type { ClientState } from "../../src/record/client-state.js";
import type { TestClock } from "../../src/testing/test-clock.js";

export const ORIGIN = "https://app.example";

export interface User {
  readonly account: string;
  readonly name: string;
}
export const ADA: User = { account: "account-of-ada", name: "Ada" };
export const BOB: User = { account: "account-of-bob", name: "Bob" };

export interface SentRequest {
  /** By the wall clock of the world, in milliseconds. */
  readonly at: number;
  readonly tab: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
}

interface Limits {
  readonly maxAge?: number;
  readonly idle?: number;
  readonly sessionExpiry?: number;
  readonly idToken?: number;
}

/**
 * idpauth and an application with the route /api/, as far as the client sees them. One session,
 * shared by all tabs.
 */
export class SessionServer {
  readonly clock: TestClock;
  /** Seconds that the server's clock is ahead of the browser's. */
  ahead = 0;
  /** Milliseconds that a request takes to the server, and a response back. */
  latency = { there: 1, back: 1 };
  sendsDate = true;
  reason: EndReason = "no_credentials";
  /** The provider of the sessions; null: the application has one, without a key. */
  provider: string | null = null;
  data: Record<string, unknown> | undefined;
  /** What the probe responds with instead; "network": the network fails. */
  outage:
    | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
    | "network"
    | undefined;
  readonly requests: SentRequest[] = [];
  /** The login with which the API demands a step-up of a signed-in user. */
  stepUpLogin: string | undefined;
  /** The provider that the API requires. */
  requiredProvider: string | undefined;
  /** What the API has taken: the body of each request of a signed-in user. */
  readonly taken: string[] = [];
  #session:
    | {
        readonly user: User;
        readonly startedAt: number;
        lastActive: number;
        readonly limits: Limits;
      }
    | undefined;

  constructor(clock: TestClock) {
    this.clock = clock;
  }

  /** Whole seconds by the server's clock. */
  get now(): number {
    return Math.floor(this.clock.now() / 1000 + this.ahead);
  }

  get lastActive(): number | undefined {
    return this.#session?.lastActive;
  }

  signIn(user: User, limits: Limits = {}): void {
    this.#session = { user, startedAt: this.now, lastActive: this.now, limits };
  }

  signOut(reason: EndReason = "no_credentials"): void {
    this.reason = reason;
    this.#session = undefined;
  }

  probes(tab?: string): SentRequest[] {
    return this.requests.filter(
      (one) => one.target.startsWith("/idpauth/session?") && (tab === undefined || one.tab === tab),
    );
  }

  respond(request: SentRequest): Response {
    this.requests.push(request);
    if (request.target.startsWith("/idpauth/session?"))
      return this.#probe(new URLSearchParams(request.target.split("?")[1]));
    if (request.target === "/idpauth/sessions")
      return this.#json({ status: "ended", ended: 1 }, this.#session ? 200 : 401);
    if (!this.#current()) return this.#json(this.unauthenticated(), 401);
    if (this.stepUpLogin !== undefined)
      return this.#json(
        {
          authenticated: true,
          error: "insufficient_user_authentication",
          login_url: this.stepUpLogin,
        },
        401,
      );
    this.taken.push(request.body);
    return this.#json({ user: this.#session?.user.name }, 200);
  }

  /** The guard's 401. */
  unauthenticated(): object {
    const provider = this.requiredProvider;
    return {
      authenticated: false,
      user: null,
      error: "login_required",
      reason: this.reason,
      login_url: `/idpauth/login/${provider === undefined ? "" : `?provider=${provider}`}`,
    };
  }

  #probe(query: URLSearchParams): Response {
    if (this.outage === "network") throw new TypeError("Failed to fetch");
    if (this.outage)
      return new Response(this.outage.body ?? '{"authenticated":false,"user":null}', this.outage);
    if (this.#session && query.get("slide") !== "false") this.#session.lastActive = this.now;
    return this.#json(this.details(), 200);
  }

  details(): ClientState {
    const session = this.#current();
    if (!session) {
      const nothing = {
        account: null,
        provider: null,
        data: null,
        expires_in: null,
        max_age_expires_in: null,
        idle_expires_in: null,
        session_expiry_expires_in: null,
        ends_in: null,
      };
      return { authenticated: false, user: null, reason: this.reason, ...nothing };
    }
    const left = leftOf(session, this.now);
    const ends = [
      left.max_age_expires_in,
      left.idle_expires_in,
      left.session_expiry_expires_in,
    ].filter((one) => one !== null);
    return {
      authenticated: true,
      user: { name: session.user.name, email: null, picture: null },
      reason: null,
      account: session.user.account,
      provider: this.provider,
      ...left,
      ends_in: ends.length === 0 ? null : Math.min(...ends),
      data: this.data ?? null,
    };
  }

  /** The session, unless one of its limits has been reached. */
  #current() {
    const session = this.#session;
    if (!session) return undefined;
    const { max_age_expires_in: maxAge, idle_expires_in: idle } = leftOf(session, this.now);
    const reason =
      maxAge !== null && maxAge <= 0 ? "max_age" : idle !== null && idle <= 0 ? "idle" : undefined;
    if (reason === undefined) return session;
    this.signOut(reason);
    return undefined;
  }

  #json(body: object, status: number): Response {
    const headers = {
      "Content-Type": "application/json",
      ...(this.sendsDate && { Date: new Date(this.now * 1000).toUTCString() }),
    };
    return new Response(JSON.stringify(body), { status, headers });
  }
}

function leftOf(
  { startedAt, lastActive, limits }: { startedAt: number; lastActive: number; limits: Limits },
  now: number,
) {
  const left = (limit: number | undefined, since: number) =>
    limit === undefined ? null : since + limit - now;
  return {
    expires_in: left(limits.idToken, startedAt),
    max_age_expires_in: left(limits.maxAge, startedAt),
    idle_expires_in: left(limits.idle, lastActive),
    session_expiry_expires_in: left(limits.sessionExpiry, startedAt),
  };
}
