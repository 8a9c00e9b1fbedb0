import type { Stored } from "../../src/ports/session-store.js";
import { parseRecord } from "../../src/record/stored-form.js";
import { PENDING_LOGIN_SECONDS } from "../../src/record/pending-logins.js";
import type { SessionRecord } from "../../src/record/record.js";
import { epochSeconds, type EpochSeconds } from "../../src/clock.js";
import { createSealer } from "../../src/sessions/seal.js";
import { storeKeyOf } from "../../src/sessions/cookie.js";
import { modelData, tagsIn, type SignInHook } from "./application-hooks.js";
import { partsOf, type Family } from "./model-provider.js";
import { LogoutLedger } from "./provider-logouts.js";
import type { Actor, Process, Scheduler } from "./scheduler.js";

export const SECRET_KEY = "a secret key of at least 32 bytes";

/**
 * Milliseconds for which nobody may take another's lease: what the architecture says, not what the
 * code says. The provider's deadline of 30 s, four store operations of 2 s, and a margin of 2 s.
 */
const WHOLE_LEASE = 40_000;
/** Milliseconds that a holder may go on trying to store what it has been given. */
const STORING_BOUND = 10_000;

const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};

/**
 * One guarantee was broken. The check's name begins with the guarantee's number (architecture,
 * "Seven guarantees").
 */
export interface Violation {
  readonly check: string;
  readonly message: string;
}

/** What lies, or lay, under one key of the store. */
export interface Session {
  readonly key: string;
  readonly name: string;
  /** In the store at this moment. */
  isAlive: boolean;
  record: SessionRecord;
  lastActive: EpochSeconds | undefined;
  /** Access tokens, and the epoch second at which each was stored. */
  readonly storedAt: Map<string, EpochSeconds>;
  /** Who wrote the lease that is in the record. */
  lease: { readonly nonce: string; readonly process: Process; readonly at: number } | undefined;
  /** Whose delete found it. */
  deletedBy: Actor | undefined;
  /** The step of that delete. */
  deletedAt: number | undefined;
  /** Nobody is signed in any more, and that is right. */
  endedBy: string | undefined;
  /** The actor that created it, and the session that this actor came with. */
  readonly createdBy: Actor | undefined;
}

/** One token request of a refresh. */
export interface RefreshRequest {
  readonly process: Process;
  readonly actor: Actor | undefined;
  readonly token: string;
  readonly session: Session | undefined;
  readonly nonce: string | undefined;
  /** `lost`: it may have been worked, and its sender will never know. */
  state: "sent" | "answered" | "lost" | "failed" | "refused";
  /** The provider did the work. */
  spent: boolean;
  answeredAt: number;
  /** The refresh token it brought, or the access token where the provider does not rotate. */
  brought: string | undefined;
  stored: boolean;
  /** Its lease was given back. */
  isOver: boolean;
}

/**
 * Sees every operation at the store and at the provider in the step in which it happens, and says
 * which guarantee it breaks. It reads what lies in the store by itself: it knows every cookie value
 * that was ever made.
 */
export class Ledger {
  readonly violations: Violation[] = [];
  readonly sessions = new Map<string, Session>();
  readonly requests: RefreshRequest[] = [];
  /** Seconds before its expiry from which a token may be refreshed in this run. */
  earliness = 0;
  /** The APIs that requests of this run need a token for. */
  apis: readonly string[] = [];
  /** What `onSignIn` does in this run. */
  signInHook: SignInHook = "none";
  readonly logouts: LogoutLedger;
  /** States that came back and were taken out of their session. */
  readonly #usedStates = new Set<string>();
  readonly #cookieValues = new Map<string, string>();
  readonly #sealer = createSealer(SECRET_KEY, []);
  readonly #scheduler: Scheduler;
  readonly #family: (id: string) => Family | undefined;

