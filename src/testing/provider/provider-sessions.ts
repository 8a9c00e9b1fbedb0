import { randomBytes } from "node:crypto";

/** A user's session at the provider. */
export interface ProviderSession {
  readonly sub: string;
  /**
   * The session's id, which ID tokens and logout tokens carry (OpenID Connect Back-Channel
   * Logout 1.0 section 2.1).
   */
  readonly sid: string;
}

/** A user's sign-in and sessions as plain values, for a restart of the provider. */
export interface KeptSessions {
  readonly sub: string;
  /** Epoch seconds. */
  readonly at: number;
  readonly sids: readonly string[];
}

/** The sessions of the users who are signed in at the provider. */
export class ProviderSessions {
  /** From each `sub` to the time of the sign-in, in epoch seconds. Tests may change it. */
  readonly signedIn = new Map<string, number>();
  /** From each `sub` to the ids of its sessions, the latest last. */
  readonly #sids = new Map<string, Set<string>>();

  /**
   * Records that the user signed in. A user who is signed in already keeps the session.
   * @param at epoch seconds
   */
  signIn(sub: string, at: number): void {
    if (!this.signedIn.has(sub)) this.#sids.delete(sub);
    this.signedIn.set(sub, at);
  }

  /**
   * Returns the session for a sign-in at the application: the user's latest one, or a new one.
   * @param wanted its id
   */
  forSignIn(sub: string, wanted?: string): ProviderSession {
    const sids = this.#sids.get(sub) ?? new Set();
    const sid = wanted ?? [...sids].at(-1) ?? randomBytes(16).toString("base64url");
    this.#sids.set(sub, sids.add(sid));
    return { sub, sid };
  }

  /** Returns the session with this id, or all sessions of the user with this `sub`. */
  find(subOrSid: string): ProviderSession[] {
    const all = [...this.signedIn.keys()].flatMap((sub) =>
      [...(this.#sids.get(sub) ?? [])].map((sid) => ({ sub, sid })),
    );
    const ofUser = all.filter(({ sub }) => sub === subOrSid);
    return ofUser.length > 0 ? ofUser : all.filter(({ sid }) => sid === subOrSid);
  }

  kept(): KeptSessions[] {
    return [...this.signedIn].map(([sub, at]) => ({
      sub,
      at,
      sids: [...(this.#sids.get(sub) ?? [])],
    }));
  }

  static from(kept: readonly KeptSessions[]): ProviderSessions {
    const sessions = new ProviderSessions();
    for (const { sub, at, sids } of kept) {
      sessions.signIn(sub, at);
      for (const sid of sids) sessions.forSignIn(sub, sid);
    }
    return sessions;
  }

  /** Ends a session. After the last one, the user is signed out at the provider. */
  end({ sub, sid }: ProviderSession): void {
    const sids = this.#sids.get(sub);
    sids?.delete(sid);
    if (sids !== undefined && sids.size > 0) return;
    this.#sids.delete(sub);
    this.signedIn.delete(sub);
  }
}
