import { createHash, randomBytes } from "node:crypto";
import type { PersonClaims } from "./people.js";

/**
 * The claims about the user's authentication that an authorization request asks for: `auth_time`,
 * `acr`, `acrs`.
 */
export type AuthenticationClaims = Readonly<Record<string, unknown>>;

/** A user's approval of an authorization request. */
export interface Approval {
  readonly person: PersonClaims;
  /** The id of the provider's session; undefined in a state that an earlier version has saved. */
  readonly sid: string | undefined;
  /** The claims about the authentication that the request asked for. */
  readonly authentication: AuthenticationClaims;
  /**
   * When the user signed in at the provider, in epoch seconds; undefined in a state that an earlier
   * version has saved.
   */
  readonly authTime: number | undefined;
  /** The scopes that the user granted. */
  readonly scope: string;
  /** Whether the user chose the scopes and APIs. No token of this sign-in then gets others. */
  readonly consented: boolean;
  /** The APIs that the request named; the tokens of this sign-in are for them. */
  readonly audience: readonly string[];
  readonly redirectUri: string;
  readonly nonce: string | undefined;
  /** The S256 challenge (RFC 7636 section 4.2); undefined when the request had none. */
  readonly challenge: string | undefined;
  /** The thumbprint of the key that may redeem the code (RFC 9449 section 10). */
  readonly dpopJkt: string | undefined;
}

/** All tokens of one sign-in, which are revoked together. */
export interface Family {
  readonly approval: Approval;
  revoked: boolean;
  /** The thumbprint of the key that may refresh; undefined: any. */
  jkt?: string;
}

interface Code {
  readonly approval: Approval;
  readonly expiresAt: number;
  /**
   * Set when the code was redeemed; a second redemption revokes what the first one gave (RFC 6749
   * section 4.1.2).
   */
  family: Family | undefined;
}

interface RefreshToken {
  readonly family: Family;
  readonly issuedAt: number;
  /** When it was rotated away, in milliseconds. */
  usedAt: number | undefined;
}

/** What a refresh requested its access token for. Empty: the sign-in's own token. */
export interface RequestedTarget {
  /** The `resource` of RFC 8707. */
  readonly resource?: string;
  /** The `audience` that some providers take instead. */
  readonly audience?: string;
  /** The scopes that the refresh asked for. */
  readonly scope?: string;
}

/** What an access token is for. */
interface AccessGrant {
  readonly family: Family;
  readonly target: RequestedTarget;
  /** Those of RFC 9068 section 2.2, also of an opaque token. */
  readonly claims: AccessTokenClaims;
  readonly expiresAt: number;
}

interface AccessToken extends AccessGrant {
  revoked: boolean;
}

/** The claims of an access token. */
export type AccessTokenClaims = Readonly<Record<string, unknown>>;

/** A valid token, and what the provider knows of it. */
export type ActiveToken =
  | {
      readonly kind: "access";
      readonly family: Family;
      readonly target: RequestedTarget;
      readonly claims: AccessTokenClaims;
    }
  | { readonly kind: "refresh"; readonly family: Family; readonly issuedAt: number };

/** A code or token that the provider has issued. Tests search for it in the wrong places. */
export interface Issued {
  /** `code`: an authorization code. */
  readonly kind: "code" | "access_token" | "refresh_token" | "id_token" | "logout_token";
  /** The code or token itself. */
  readonly value: string;
}

/** How refresh tokens behave. */
export interface RefreshRules {
  readonly rotation: boolean;
  readonly reuseDetection: boolean;
  readonly reuseGraceSeconds: number;
}

/**
 * The grants as plain values, for a restart of the provider. Codes are left out, because they live
 * for a minute.
 */
export interface KeptGrants {
  readonly approvals: readonly Approval[];
  readonly refreshTokens: readonly {
    readonly token: string;
    /** The index of its approval; tokens of one approval are one family. */
    readonly family: number;
    readonly issuedAt: number;
    readonly usedAt: number | undefined;
  }[];
  readonly accessTokens: readonly {
    readonly token: string;
    readonly family: number;
    readonly target: RequestedTarget;
    readonly claims: AccessTokenClaims;
    readonly expiresAt: number;
  }[];
}