  constructor(scheduler: Scheduler, family: (id: string) => Family | undefined) {
    this.#scheduler = scheduler;
    this.#family = family;
    const report = this.report.bind(this);
    this.logouts = new LogoutLedger({ sealer: this.#sealer, scheduler, family, report });
  }

  report(check: string, message: string): void {
    this.#scheduler.note(`BROKEN ${check}: ${message}`);
    this.violations.push({ check, message });
  }

  made(bytes: Buffer): void {
    if (bytes.length !== 32) return;
    const value = bytes.toString("base64url");
    this.#cookieValues.set(storeKeyOf(value), value);
  }

  nameOf(key: string): string {
    return this.sessions.get(key)?.name ?? "k?";
  }

  /** The session that a cookie leads to. */
  sessionOf(cookieValue: string | undefined): Session | undefined {
    return cookieValue === undefined ? undefined : this.sessions.get(storeKeyOf(cookieValue));
  }

  // The store

  inserted(process: Process, key: string, stored: Stored | undefined): void {
    const before = this.sessions.get(key);
    if (this.logouts.wrote(key, before, stored) || this.#wroteTrace(key, before, stored)) return;
    const record = this.#open(key, stored);
    if (before !== undefined) {
      this.report("6 what is deleted stays deleted", `${before.name} exists again`);
    }
    const { actor } = this.#scheduler.current;
    const session: Session = {
      key,
      name: `k${String(this.sessions.size + 1)}`,
      isAlive: true,
      record,
      lastActive: stored?.lastActive,
      storedAt: new Map(),
      lease: undefined,
      deletedBy: undefined,
      deletedAt: undefined,
      endedBy: undefined,
      createdBy: actor,
    };
    this.sessions.set(key, session);
    this.#scheduler.note(`       ${session.name} is ${describe(record)}`);
    if (record.idp_state.lease !== undefined)
      this.report("4 a lease is taken, not carried over", `${session.name} is created with one`);
    this.#checkOwner(session);
    const isCallback =
      actor?.kind === "callback" || actor?.kind === "signIn" || actor?.kind === "setup";
    if (record.credentials !== undefined && !isCallback) {
      this.report(
        "6 only a callback signs in",
        `${actor?.name ?? "?"} of ${process.name} created ${session.name} with tokens`,
      );
    }
  }

  replaced(process: Process, key: string, stored: Stored | undefined): void {
    const session = this.sessions.get(key);
    if (session === undefined && this.logouts.wrote(key, session, stored)) return;
    if (this.#isTrace(key, stored)) {
      if (session?.isAlive !== true)
        this.report("6 what is deleted stays deleted", `a trace over ${this.nameOf(key)}`);
      else this.#ended(session);
      this.#wroteTrace(key, session, stored);
      return;
    }
    if (session === undefined || !session.isAlive || stored === undefined) {
      this.report("6 what is deleted stays deleted", `a write to ${this.nameOf(key)} went through`);
      return;
    }
    const { actor } = this.#scheduler.current;
    const next = this.#open(key, stored);
    const previous = session.record;
    session.record = next;
    this.#stamped(session, stored);
    this.#scheduler.note(`       ${session.name} is ${describe(next)}`);
    const holder = session.lease?.process;
    this.#checkLease(session, previous, next, process, actor);
    this.#checkTokens(session, previous, next, process === holder, actor);
    this.#checkApis(session, previous, next, process === holder, actor);
    this.#checkLogins(session, previous, next, actor);
    this.#checkData(session, previous, next, actor);
    if (previous.idp_login_at !== next.idp_login_at && !isSigningIn(actor)) {
      this.report("caps are never lifted", `idp_login_at of ${session.name} moved`);
    }
    const token = next.credentials?.token;
    if (token !== undefined && token !== previous.credentials?.token)
      session.storedAt.set(token, epochSeconds(this.#scheduler.clock));
    const brought = [
      next.credentials?.refresh_token,
      next.credentials?.token,
      ...apiTokens(next).values(),
    ];
    for (const request of this.requests)
      if (request.brought !== undefined && brought.includes(request.brought)) request.stored = true;
  }

  touched(key: string, stored: Stored | undefined): void {
    const session = this.sessions.get(key);
    if (this.logouts.isNote(key, stored) || this.#isTrace(key, stored)) {
      this.#scheduler.count("a stamp on a trace");
      return;
    }
    if (session === undefined || !session.isAlive || stored === undefined) {
      this.report("6 what is deleted stays deleted", `a stamp on ${this.nameOf(key)} went through`);
      return;
    }
    this.#stamped(session, stored);
  }

  deleted(key: string, removed: Stored | undefined): void {
    const session = this.sessions.get(key);
    if (session === undefined || removed === undefined || this.logouts.isNote(key, removed)) return;
    if (this.#isTrace(key, removed)) return;
    this.#ended(session);
  }

  /** Its record is gone: deleted, or replaced by a trace. */
  #ended(session: Session): void {
    const { actor } = this.#scheduler.current;
    session.isAlive = false;
    session.deletedBy = actor;
    session.deletedAt = this.#scheduler.stepsTaken;
    if (actor?.kind === "logout") session.endedBy ??= "logout";
    this.logouts.deleted(session, actor);
  }

  /** The trace of the sign-in that replaced this key. False: the entry is something else. */
  #wroteTrace(key: string, session: Session | undefined, stored: Stored | undefined): boolean {
    const trace = this.#traceOf(key, stored);
    if (stored === undefined || trace === undefined) return false;
    const { actor } = this.#scheduler.current;
    const name = this.nameOf(key);
    if (stored.subject !== undefined || stored.sid !== undefined || stored.summary !== undefined)
      this.report("6 a trace names nobody", `that of ${name} has an index`);
    if (session === undefined || session.isAlive || !isSigningIn(actor))
      this.report("6 only a sign-in leaves a trace", `${actor?.name ?? "?"} left one at ${name}`);
    for (const { key: other, record } of this.sessions.values())
      for (const secret of [
        this.#cookieValues.get(other),
        record.credentials?.token,
        record.credentials?.refresh_token,
      ])
        if (secret !== undefined && trace.includes(secret))
          this.report("6 a trace tells nothing of a session", `that of ${name}`);
    this.#scheduler.count("trace of a sign-in");
    return true;
  }

  #isTrace(key: string, stored: Stored | undefined): boolean {
    return this.#traceOf(key, stored) !== undefined;
  }

  #traceOf(key: string, stored: Stored | undefined): string | undefined {
    const value = this.#cookieValues.get(key);
    return value !== undefined && stored?.data instanceof Uint8Array
      ? this.#sealer.openTrace(stored.data, value, key)
      : undefined;
  }

  listed(keys: readonly string[]): void {
    this.logouts.listed(keys.map((key) => this.sessions.get(key)));
  }

  #stamped(session: Session, stored: Stored): void {
    if ((stored.lastActive ?? -Infinity) < (session.lastActive ?? -Infinity)) {
      this.report("5 the idle stamp never moves back", session.name);
    }
    session.lastActive = stored.lastActive;
  }

  #checkLease(
    session: Session,
    previous: SessionRecord,
    next: SessionRecord,
    process: Process,
    actor: Actor | undefined,
  ): void {
    const before = previous.idp_state.lease?.nonce;
    const after = next.idp_state.lease?.nonce;
    const { clock, count } = this.#scheduler;
    const now = clock.monotonic();
    if (before === after) return;
    const held = session.lease;
    if (after === undefined) {
      session.lease = undefined;
      for (const request of this.requests) if (request.nonce === before) request.isOver = true;
      if (held?.process !== process && !isSigningIn(actor)) {
        this.report(
          "5 only the holder writes",
          `${process.name} took away the lease of ${held?.process.name ?? "nobody"} on ${session.name}`,
        );
      }
      return;
    }
    count("lease taken");
    if (before !== undefined && held !== undefined) {
      count("takeover");
      if (now - held.at < WHOLE_LEASE) {
        const age = String(now - held.at);
        this.report(
          "4 no second refresher while the first lives",
          `${process.name} took the lease of ${held.process.name} on ${session.name} after ${age} ms`,
        );
      }
    }
    session.lease = { nonce: after, process, at: now };
    const exp = Number(previous.id_info?.exp);
    const needsApi = this.apis.some(
      (api) => !((previous.idp_state.apis?.[api]?.expires_at ?? 0) - 30 > epochSeconds(clock)),
    );
    if (
      exp - this.earliness > epochSeconds(clock) &&
      next.idp_state.review_due !== true &&
      !needsApi
    ) {
      this.report(
        "3 a late request uses the refreshed tokens",
        `${process.name} begins to refresh ${session.name}, which is fresh`,
      );
    }
  }

