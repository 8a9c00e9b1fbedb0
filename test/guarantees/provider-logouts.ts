import type { LogoutToken } from "../../src/ports/provider.js";
import type { Stored } from "../../src/ports/session-store.js";
import type { EpochSeconds } from "../../src/clock.js";
import type { Sealer } from "../../src/sessions/seal.js";
import type { Session } from "./ledger.js";
import { partsOf, type Family } from "./model-provider.js";
import type { Actor, Scheduler } from "./scheduler.js";

/**
 * Seconds by which the ID token of a sign-in may be newer than the logout token that ends its
 * session: as specified, not as coded.
 */
const TOLERANCE = 5;

export const LOGGED_OUT = "logout at the provider";

/** One logout token of the model, and what became of it. */
export interface ProviderLogout extends LogoutToken {
  readonly text: string;
  /** The provider's request that carries it. */
  readonly carrier: Actor;
  /** It has reached a process. */
  isPosted: boolean;
  /** A process has responded with 200. */
  isConfirmed: boolean;
}

export interface LogoutLedgerParts {
  readonly sealer: Sealer;
  readonly scheduler: Scheduler;
  readonly family: (id: string) => Family | undefined;
  readonly report: (check: string, message: string) => void;
}

/** An entry that is no session: the trace of an ended one, or a remembered logout. */
type Note = { readonly kind: "trace" } | { readonly kind: "logout"; readonly iat: EpochSeconds };

/**
 * Knows every logout token, the traces and the remembered logouts, and which sessions a logout must
 * end.
 */
export class LogoutLedger {
  readonly tokens: ProviderLogout[] = [];
  readonly #parts: LogoutLedgerParts;
  /** The keys that have had a trace. */
  readonly #traced = new Set<string>();
  readonly #remembered = new Map<string, EpochSeconds>();

  constructor(parts: LogoutLedgerParts) {
    this.#parts = parts;
  }

  /**
   * Whether a logout must end this session: it is of that provider session or user, and its sign-in
   * is not newer.
   */
  covers({ sid, sub, iat }: LogoutToken, { record }: Session): boolean {
    const family = this.#parts.family(partsOf(record.credentials?.token ?? "").family);
    if (family === undefined || (sid === undefined ? family.user !== sub : family.sid !== sid))
      return false;
    return family.signedInAt <= iat + TOLERANCE;
  }

  isPostedFor(session: Session): boolean {
    return this.tokens.some((logout) => logout.isPosted && this.covers(logout, session));
  }

  isConfirmedFor(session: Session | undefined): boolean {
    return (
      session !== undefined &&
      this.tokens.some((logout) => logout.isConfirmed && this.covers(logout, session))
    );
  }

  /** The response was 200. @param held the sessions whose cookies browsers have */
  confirmed(logout: ProviderLogout, sessions: readonly Session[], held: readonly Session[]): void {
    const { report, scheduler } = this.#parts;
    const { carrier } = logout;
    logout.isConfirmed = true;
    const left = held.filter((session) => session.isAlive && this.covers(logout, session));
    if (left.length > 0)
      report(
        "6 a logout at the provider wins",
        `${namesOf(left)} is left after ${carrier.name} was confirmed`,
      );
    const ended = sessions.filter(({ deletedBy }) => deletedBy === carrier);
    const untraced = carrier.faulted ? [] : ended.filter(({ key }) => !this.#traced.has(key));
    if (untraced.length > 0)
      report("6 an ended session leaves a trace", `${namesOf(untraced)} left none`);
    if (ended.length > 0) scheduler.count("ended at the provider");
    const { sub, iat } = logout;
    const isNewer = ({ isAlive, record: { credentials } }: Session) => {
      const family = this.#parts.family(partsOf(credentials?.token ?? "").family);
      return isAlive && family?.user === sub && (family?.signedInAt ?? 0) > iat + TOLERANCE;
    };
    if (held.some(isNewer)) scheduler.count("a later sign-in outlived a late logout token");
  }

  /** A session was deleted. */
  deleted(session: Session, actor: Actor | undefined): void {
    if (!this.tokens.some(({ carrier }) => carrier === actor)) return;
    session.endedBy ??= LOGGED_OUT;
    // One fetch of the keys settles all tokens that wait, so a request may run the logout of
    // another request's token.
    if (!this.isPostedFor(session))
      this.#parts.report(
        "6 a logout token ends no other session and no later one",
        `${actor?.name ?? "?"} ended ${session.name}`,
      );
  }

  /** A callback said that a logout came first. @param created the sessions that it has stored */
  overtook(actor: Actor | undefined, created: readonly Session[]): void {
    this.#parts.scheduler.count("a logout overtook its callback");
    if (!created.some((session) => this.isPostedFor(session)))
      this.#parts.report(
        "6 a logout token ends no other session and no later one",
        `${actor?.name ?? "?"} was turned away`,
      );
  }

  // The store

  /** Sees a write. False: the entry is a session. */
  wrote(key: string, session: Session | undefined, stored: Stored | undefined): boolean {
    const note = stored && this.#noteOf(key, stored);
    if (stored === undefined || note === undefined) return false;
    const { report, scheduler } = this.#parts;
    if (stored.subject !== undefined || stored.sid !== undefined)
      report(
        "6 traces and remembered logouts are in no list",
        `a ${note.kind} is written with an index`,
      );
    const { actor } = scheduler.current;
    if (!this.tokens.some(({ carrier, isPosted }) => carrier === actor && isPosted))
      report("6 only a logout leaves a note", `${actor?.name ?? "?"} wrote a ${note.kind}`);
    if (note.kind === "logout") {
      if (note.iat < (this.#remembered.get(key) ?? -Infinity))
        report("6 the newest logout is remembered", "an older one was written over it");
      this.#remembered.set(key, note.iat);
      scheduler.count("logout remembered");
    } else if (session === undefined || session.isAlive) {
      report("6 an ended session leaves a trace", "a trace is written where no session has ended");
    } else {
      this.#traced.add(key);
      scheduler.count("trace left");
    }
    return true;
  }

  isNote(key: string, stored: Stored | undefined): boolean {
    return stored !== undefined && this.#noteOf(key, stored) !== undefined;
  }

  listed(found: readonly (Session | undefined)[]): void {
    for (const session of found) {
      if (session?.isAlive !== true || session.record.credentials === undefined)
        this.#parts.report(
          "6 traces and remembered logouts are in no list",
          `${session?.name ?? "what is no session"} is listed`,
        );
    }
  }

  #noteOf(key: string, { data, summary }: Stored): Note | undefined {
    const text = summary && this.#parts.sealer.openSummary(summary, key);
    const { ended, logout_iat: iat } = JSON.parse(text ?? "{}") as {
      ended?: string;
      logout_iat?: EpochSeconds;
    };
    if (!(data instanceof Uint8Array) || data.length > 1) return undefined;
    return ended !== undefined
      ? { kind: "trace" }
      : iat !== undefined
        ? { kind: "logout", iat }
        : undefined;
  }
}

function namesOf(sessions: readonly Session[]): string {
  return sessions.map(({ name }) => name).join(", ");
}