const CODE_LIFE_MS = 60_000;
/** A refresh token that is not used for this long is forgotten. */
const REFRESH_TOKEN_LIFE_MS = 90 * 24 * 3600 * 1000;
/** For this long a spent refresh token is remembered, so that its reuse revokes the family. */
const SPENT_MS = 24 * 3600 * 1000;

/** The codes and tokens, and their validity. Times are milliseconds of the provider's clock. */
export class Grants {
  readonly issued: Issued[] = [];
  /** How many times a spent refresh token came back and its family was revoked. */
  reuses = 0;
  readonly #codes = new Map<string, Code>();
  readonly #refreshTokens = new Map<string, RefreshToken>();
  readonly #accessTokens = new Map<string, AccessToken>();

  note(kind: Issued["kind"], value: string): string {
    this.issued.push({ kind, value });
    return value;
  }

  issueCode(approval: Approval, now: number): string {
    const code = this.note("code", secret("code"));
    this.#codes.set(code, { approval, expiresAt: now + CODE_LIFE_MS, family: undefined });
    return code;
  }

  /**
   * The family that the code begins, or why there is none. Whatever comes of it, the code is spent.
   */
  redeemCode(
    code: string,
    request: { redirectUri: string | null; verifier: string | null; pkce: boolean },
    now: number,
  ): Family | string {
    const found = this.#codes.get(code);
    if (found === undefined) return "unknown code";
    if (found.family !== undefined) {
      found.family.revoked = true;
      return "code already used";
    }
    const { approval } = found;
    const family = { approval, revoked: false };
    found.family = family;
    if (now >= found.expiresAt) return "code expired";
    if (request.redirectUri !== approval.redirectUri) return "redirect_uri differs";
    if (request.pkce && !fits(request.verifier, approval.challenge))
      return "code_verifier doesn't fit";
    return family;
  }

  /** @param jwt the token; default an opaque one */
  issueAccessToken(grant: AccessGrant, jwt?: string): string {
    const token = this.note("access_token", jwt ?? secret("at"));
    this.#accessTokens.set(token, { ...grant, revoked: false });
    return token;
  }

  issueRefreshToken(family: Family, now: number): string {
    const token = this.note("refresh_token", secret("rt"));
    this.#refreshTokens.set(token, { family, issuedAt: now, usedAt: undefined });
    return token;
  }

  /**
   * Spends a refresh token: the family it belongs to and, when it is rotated, its successor; or why
   * it is refused.
   */
  spendRefreshToken(
    token: string,
    rules: RefreshRules,
    now: number,
  ): { family: Family; successor: string | undefined } | string {
    const found = this.#refreshTokens.get(token);
    if (found === undefined) return "unknown refresh token";
    if (found.family.revoked) return "refresh token revoked";
    if (isSpent(found, rules, now)) {
      if (rules.reuseDetection) {
        found.family.revoked = true;
        this.reuses += 1;
      }
      return "refresh token already used";
    }
    if (!rules.rotation) return { family: found.family, successor: undefined };
    found.usedAt ??= now;
    return { family: found.family, successor: this.issueRefreshToken(found.family, now) };
  }

  /** Returns what an access token was requested for; undefined for an unknown one. */
  targetOf(accessToken: string): RequestedTarget | undefined {
    return this.#accessTokens.get(accessToken)?.target;
  }

  /** Returns an access or refresh token that is still valid. */
  active(token: string, rules: RefreshRules, now: number): ActiveToken | undefined {
    const access = this.#accessTokens.get(token);
    if (access !== undefined)
      return isUsable(access, now) ? { kind: "access", ...access } : undefined;
    const refresh = this.#refreshTokens.get(token);
    return refresh === undefined || refresh.family.revoked || isSpent(refresh, rules, now)
      ? undefined
      : { kind: "refresh", ...refresh };
  }