  #checkTokens(
    session: Session,
    previous: SessionRecord,
    next: SessionRecord,
    isHolder: boolean,
    actor: Actor | undefined,
  ): void {
    const before = previous.credentials;
    const after = next.credentials;
    if (before === undefined) {
      if (after !== undefined && !isSigningIn(actor))
        this.report("6 only a callback signs in", `${session.name} got tokens`);
      return;
    }
    if (after === undefined) {
      this.report(
        "5 no old copy overwrites newer tokens",
        `${session.name} has no tokens any more`,
      );
      return;
    }
    if (
      before.token === after.token &&
      before.refresh_token === after.refresh_token &&
      next.id_info?.exp === previous.id_info?.exp
    )
      return;
    if (partsOf(before.token).family !== partsOf(after.token).family) {
      this.report(
        "everybody keeps their own identity",
        `${session.name} was given tokens of another sign-in`,
      );
    }
    if (partsOf(after.token).generation < partsOf(before.token).generation) {
      this.report(
        "5 no old copy overwrites newer tokens",
        `${session.name}: ${after.token} over ${before.token}`,
      );
    }
    if (Number(next.id_info?.exp) < Number(previous.id_info?.exp)) {
      this.report("5 no old copy overwrites newer tokens", `${session.name}: an older ID token`);
    }
    if (!isHolder && !isSigningIn(actor))
      this.report(
        "5 only the holder writes",
        `tokens of ${session.name} were written without its lease`,
      );
    if (after.refresh_token === undefined) {
      if (before.refresh_token === undefined) return;
      if (next.idp_state.rejected !== undefined) {
        this.#scheduler.count("ended by onRefresh");
        session.endedBy ??= "denial";
        return;
      }
      const nonce = previous.idp_state.lease?.nonce;
      const isRefused = this.requests.some(
        (request) =>
          request.state === "refused" &&
          request.nonce === nonce &&
          request.token === before.refresh_token,
      );
      if (!isRefused)
        this.report(
          "7 an outage signs nobody out",
          `the refresh token of ${session.name} was dropped without a refusal`,
        );
      session.endedBy ??= "refusal";
    } else if (
      partsOf(after.refresh_token).generation < partsOf(before.refresh_token ?? "rt..0").generation
    ) {
      this.report(
        "5 no old copy overwrites newer tokens",
        `${session.name}: ${after.refresh_token} over ${before.refresh_token ?? "nothing"}`,
      );
    }
  }

  /** The tokens for APIs are written by the holder, each under its own API, and never go back. */
  #checkApis(
    session: Session,
    previous: SessionRecord,
    next: SessionRecord,
    isHolder: boolean,
    actor: Actor | undefined,
  ): void {
    const before = apiTokens(previous);
    for (const [api, token] of apiTokens(next)) {
      const old = before.get(api);
      if (token === old) continue;
      this.#scheduler.count("a token for an API stored");
      if (!token.endsWith(`.${api}`))
        this.report(
          "a token for one API goes to no other",
          `${session.name} has ${token} for ${api}`,
        );
      if (!isHolder && !isSigningIn(actor))
        this.report(
          "5 only the holder writes",
          `${token} of ${session.name} was written without its lease`,
        );
      if (old !== undefined && partsOf(token).generation < partsOf(old).generation)
        this.report(
          "5 no old copy overwrites newer tokens",
          `${session.name}: ${token} over ${old}`,
        );
      if (partsOf(token).family !== partsOf(next.credentials?.token ?? "").family)
        this.report("everybody keeps their own identity", `${session.name} was given ${token}`);
    }
  }

  #checkLogins(
    session: Session,
    previous: SessionRecord,
    next: SessionRecord,
    actor: Actor | undefined,
  ): void {
    const before = previous.idp_state.logins ?? [];
    const after = next.idp_state.logins ?? [];
    const now = epochSeconds(this.#scheduler.clock);
    const lost = before.filter(
      (login) =>
        !after.some(({ state }) => state === login.state) &&
        login.started_at + PENDING_LOGIN_SECONDS > now,
    );
    if (lost.length > 0 && !isSigningIn(actor))
      this.report(
        "5 no old copy overwrites newer data",
        `${session.name} lost a login in progress`,
      );
    for (const { state } of lost) this.#usedStates.add(state);
    // What a write leaves as it was, it has not brought back.
    if (after.length > before.length) this.checkUsed(session, next);
  }

  /**
   * No write takes a change away, or makes it twice. Only a sign-in whose hook says so begins anew.
   */
  #checkData(
    session: Session,
    previous: SessionRecord,
    next: SessionRecord,
    actor: Actor | undefined,
  ): void {
    const [before, after] = [tagsIn(previous), tagsIn(next)];
    const lost = before.filter((tag) => !after.includes(tag));
    const isReplaced = isSigningIn(actor) && this.signInHook === "replaces";
    if (lost.length > 0 && !isReplaced)
      this.report("no update of the data is lost", `${session.name} lost ${lost.join()}`);
    this.#checkOwner(session);
  }

  #checkOwner({ name, record }: Session): void {
    const { owner, tags } = modelData(record.idp_state.data);
    if (new Set(tags).size < tags.length)
      this.report("a change of the data is made once", `${name} has ${tags.join()}`);
    if (owner !== undefined && owner !== record.id_info?.sub)
      this.report(
        "data stays with its person",
        `${name} of ${String(record.id_info?.sub)} has the data of ${JSON.stringify(owner)}`,
      );
    const others = tags.filter(
      (tag) =>
        tag.includes(":at.") &&
        this.#family(partsOf(tag.slice(tag.indexOf(":") + 1)).family)?.user !== owner,
    );
    if (others.length > 0)
      this.report(
        "data stays with its person",
        `${name} of ${JSON.stringify(owner)} has ${others.join()}`,
      );
  }

  /** A session that is given out must hold no login that was used up before. */
  checkUsed({ name }: Session, { idp_state: { logins = [] } }: SessionRecord): void {
    if (logins.some(({ state }) => this.#usedStates.has(state))) {
      this.report(
        "5 no old copy overwrites newer data",
        `${name} has a login again that was used up`,
      );
    }
  }

  #open(key: string, stored: Stored | undefined): SessionRecord {
    const value = this.#cookieValues.get(key);
    const data = stored?.data;
    const plain =
      value !== undefined && data instanceof Uint8Array
        ? this.#sealer.open(data, value, key)
        : undefined;
    const record = plain === undefined ? undefined : parseRecord(JSON.parse(plain), NAMES);
    if (record === undefined) {
      this.report("records stay readable", `nobody can open what lies under ${this.nameOf(key)}`);
      return { idp_state: { v: 1 } };
    }
    return record;
  }

  // The provider

  refreshAsked(process: Process, token: string): RefreshRequest {
    const { clock, current, count } = this.#scheduler;
    const now = clock.monotonic();
    const session = [...this.sessions.values()].find(
      ({ isAlive, record }) => isAlive && record.credentials?.refresh_token === token,
    );
    const request: RefreshRequest = {
      process,
      actor: current.actor,
      token,
      session,
      nonce: session?.lease?.nonce,
      state: "sent",
      spent: false,
      answeredAt: 0,
      brought: undefined,
      stored: false,
      isOver: false,
    };
    count("token request");
    if (session !== undefined && session.lease?.process !== process) {
      const holder = session.lease?.process.name ?? "nobody";
      this.report(
        "2 one token request",
        `${process.name} sends ${token}, but the lease of ${session.name} is held by ${holder}`,
      );
    }
    for (const earlier of this.requests) {
      if (earlier.token !== token || earlier.process.crashed) continue;
      const isUnderWay = earlier.state === "sent";
      const isBeingStored =
        earlier.state === "answered" &&
        !earlier.stored &&
        !earlier.isOver &&
        now - earlier.answeredAt < STORING_BOUND;
      if (isUnderWay || isBeingStored) {
        const check = earlier.process === process ? "1 one token request" : "2 one token request";
        this.report(
          check,
          `${process.name} sends ${token} while ${earlier.process.name} still lives`,
        );
      } else if (
        earlier.state === "answered" &&
        earlier.stored &&
        earlier.brought?.startsWith("rt.") === true
      ) {
        this.report(
          "3 a late request uses the refreshed tokens",
          `${process.name} sends ${token} after ${earlier.brought} was stored`,
        );
      }
    }
    this.requests.push(request);
    return request;
  }

  spent(request: RefreshRequest, family: Family, accessToken: string): void {
    request.spent = true;
    const rotated = `rt.${family.id}.${String(family.refreshGeneration)}`;
    request.brought = rotated === request.token ? accessToken : rotated;
  }

  answered(request: RefreshRequest): void {
    request.state = "answered";
    request.answeredAt = this.#scheduler.clock.monotonic();
  }

  lost(request: RefreshRequest): void {
    request.state = "lost";
  }

  failed(request: RefreshRequest): void {
    if (request.state === "sent") request.state = "failed";
  }

  refused(request: RefreshRequest): void {
    request.state = "refused";
  }

  /**
   * A spent token came back. Only one case excuses it: what it had bought never reached a store.
   */
  reused(request: RefreshRequest): void {
    const { clock, count } = this.#scheduler;
    const buyer = this.requests.find(
      (other) => other !== request && other.token === request.token && other.spent,
    );
    const isExcused =
      buyer !== undefined &&
      !buyer.stored &&
      (buyer.process.crashed ||
        buyer.state === "lost" ||
        (buyer.actor?.faulted === true && clock.monotonic() - buyer.answeredAt >= STORING_BOUND));
    if (isExcused) count("reuse in the named case");
    else
      this.report(
        "4 the provider sees no spent token",
        `${request.process.name} sent ${request.token} again`,
      );
  }

  /** Somebody is signed in with tokens of this family. */
  isInUse(family: string): boolean {
    return [...this.sessions.values()].some(
      ({ isAlive, record }) =>
        isAlive && partsOf(record.credentials?.token ?? "").family === family,
    );
  }

  revocationAsked(token: string): void {
    const family = this.#family(partsOf(token).family);
    if (family === undefined) return;
    if (token.startsWith("at.") || partsOf(token).generation === family.refreshGeneration)
      family.revocationAsked = true;
    if (this.#scheduler.current.actor?.kind !== "logout") this.#scheduler.count("late revocation");
  }
}

function apiTokens({ idp_state: { apis = {} } }: SessionRecord): Map<string, string> {
  return new Map(
    Object.entries(apis).flatMap(([api, { token }]): [string, string][] =>
      token === undefined ? [] : [[api, token]],
    ),
  );
}

function isSigningIn(actor: Actor | undefined): boolean {
  return actor?.kind === "callback" || actor?.kind === "signIn" || actor?.kind === "setup";
}

function describe(record: SessionRecord): string {
  const { credentials, idp_state: state } = record;
  return [
    credentials === undefined
      ? "nobody's"
      : `${credentials.token} ${credentials.refresh_token ?? "no refresh token"}`,
    ...(state.lease === undefined ? [] : [`lease ${state.lease.nonce.slice(0, 4)}`]),
    ...(state.logins === undefined ? [] : [`${String(state.logins.length)} logins`]),
  ].join(", ");
}
