/**
 * The functions with which an application decides about users: their types, `deny`, and how they
 * run, with a time limit.
 */
import type { Clock } from "../clock.js";
import { HookFailedError, isOutage, type HookName } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { functionFailed, functionThrew } from "../events/log-lines.js";
import type { IdpRequest } from "../http/request.js";
import type { Credentials } from "../record/credentials.js";
import type { SessionEnd } from "../record/end-reason.js";
import type { Claims, IdInfo, SessionUser } from "../record/identity.js";
import type { Session } from "../record/session-view.js";
import { within } from "../work/deadline.js";
import type { ClaimsSchema } from "./claims-schema.js";

/** Marks a denial, in all copies of this package. */
export const DENIAL: unique symbol = Symbol.for("idpauth.denial");

/** What `deny` returns. A hook returns it to refuse the user. */
export interface Denial {
  /** Only an object with this mark counts as a denial. */
  readonly [DENIAL]: true;
  /** For the page that the user sees. Undefined: the page's own text. */
  readonly message: string | undefined;
}

/** Characters of a message. */
const MAX_DENIAL_LENGTH = 500;

/**
 * Refuses the user, as the result of `onSignIn` or `onRefresh`.
 *
 * @param message plain text for the page that the user sees, at most 500 characters; only
 *   `onSignIn` shows it
 *
 * @example
 * const auth = idpAuth({
 *   onSignIn: ({ claims }) =>
 *     claims["locked"] === true ? deny("Your account is locked.") : undefined,
 * });
 */
export function deny(message?: string): Denial {
  return Object.freeze({
    [DENIAL]: true as const,
    message: message === undefined ? undefined : message.slice(0, MAX_DENIAL_LENGTH),
  });
}

/** What a hook learns about the user. Server only: it contains tokens. */
export interface HookInput<OwnClaims extends object = object> {
  /** The verified claims, and the output of the claims schema. */
  readonly claims: Claims & OwnClaims;
  /** The user as the session has it, from the verified claims. */
  readonly user: SessionUser;
  /** The claims of the userinfo endpoint; null if it was not called. */
  readonly userinfo: IdInfo | null;
  /** The new tokens, with the client secret. */
  readonly credentials: Credentials;
  /** Aborts when the hook's time is over (`hookTimeout`). */
  readonly signal: AbortSignal;
}

/** What `onSignIn` learns. */
export interface SignInInput<OwnClaims extends object = object> extends HookInput<OwnClaims> {
  /** The data of the same user's session in this browser; null if there was none. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** The request of the callback. */
  readonly request: IdpRequest;
  /**
   * The name that Apple sends with a user's first sign-in alone (`IDP_APPLE_TEAM_ID`), so that the
   * application can store it. The browser has posted it, unsigned, so the user may have written
   * anything. Null: none came, or the provider isn't Apple.
   */
  readonly postedName: {
    /** At most 100 characters. Null: it wasn't posted. */
    readonly given_name: string | null;
    /** At most 100 characters. Null: it wasn't posted. */
    readonly family_name: string | null;
  } | null;
}

// A function without a return statement has the type void.
/* eslint-disable @typescript-eslint/no-invalid-void-type */

/**
 * The result of `onSignIn`: nothing keeps the data, `data` changes it, `deny()` refuses the user.
 * An object in `data` changes only the top-level keys that differ from the data that the hook got.
 * A function gets the newest data and returns the changed data. It is pure, because it may run
 * again, and the data is `{}` when the user is new in this browser.
 */
export type SignInResult<Data extends object> =
  | {
      /** JSON of at most `dataLimit` bytes, or a pure function that returns it. */
      readonly data: Data | ((current: Readonly<Data>) => Data);
    }
  | Denial
  | null
  | undefined
  | void;

/**
 * The result of `onRefresh`: nothing, a pure change of the data, or `deny()`, which ends the
 * session.
 */
export type RefreshResult<Data extends object> =
  ((data: Readonly<Partial<Data>>) => Partial<Data>) | Denial | null | undefined | void;
/* eslint-enable @typescript-eslint/no-invalid-void-type */

