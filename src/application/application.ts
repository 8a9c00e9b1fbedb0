import type { Clock } from "../clock.js";
import { HookFailedError, type HookName } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { logLine } from "../events/log-lines.js";
import { jsonCopy, mergedData, type Review } from "../record/application-data.js";
import { frozenCredentials, type Credentials } from "../record/credentials.js";
import type { SessionEnd } from "../record/end-reason.js";
import {
  claimsWithOutput,
  hasSubject,
  sessionUser,
  type Claims,
  type IdInfo,
} from "../record/identity.js";
import { deepFreeze, frozenCopy, type JsonObject } from "../record/json.js";
import type { Rejection, SessionRecord } from "../record/record.js";
import { sessionIdentity, type Session } from "../record/session-view.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { runSchema } from "./claims-schema.js";
import {
  DENIAL,
  reportHook,
  runHook,
  type ApplicationOptions,
  type Denial,
  type HookInput,
  type SignInInput,
} from "./hooks.js";

/** The verified facts of a sign-in or a refresh. */
export interface VerifiedUser {
  readonly idInfo: IdInfo;
  readonly userinfo?: IdInfo | undefined;
  readonly credentials: Credentials;
  /** The key of the user's provider, if it has one. */
  readonly provider?: string | undefined;
}

/** What the application's code decides about a user. */
export type Decision =
  | { readonly kind: "accepted"; readonly review: Review }
  | { readonly kind: Rejection; readonly message?: string | undefined };

/** The application's code that takes part in sign-ins and refreshes. */
export interface Application {
  /** Undefined: there is no claims schema. */
  readonly claimsVersion: string | undefined;
  /** Whether a refresh has to be accepted by the application's code. */
  readonly reviewsRefreshes: boolean;
  /**
   * Runs the claims schema and `onSignIn`.
   *
   * @param data the data of the same user's session in this browser
   * @throws HookFailedError, and outages that the hook passes on
   */
  signIn(
    user: VerifiedUser,
    data: JsonObject | undefined,
    callback: Pick<SignInInput, "request" | "postedName">,
  ): Promise<Decision>;
  /**
   * Runs the claims schema and, after a refresh, `onRefresh`.
   *
   * @throws HookFailedError, and outages that the hook passes on
   */
  review(user: VerifiedUser, isRefreshed: boolean): Promise<Decision>;
  /**
   * Runs `onSignOut`, unless the record says that it has run. Never rejects.
   * @param record the session's last record, if it could be read
   */
  signedOut(
    reason: SessionEnd,
    record: SessionRecord | undefined,
    subject?: { readonly iss: string; readonly sub: string; readonly provider?: string },
  ): Promise<void>;
  /** What the browser may see of a session; null if the application gives nothing. Never throws. */
  clientData(session: Session): JsonObject | null;
  /** Checks the application's data. @throws TypeError */
  checkedData(data: unknown): JsonObject;
}

/** A hook that decides about a user. */
interface DecidingHook<Result> {
  readonly hook: HookName;
  /** Undefined: the application has no such hook, or it isn't due. */
  readonly call: ((input: HookInput) => Result | Promise<Result>) | undefined;
  /** Returns the change of the data that the hook's result asks for. */
  readonly changeOf: (result: Exclude<Extract<Result, object>, Denial>) => Review["changeData"];
}

export interface ApplicationParts {
  readonly options: ApplicationOptions;
  /** Seconds that one function may take. */
  readonly hookTimeout: number;
  /** Bytes of the application's data as JSON. */
  readonly dataLimit: number;
  readonly clock: Clock;
  readonly events: EventHub;
  /** Returns the key of the provider of a session's user, if it has one. */
  readonly providerOf?: (record: SessionRecord) => string | undefined;
}

