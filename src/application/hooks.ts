/** The types of the functions with which an application decides about users. */
import type { IdpRequest } from "../http/request-and-replies.js";
import type { JsonObject } from "../record/json.js";
import type { Credentials } from "../record/credentials.js";
import type { Claims, IdInfo } from "../record/identity.js";
import type { SessionEnd } from "../record/session-policy.js";
import type { Session } from "../record/session-view.js";
import type { ClaimsSchema } from "./claims-schema.js";
import type { Denial } from "./denial.js";

/** What a hook learns about the user. Server only: it contains tokens. */
export interface HookInput<OwnClaims extends object = object> {
  /** The verified claims, and the output of the claims schema. */
  readonly claims: Claims & OwnClaims;
  /** The claims of the userinfo endpoint; null if it was not called. */
  readonly userinfo: IdInfo | null;
  readonly credentials: Credentials;
  /** Aborts when the hook's time is over (`hookTimeout`). */
  readonly signal: AbortSignal;
}

/** What `onSignIn` learns. */
export interface SignInInput<OwnClaims extends object = object> extends HookInput<OwnClaims> {
  /** The data of the same user's session in this browser; undefined if there was none. */
  readonly data: JsonObject | undefined;
  /** The request of the callback. */
  readonly request: IdpRequest;
}

// A function without a return statement has the type void.
/* eslint-disable @typescript-eslint/no-invalid-void-type */

/** The result of `onSignIn`: nothing keeps the data, `data` replaces it, `deny()` refuses the user. */
export type SignInResult<Data extends object> = { readonly data: Data } | Denial | null | undefined | void;

/** The result of `onRefresh`: nothing, a pure change of the data, or `deny()`, which ends the session. */
export type RefreshResult<Data extends object> = ((data: Data) => Data) | Denial | null | undefined | void;
/* eslint-enable @typescript-eslint/no-invalid-void-type */

/**
 * Why a session ended: `logout` (by its user, or by `endSession` and `endAllSessions`), `replaced` (another user signed in with this
 * browser), or the reason of the policy.
 */
export type SignOutReason = SessionEnd;

export interface SignOutInput<OwnClaims extends object = object, Data extends object = Record<string, unknown>> {
  readonly reason: SignOutReason;
  /** The user's `iss` and `sub`. */
  readonly subject: { readonly iss: string; readonly sub: string };
  /** The session as it was; null where its record could not be read: `endSession`, `endAllSessions`. */
  readonly session: Pick<Session<OwnClaims, Data>, "user" | "claims" | "data"> | null;
}

/**
 * The options with which an application takes part in a sign-in. TypeScript reads functions in the order in which you write them: write
 * `onSignIn` before the others, so that they get the type of its data.
 */
export interface ApplicationOptions<OwnClaims extends object = object, Data extends object = Record<string, unknown>> {
  /**
   * A Standard Schema (zod, valibot, arktype, …) that every sign-in and every refresh runs on the verified claims. Its output is JSON; it
   * types `claims`. Claims that it does not accept: 403 at a sign-in, the end of the session at a refresh.
   */
  readonly claims?: ClaimsSchema<OwnClaims>;
  /** The version of the schema. A session of another version runs through the schema again when it is next read. Default `"1"`. */
  readonly claimsVersion?: string;
  /**
   * Runs after a sign-in was verified and before its session begins. If it throws or takes longer than `hookTimeout`, the user gets 503
   * and there is no new session.
   */
  onSignIn?(input: SignInInput<NoInfer<OwnClaims>>): SignInResult<Data> | Promise<SignInResult<Data>>;
  /**
   * Runs after tokens were refreshed. If it throws or takes longer than `hookTimeout`, the request gets 503, the tokens are kept, and the
   * next request runs it again.
   */
  onRefresh?(input: HookInput<NoInfer<OwnClaims>>): RefreshResult<NoInfer<Data>> | Promise<RefreshResult<NoInfer<Data>>>;
  /** Runs after every end of a session that this process performs or finds. Best effort: no response waits for it. */
  onSignOut?(input: SignOutInput<NoInfer<OwnClaims>, NoInfer<Data>>): unknown;
  /** Returns JSON about a session that the browser may see, such as roles: `data` of `clientState` and of `?details=true`. */
  clientData?(session: Session<NoInfer<OwnClaims>, NoInfer<Data>>): object | null | undefined;
}