  /**
   * RFC 7009 section 2.1: a refresh token takes its family with it, an access token goes alone, an
   * unknown one is no error.
   */
  revoke(token: string): void {
    const refresh = this.#refreshTokens.get(token);
    if (refresh !== undefined) refresh.family.revoked = true;
    const access = this.#accessTokens.get(token);
    if (access !== undefined) access.revoked = true;
  }

  /**
   * Refuses the tokens of a provider session that has ended, unless the sign-in had the scope
   * `offline_access`.
   */
  endSession(sid: string): void {
    for (const { family } of [...this.#refreshTokens.values(), ...this.#accessTokens.values()]) {
      const { approval } = family;
      if (approval.sid === sid && !approval.scope.split(" ").includes("offline_access"))
        family.revoked = true;
    }
  }

  /** Forgets what has expired, for a provider that runs for days. */
  prune(now: number): void {
    this.issued.length = 0;
    remove(this.#codes, ({ expiresAt }) => now >= expiresAt + CODE_LIFE_MS);
    remove(this.#accessTokens, (access) => !isUsable(access, now));
    remove(
      this.#refreshTokens,
      ({ family, issuedAt, usedAt }) =>
        family.revoked ||
        now >= issuedAt + REFRESH_TOKEN_LIFE_MS ||
        (usedAt !== undefined && now >= usedAt + SPENT_MS),
    );
  }

  /** What is left after {@link prune}. */
  kept(): KeptGrants {
    const families: Family[] = [];
    const indexOf = (family: Family) => {
      const known = families.indexOf(family);
      return known < 0 ? families.push(family) - 1 : known;
    };
    const refreshTokens = [...this.#refreshTokens].map(([token, { family, issuedAt, usedAt }]) => ({
      token,
      family: indexOf(family),
      issuedAt,
      usedAt,
    }));
    const accessTokens = [...this.#accessTokens].map(
      ([token, { family, target, claims, expiresAt }]) => ({
        token,
        family: indexOf(family),
        target,
        claims,
        expiresAt,
      }),
    );
    return { approvals: families.map(({ approval }) => approval), refreshTokens, accessTokens };
  }

  /** @throws Error a token names an approval that is not there */
  static from({ approvals, refreshTokens, accessTokens }: KeptGrants): Grants {
    const grants = new Grants();
    const families = approvals.map((approval): Family => ({ approval, revoked: false }));
    const familyAt = (index: number) => {
      const family = families[index];
      if (family === undefined) throw new Error("a token belongs to no approval");
      return family;
    };
    for (const { token, family, issuedAt, usedAt } of refreshTokens)
      grants.#refreshTokens.set(token, { family: familyAt(family), issuedAt, usedAt });
    for (const { token, family, ...others } of accessTokens)
      grants.#accessTokens.set(token, { ...others, family: familyAt(family), revoked: false });
    return grants;
  }

  /** Refuses every refresh token and access token of now, as after a user withdraws consent. */
  revokeAll(): void {
    for (const { family } of this.#refreshTokens.values()) family.revoked = true;
    for (const { family } of this.#accessTokens.values()) family.revoked = true;
  }
}

/** Removes old entries. A removed token is refused as an unknown one. */
function remove<Value>(entries: Map<string, Value>, isGone: (value: Value) => boolean): void {
  for (const [key, value] of entries) if (isGone(value)) entries.delete(key);
}

function isUsable({ revoked, family, expiresAt }: AccessToken, now: number): boolean {
  return !revoked && !family.revoked && now < expiresAt;
}

/** Returns whether the token is spent and its grace period has passed. */
function isSpent(
  { usedAt }: RefreshToken,
  { reuseGraceSeconds }: RefreshRules,
  now: number,
): boolean {
  return usedAt !== undefined && now >= usedAt + reuseGraceSeconds * 1000;
}

function fits(verifier: string | null, challenge: string | undefined): boolean {
  if (challenge === undefined || verifier === null || !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier))
    return false;
  return createHash("sha256").update(verifier).digest("base64url") === challenge;
}

/** The prefix makes a leaked value easy to recognise. */
function secret(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString("base64url")}`;
}