/** What `onSignOut` learns. */
export interface SignOutInput<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /**
   * `logout`: by its user, or by `endSession` and `endAllSessions`. `replaced`: another user signed
   * in with this browser. Otherwise the policy's reason; docs/reference/errors.md explains each.
   */
  readonly reason: SessionEnd;
  /** The user. */
  readonly subject: {
    /** The issuer that signed the user in. */
    readonly iss: string;
    /** Unique at that issuer. */
    readonly sub: string;
    /** The key of the provider. Absent: the application has one provider, without a key. */
    readonly provider?: string;
  };
  /**
   * The session as it was; null where its record could not be read: `endSession`, `endAllSessions`.
   */
  readonly session: Pick<Session<OwnClaims, Data>, "user" | "claims" | "data"> | null;
}

/**
 * The options with which an application takes part in a sign-in. TypeScript reads functions in the
 * order in which you write them: write `onSignIn` before the others, so that they get the type of
 * its data.
 */
export interface ApplicationOptions<
  OwnClaims extends object = object,
  Data extends object = Record<string, unknown>,
> {
  /**
   * A Standard Schema (zod, valibot, arktype, …) that every sign-in and every refresh runs on the
   * verified claims. Its output is JSON; it types `claims`. Claims that it does not accept: 403 at
   * a sign-in, the end of the session at a refresh.
   */
  readonly claims?: ClaimsSchema<OwnClaims>;
  /**
   * The version of the schema. A session of another version runs through the schema again when it
   * is next read. Default `"1"`.
   */
  readonly claimsVersion?: string;
  /**
   * Runs after a sign-in was verified and before its session begins. If it throws or takes longer
   * than `hookTimeout`, the user gets 503 and there is no new session.
   */
  onSignIn?(
    input: SignInInput<NoInfer<OwnClaims>>,
  ): SignInResult<Data> | Promise<SignInResult<Data>>;
  /**
   * Runs after tokens were refreshed. If it throws or takes longer than `hookTimeout`, the request
   * gets 503, the tokens are kept, and the next request runs it again.
   */
  onRefresh?(
    input: HookInput<NoInfer<OwnClaims>>,
  ): RefreshResult<NoInfer<Data>> | Promise<RefreshResult<NoInfer<Data>>>;
  /**
   * Runs once for each session, after this process has ended it or has found that it ended. Best
   * effort: no response waits for it.
   */
  onSignOut?(input: SignOutInput<NoInfer<OwnClaims>, NoInfer<Data>>): unknown;
  /**
   * Returns JSON about a session that the browser may see, such as roles: `data` of `clientState`
   * and of `?details=true`.
   */
  clientData?(session: Session<NoInfer<OwnClaims>, NoInfer<Data>>): object | null | undefined;
}

export interface HookRuns {
  /** Seconds that one function may take. */
  readonly hookTimeout: number;
  readonly clock: Clock;
  readonly events: EventHub;
}

/**
 * Runs a function of the application with a time limit.
 * @throws HookFailedError it threw, or its time is over
 */
export async function runHook<Result>(
  { hookTimeout, clock, events }: HookRuns,
  hook: HookName,
  call: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  const late = () => new HookFailedError(hook, "timeout");
  try {
    // An async function, because the hook may throw instead of returning a promise.
    return await within(async (signal) => call(signal), {
      clock,
      milliseconds: hookTimeout * 1000,
      late,
    });
  } catch (thrown) {
    // An outage that the hook passes on, such as the store's, is an outage like any other.
    const error = isOutage(thrown) ? thrown : new HookFailedError(hook, "threw", { cause: thrown });
    if (error instanceof HookFailedError) reportHook(events, hook, error);
    throw error;
  }
}

/** Writes the log line of a function that failed. */
export function reportHook(events: EventHub, hook: HookName | "clientData", error: unknown): void {
  if (error instanceof HookFailedError && error.reason === "timeout")
    events.log(functionFailed("took longer than hookTimeout", { function: hook, kind: "timeout" }));
  else events.log(functionThrew(hook, error instanceof HookFailedError ? error.cause : error));
}
