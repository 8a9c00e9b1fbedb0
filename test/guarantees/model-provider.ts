import { ProviderRefusedError, ProviderUnavailableError } from "../../src/errors.js";
import type { IdInfo } from "../../src/record/identity.js";
import type { Provider } from "../../src/ports/provider.js";
import type { SignIn, SpentRefresh } from "../../src/record/credentials.js";
import { epochSeconds, type EpochSeconds } from "../../src/clock.js";
import { createBackOff, type BackOff } from "../../src/provider/back-off.js";
import type { Ledger } from "./ledger.js";
import type { ProviderLogout } from "./provider-logouts.js";
import type { Actor, Fault, Process, Scheduler } from "./scheduler.js";

export const ISSUER = "https://idp.example";
const TIMEOUT = 5_000;
export const TOKEN_LIFE = 3_600;

/**
 * All tokens that come from one sign-in. Tokens say what they are: `rt.f1.0` is the first refresh
 * token of family f1.
 */
export interface Family {
  readonly id: string;
  readonly user: string;
  /** The provider's session in which the user signed in, and the ID token's `iat`. */
  readonly sid: string;
  readonly signedInAt: EpochSeconds;
  /** Who exchanged the code. */
  readonly createdBy: Actor | undefined;
  /** The refresh token that is good. */
  refreshGeneration: number;
  /** Counts access tokens and ID tokens. */
  accessGeneration: number;
  revoked: boolean;
  /** A process asked for the revocation of a token that was good then. */
  revocationAsked: boolean;
  /** Epoch seconds at which the ID token of each generation expires. */
  readonly expiries: EpochSeconds[];
}

interface Approval {
  readonly user: string;
  readonly sid: string;
  readonly nonce: string;
  used: boolean;
}

export interface ProviderKind {
  readonly rotates: boolean;
  readonly endsGrant: boolean;
  readonly namesSession: boolean;
}

/** What the scheduler's faults decide for all processes. */
export interface Weather {
  isDown: boolean;
  jwksDown: boolean;
  /** The user whose ID tokens have a key that is not published. */
  unknownKey: string | undefined;
  /** Milliseconds that the next answers take, each way; used up one by one. */
  slowness: (readonly [number, number])[];
}

/** A token of the model, taken apart. */
export function partsOf(token: string): { readonly family: string; readonly generation: number } {
  const [, family = "", generation = ""] = token.split(".");
  return { family, generation: Number(generation) };
}

/**
 * A provider that rotates refresh tokens and, when a spent one comes back, revokes the whole family
 * (RFC 9700 section 4.14.2). It keeps every promise that a provider makes, however bad the line to
 * it is.
 */
export class ModelProvider {
  readonly weather: Weather = {
    isDown: false,
    jwksDown: false,
    unknownKey: undefined,
    slowness: [],
  };
  readonly families = new Map<string, Family>();
  readonly #approvals = new Map<string, Approval>();
  readonly #scheduler: Scheduler;
  readonly #ledger: Ledger;
  readonly #rotates: boolean;
  /** Revoking one token ends all that the user has with this client, as some providers do. */
  readonly #endsGrant: boolean;
  /** ID tokens and logout tokens name the provider's session. */
  readonly #namesSession: boolean;
  /** How many sessions each user has ended at the provider. */
  readonly #endedSessions = new Map<string, number>();

  constructor(
    scheduler: Scheduler,
    ledger: Ledger,
    { rotates, endsGrant, namesSession }: ProviderKind,
  ) {
    this.#scheduler = scheduler;
    this.#ledger = ledger;
    this.#rotates = rotates;
    this.#endsGrant = endsGrant;
    this.#namesSession = namesSession;
  }

  /** The user says yes. Gives the code. */
  approve(authorizationUrl: string, user: string): string {
    const nonce = new URL(authorizationUrl).searchParams.get("nonce") ?? "";
    const code = `code${String(this.#approvals.size + 1)}`;
    this.#approvals.set(code, { user, sid: this.#sidOf(user), nonce, used: false });
    return code;
  }

