import type { Clock } from "../clock.js";
import { HookFailedError, type HookName } from "../errors.js";
import type { EventHub } from "../events/event-hub.js";
import { logLine } from "../events/log-lines.js";
import type { IdpRequest } from "../http/request-and-replies.js";
import { jsonCopy, type Review } from "../record/application-data.js";
import { frozenCredentials, type Credentials } from "../record/credentials.js";
import { claimsWithOutput, hasSubject, type Claims, type IdInfo } from "../record/identity.js";
import { deepFreeze, frozenCopy, type JsonObject } from "../record/json.js";
import type { Rejection, SessionRecord } from "../record/record.js";
import { sessionIdentity, type Session } from "../record/session-view.js";
import { runSchema } from "./claims-schema.js";
import { isDenial, type Denial } from "./denial.js";
import type { ApplicationOptions, SignOutReason } from "./hooks.js";
import { placeOf, runHook } from "./run-hook.js";

/** The verified facts of a sign-in or a refresh. */
export interface VerifiedUser {
  readonly idInfo: IdInfo;
  readonly userinfo?: IdInfo | undefined;
  readonly credentials: Credentials;
}

/** What the application's code decides about a user. */
export type Decision =
  { readonly kind: "accepted"; readonly review: Review } | { readonly kind: Rejection; readonly message?: string | undefined };

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
  signIn(user: VerifiedUser, data: JsonObject | undefined, request: IdpRequest): Promise<Decision>;
  /**
   * Runs the claims schema and, after a refresh, `onRefresh`.
   *
   * @throws HookFailedError, and outages that the hook passes on
   */
  review(user: VerifiedUser, isRefreshed: boolean): Promise<Decision>;
  /** Runs `onSignOut`. Never rejects. @param record the session's record, if it could be read */
  signedOut(reason: SignOutReason, record: SessionRecord | undefined, subject?: IdInfo): Promise<void>;
  /** What the browser may see of a session; null if the application gives nothing. Never throws. */
  clientData(session: Session): JsonObject | null;
  /** Checks the application's data. @throws TypeError */
  checkedData(data: unknown): JsonObject;
}

export interface ApplicationParts {
  readonly options: ApplicationOptions;
  /** Seconds that one function may take. */
  readonly hookTimeout: number;
  /** Bytes of the application's data as JSON. */
  readonly dataLimit: number;
  readonly clock: Clock;
  readonly events: EventHub;
}

/** The version of a schema without `claimsVersion`. */
const FIRST_VERSION = "1";

export function createApplication({ options, hookTimeout, dataLimit, clock, events }: ApplicationParts): Application {
  const { claims: schema, claimsVersion = FIRST_VERSION } = options;
  const checkedData = (data: unknown) => deepFreeze(jsonCopy(data, "The data of a session", dataLimit));

  function report(hook: HookName | "clientData", error: unknown): void {
    const cause: unknown = error instanceof HookFailedError ? error.cause : error;
    const isTimeout = error instanceof HookFailedError && error.reason === "timeout";
    const kind = isTimeout ? "timeout" : cause instanceof Error ? cause.name : "not_an_error";
    const place = isTimeout ? undefined : placeOf(cause);
    const message = isTimeout ? `\`${hook}\` took longer than hookTimeout.` : `\`${hook}\` threw ${kind}.`;
    events.log({ ...logLine("hook_threw", message), details: { hook, kind, ...(place !== undefined && { place }) } });
  }

  async function run<Result>(hook: HookName, call: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> {
    try {
      return await runHook(hook, hookTimeout, clock, call);
    } catch (error) {
      if (error instanceof HookFailedError) report(hook, error);
      throw error;
    }
  }

  /** The accepted claims; undefined without a schema; false if the schema does not accept them. */
  async function accept(idInfo: IdInfo): Promise<Review["claims"] | false> {
    if (schema === undefined) return undefined;
    const decision = await run("claims", () => runSchema(schema, idInfo));
    if (decision.accepted) return { output: deepFreeze(decision.output), version: claimsVersion };
    const { paths } = decision;
    events.log({
      ...logLine("claims_refused", `The claims schema does not accept a user (${paths.join(", ")}).`),
      details: { paths: paths.join(", ") },
    });
    return false;
  }

  /** Runs a hook on the verified user. */
  async function ask<Result>(
    hook: "onSignIn" | "onRefresh",
    { idInfo, userinfo, credentials }: VerifiedUser,
    claims: Review["claims"],
    call: (input: { claims: Claims; userinfo: IdInfo | null; credentials: Credentials; signal: AbortSignal }) => Result | Promise<Result>,
  ): Promise<Result> {
    // Both callers pass verified claims, which identify a user.
    const view = frozenCopy(claimsWithOutput(idInfo as Claims, claims?.output));
    const userinfoView = userinfo === undefined ? null : frozenCopy({ ...userinfo });
    return run(hook, (signal) => call({ claims: view, userinfo: userinfoView, credentials: frozenCredentials(credentials), signal }));
  }

  /** A change of the data that the application decided about. A change that throws is a failed hook. */
  function dataChange(hook: HookName, change: (data: JsonObject) => unknown): (data: JsonObject) => JsonObject {
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

  return {
    claimsVersion: schema === undefined ? undefined : claimsVersion,
    reviewsRefreshes: schema !== undefined || options.onRefresh !== undefined,
    async signIn(user, data, request) {
      const claims = await accept(user.idInfo);
      if (claims === false) return { kind: "claims_rejected" };
      const result = await ask("onSignIn", user, claims, (input) =>
        options.onSignIn?.({ ...input, data: data && frozenCopy(data), request }),
      );
      if (isDenial(result)) return denied(result);
      if (result === undefined || result === null) return { kind: "accepted", review: { claims } };
      return { kind: "accepted", review: { claims, changeData: dataChange("onSignIn", () => result.data) } };
    },
    async review(user, isRefreshed) {
      const claims = await accept(user.idInfo);
      if (claims === false) return { kind: "claims_rejected" };
      const result = isRefreshed ? await ask("onRefresh", user, claims, (input) => options.onRefresh?.(input)) : undefined;
      if (isDenial(result)) return denied(result);
      if (result === undefined || result === null) return { kind: "accepted", review: { claims } };
      // In JavaScript a hook can return anything. A result such as false throws here, because it may mean a denial.
      return { kind: "accepted", review: { claims, changeData: dataChange("onRefresh", (data) => result(data)) } };
    },
    async signedOut(reason, record, subject = record?.id_info) {
      if (options.onSignOut === undefined || !hasSubject(subject)) return;
      const session = record === undefined ? null : sessionIdentity(record);
      const input = { reason, subject: { iss: subject.iss, sub: subject.sub }, session };
      try {
        // With a time limit, since `idle()` waits for it.
        await runHook("onSignOut", hookTimeout, clock, () => options.onSignOut?.(input));
      } catch (error) {
        report("onSignOut", error);
      }
    },
    clientData(session) {
      try {
        const data = options.clientData?.(session);
        return data === undefined || data === null ? null : jsonCopy(data, "The result of clientData", dataLimit);
      } catch (error) {
        report("clientData", error);
        return null;
      }
    },
    checkedData,
  };
}

function denied({ message }: Denial): Decision {
  return { kind: "denied", message };
}