export function createApplication({
  options,
  hookTimeout,
  dataLimit,
  clock,
  events,
  providerOf = () => undefined,
}: ApplicationParts): Application {
  const { claims: schema, claimsVersion = "1" } = options;
  const checkedData = (data: unknown) =>
    deepFreeze(jsonCopy(data, "The data of a session", dataLimit));

  const report = (hook: HookName | "clientData", error: unknown) => {
    reportHook(events, hook, error);
  };
  const run = <Result>(hook: HookName, call: (signal: AbortSignal) => Result | Promise<Result>) =>
    runHook({ hookTimeout, clock, events }, hook, call);

  /** The accepted claims; undefined without a schema; false if the schema does not accept them. */
  async function accept(idInfo: IdInfo): Promise<Review["claims"] | false> {
    if (schema === undefined) return undefined;
    const decision = await run("claims", () => runSchema(schema, idInfo));
    // Asked this way round, so that an inherited property refuses a user, and never accepts one.
    if (!("paths" in decision))
      return { output: deepFreeze(decision.output), version: claimsVersion };
    const { paths } = decision;
    events.log({
      level: "warn",
      code: "claims_rejected",
      message: `The claims schema doesn't accept a user (${paths}).`,
      details: { paths },
    });
    return false;
  }

  /** Runs the claims schema, then a hook. */
  async function decide<Result>(
    { idInfo, userinfo, credentials, provider }: VerifiedUser,
    { hook, call, changeOf }: DecidingHook<Result>,
  ): Promise<Decision> {
    const claims = await accept(idInfo);
    if (claims === false) return { kind: "claims_rejected" };
    if (call === undefined) return { kind: "accepted", review: { claims } };
    // Both callers pass verified claims, which identify a user.
    const verified = idInfo as Claims;
    const input = {
      claims: frozenCopy(claimsWithOutput(verified, claims?.output)),
      user: Object.freeze(sessionUser(verified, provider)),
      userinfo: userinfo === undefined ? null : frozenCopy({ ...userinfo }),
      credentials: frozenCredentials(credentials),
    };
    const result = await run(hook, (signal) => call({ ...input, signal }));
    if (isDenial(result)) return { kind: "denied", message: result.message };
    if (result === undefined || result === null) return { kind: "accepted", review: { claims } };
    return {
      kind: "accepted",
      review: { claims, changeData: changeOf(result as Exclude<Extract<Result, object>, Denial>) },
    };
  }

  /**
   * A change of the data that the application decided about. A change that throws is a failed hook.
   */
  function dataChange(
    hook: HookName,
    change: (data: JsonObject) => unknown,
  ): (data: JsonObject) => JsonObject {
    return (data) => {
      try {
        return checkedData(change(frozenCopy(data)));
      } catch (cause) {
        const error = new HookFailedError(hook, "threw", { cause });
        report(hook, error);
        throw error;
      }
    };
  }

  /** The change that `onSignIn` returned. @param read the data that the hook got */
  function signInChange(
    read: JsonObject,
    result: { readonly data: unknown },
  ): (newest: JsonObject) => JsonObject {
    let isReported = false;
    return dataChange("onSignIn", (newest) => {
      if (typeof result.data === "function")
        return (result.data as (current: JsonObject) => unknown)(newest);
      const { data, isOverwritten } = mergedData(read, checkedData(result.data), newest);
      // Once, although the change may be made again to a newer record.
      if (isOverwritten && !isReported) events.log(logLine("data_overwritten"));
      isReported ||= isOverwritten;
      return data;
    });
  }

  return {
    claimsVersion: schema === undefined ? undefined : claimsVersion,
    reviewsRefreshes: schema !== undefined || options.onRefresh !== undefined,
    signIn: (user, data, callback) =>
      decide(user, {
        hook: "onSignIn",
        call:
          options.onSignIn &&
          ((input) =>
            options.onSignIn?.({
              ...input,
              data: data === undefined ? null : frozenCopy(data),
              ...callback,
            })),
        changeOf: (result) => signInChange(data ?? {}, result),
      }),
    review: (user, isRefreshed) =>
      decide(user, {
        hook: "onRefresh",
        call: isRefreshed && options.onRefresh ? (input) => options.onRefresh?.(input) : undefined,
        // In JavaScript a hook can return anything. A result such as false throws here, because it
        // may mean a denial.
        changeOf: (result) => dataChange("onRefresh", (data) => result(data)),
      }),
    async signedOut(reason, record, given) {
      const claims = given ?? record?.id_info;
      // A limit that was noticed has run it for this session already.
      if (
        options.onSignOut === undefined ||
        !hasSubject(claims) ||
        record?.idp_state.ended !== undefined
      )
        return;
      const provider = given?.provider ?? (record && providerOf(record));
      const session = record === undefined ? null : sessionIdentity(record, provider);
      const { iss, sub } = claims;
      const subject = { iss, sub, ...withoutUndefined({ provider }) };
      const input = { reason, subject, session };
      try {
        // With a time limit, since `close()` waits for it.
        await run("onSignOut", () => options.onSignOut?.(input));
      } catch (error) {
        if (!(error instanceof HookFailedError)) report("onSignOut", error);
      }
    },
    clientData(session) {
      try {
        const data = options.clientData?.(session);
        return data === undefined || data === null
          ? null
          : jsonCopy(data, "The result of clientData", dataLimit);
      } catch (error) {
        report("clientData", error);
        return null;
      }
    },
    checkedData,
  };
}

function isDenial(value: unknown): value is Denial {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as { readonly [DENIAL]?: unknown })[DENIAL] === true
  );
}