  /**
   * The user's session at the provider ends. Gives the logout token, by `sid` or by `sub` alone.
   */
  mintLogout(user: string, carrier: Actor): ProviderLogout {
    const { tokens } = this.#ledger.logouts;
    const bySid = this.#namesSession && this.#scheduler.random.chance(0.5);
    const logout = {
      text: `lt.${String(tokens.length + 1)}`,
      issuer: ISSUER,
      iat: epochSeconds(this.#scheduler.clock),
      sub: user,
      ...(bySid && { sid: this.#sidOf(user) }),
      carrier,
      isPosted: false,
      isConfirmed: false,
    };
    tokens.push(logout);
    this.#endedSessions.set(user, (this.#endedSessions.get(user) ?? 0) + 1);
    return logout;
  }

  #sidOf(user: string): string {
    return `${user}.${String(this.#endedSessions.get(user) ?? 0)}`;
  }

  /** The user takes the grant back at the provider itself. */
  withdraw(user: string): void {
    for (const family of this.families.values()) if (family.user === user) family.revoked = true;
  }

  /** The provider as one process reaches it. */
  of(process: Process): Provider {
    const scheduler = this.#scheduler;
    const ledger = this.#ledger;
    const clock = scheduler.clockOf(process);
    const backOff = createBackOff(clock, () => scheduler.random.next());
    const keysBackOff = createBackOff(clock, () => scheduler.random.next());
    /** Of sessions whose new tokens have an unknown key. */
    const sessions = new Map<string, BackOff>();
    /**
     * An endpoint is left alone for a while after an outage, as the package's own provider does.
     */
    const backingOff = async <Result>(
      endpoint: BackOff,
      ask: () => Promise<Result>,
    ): Promise<Result> => {
      const startedAt = clock.monotonic();
      try {
        const answer = await ask();
        endpoint.succeeded();
        return answer;
      } catch (error) {
        if (error instanceof ProviderUnavailableError)
          throw new ProviderUnavailableError(error.reason, {
            retryAfter: endpoint.failed(startedAt),
          });
        endpoint.succeeded();
        throw error;
      }
    };
    const assertReady = () => {
      backOff.assertReady();
      keysBackOff.assertReady();
    };
    const now = () => epochSeconds(scheduler.clock);
    const call = <Result>(
      label: string,
      work: () => Result,
      options: {
        signal?: AbortSignal;
        isAway: () => boolean;
        lost?: () => void;
        answered?: (result: Result) => void;
      },
    ): Promise<Result> => {
      const delays = this.weather.slowness.shift();
      return scheduler.operation<Result>(process, {
        label: `provider.${label}`,
        work,
        fault: () => this.#fault(options.isAway()),
        failure: (how) => new ProviderUnavailableError(how),
        ...(options.signal ? { signal: options.signal } : { timeout: TIMEOUT }),
        ...(delays && { delays }),
        ...(options.lost && { lost: options.lost }),
        ...(options.answered && { answered: options.answered }),
      });
    };
    const isDown = () => this.weather.isDown;
    const token = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
      assertReady();
      return backingOff(backOff, ask);
    };

    return {
      facts: () => Promise.resolve({ issuer: ISSUER, sendsIss: false, cancelled: "access_denied" }),
      logoutUrl: () => Promise.resolve(undefined),
      verifyResponse: () => Promise.reject(new ProviderRefusedError("response_format")),
      verifyLogoutToken: (text) =>
        call(
          `keys for ${text}`,
          () => {
            const logout = ledger.logouts.tokens.find((minted) => minted.text === text);
            if (logout === undefined) throw new ProviderRefusedError("logout_token_signature");
            const { issuer, iat, sub, sid } = logout;
            return {
              issuer,
              iat,
              ...(sub !== undefined && { sub }),
              ...(sid !== undefined && { sid }),
            };
          },
          { isAway: () => this.weather.jwksDown || this.weather.isDown },
        ),
      checkApiToken: () => Promise.resolve(),
      authorizationUrl: ({ state, nonce, redirectUri }) =>
        call(
          "authorizationUrl",
          () => ({
            url: `${ISSUER}/authorize?${new URLSearchParams({ state, nonce, redirect_uri: redirectUri }).toString()}`,
            isSilent: false,
          }),
          {
            isAway: isDown,
          },
        ),
      createDpopKey: () => Promise.resolve(undefined),
      assertReadyToExchange: assertReady,
      assertReadyToRefresh: (session) => {
        assertReady();
        sessions.get(session)?.assertReady();
      },
      exchange: ({ code, nonce }) =>
        token(() =>
          call(
            `exchange ${code}`,
            (): SignIn => {
              scheduler.count("exchange");
              const approval = this.#approvals.get(code);
              if (approval === undefined || approval.nonce !== nonce)
                throw new ProviderRefusedError("invalid_grant");
              if (approval.used)
                ledger.report("R9 one exchange per code", `${code} was exchanged twice`);
              approval.used = true;
              const family: Family = {
                id: `f${String(this.families.size + 1)}`,
                user: approval.user,
                sid: approval.sid,
                signedInAt: now(),
                createdBy: scheduler.current.actor,
                refreshGeneration: 0,
                accessGeneration: 0,
                revoked: false,
                revocationAsked: false,
                expiries: [now() + TOKEN_LIFE],
              };
              this.families.set(family.id, family);
              return {
                credentials: {
                  token: `at.${family.id}.0`,
                  refresh_token: `rt.${family.id}.0`,
                  token_uri: `${ISSUER}/token`,
                  client_id: "client",
                  client_secret: "client secret",
                  scopes: ["openid", "email"],
                },
                idInfo: this.#claims(family, 0),
                userinfoClaims: [],
                idToken: "an ID token",
                receivedAt: now(),
                accessTokenExpiresAt: now() + TOKEN_LIFE,
              };
            },
            { isAway: isDown },
          ),
        ),
      refresh: ({ refreshToken, signal, target }) =>
        token(() => {
          const request = ledger.refreshAsked(process, refreshToken);
          return call(
            `refresh ${refreshToken}`,
            (): SpentRefresh => {
              scheduler.count("refresh at the provider");
              const { family: id, generation } = partsOf(refreshToken);
              const family = this.families.get(id);
              if (family === undefined) throw new ProviderRefusedError("invalid_grant");
              if (this.#rotates && generation !== family.refreshGeneration) {
                ledger.reused(request);
                family.revoked = true;
              }
              if (family.revoked) {
                ledger.refused(request);
                throw new ProviderRefusedError("invalid_grant");
              }
              if (this.#rotates) family.refreshGeneration += 1;
              family.accessGeneration += 1;
              family.expiries.push(now() + TOKEN_LIFE);
              // A token for an API names it: `at.f1.2.orders`.
              const api = target === undefined ? "" : `.${target.api}`;
              const accessToken = `at.${id}.${String(family.accessGeneration)}${api}`;
              ledger.spent(request, family, accessToken);
              return {
                accessToken,
                refreshToken: this.#rotates
                  ? `rt.${id}.${String(family.refreshGeneration)}`
                  : undefined,
                idToken:
                  target === undefined ? `it.${id}.${String(family.accessGeneration)}` : undefined,
                scopes: undefined,
                receivedAt: now(),
                accessTokenExpiresAt: now() + TOKEN_LIFE,
              };
            },
            {
              signal,
              isAway: isDown,
              lost: () => ledger.lost(request),
              answered: () => ledger.answered(request),
            },
          ).catch((error: unknown) => {
            ledger.failed(request);
            throw error;
          });
        }),
      verifyRefreshed: async ({ idToken }, previous, { signal, session }) => {
        const startedAt = clock.monotonic();
        const verified = await backingOff(keysBackOff, () =>
          call(
            `keys for ${idToken ?? ""}`,
            () => {
              const { family: id, generation } = partsOf(idToken ?? "");
              const family = this.families.get(id);
              if (family === undefined) throw new ProviderRefusedError("id_token_signature");
              const claims = this.#claims(family, generation);
              if (claims.sub !== previous.id_info?.sub)
                throw new ProviderRefusedError("id_token_sub");
              if (family.user === this.weather.unknownKey) return undefined;
              return { idInfo: claims, userinfoClaims: [] };
            },
            {
              signal,
              isAway: () => {
                if (this.weather.jwksDown) scheduler.count("keys away after the token was spent");
                return this.weather.jwksDown || this.weather.isDown;
              },
            },
          ),
        );
        if (verified !== undefined) return verified;
        scheduler.count("unknown key after the token was spent");
        const own = sessions.get(session) ?? createBackOff(clock, () => scheduler.random.next());
        sessions.set(session, own);
        throw new ProviderUnavailableError("unknown_key", {
          retryAfter: own.failed(startedAt, { longest: 300 }),
        });
      },
      revoke: async (token) => {
        ledger.revocationAsked(token);
        try {
          return await call(
            `revoke ${token}`,
            () => {
              scheduler.count("revocation at the provider");
              this.#revoke(token);
              return true;
            },
            { isAway: isDown },
          );
        } catch {
          return false;
        }
      },
    };
  }

  #revoke(token: string): void {
    const { family: id, generation } = partsOf(token);
    const family = this.families.get(id);
    // A token that is not good any more is answered 200, and nothing happens (RFC 7009
    // section 2.2).
    if (
      family === undefined ||
      (token.startsWith("rt.") && generation !== family.refreshGeneration)
    )
      return;
    const all = this.#endsGrant
      ? [...this.families.values()].filter(({ user }) => user === family.user)
      : [family];
    for (const each of all) {
      const isInUse = each !== family && !each.revoked && this.#ledger.isInUse(each.id);
      if (isInUse && this.#scheduler.current.actor?.kind !== "logout") {
        this.#ledger.report(
          "7 giving tokens back signs nobody out",
          `giving ${token} back ended ${each.id}, which is in use`,
        );
      }
      each.revoked = true;
    }
  }

  #claims(family: Family, generation: number): IdInfo {
    const { user } = family;
    const exp = family.expiries[generation] ?? 0;
    return {
      iss: ISSUER,
      sub: user,
      aud: "client",
      email: `${user}@example.com`,
      name: user,
      exp,
      iat: exp - TOKEN_LIFE,
      ...(this.#namesSession && { sid: family.sid }),
    };
  }

  #fault(isAway: boolean): Fault {
    return isAway ? this.#scheduler.random.pick(["before", "before", "after", "hang"]) : "none";
  }
}
