import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { deny, emailDomain, type IdpAuthOptions } from "idpauth";
import type { DemoRule } from "./configuration.js";

/**
 * The demo's own data in a session. It is empty until the hook or a request to /api/visits fills
 * it.
 */
export interface DemoData {
  readonly userId?: string;
  readonly visits?: number;
}

type SignInHook = NonNullable<IdpAuthOptions<object, DemoData>["onSignIn"]>;

const isStaff = emailDomain("example.com");

/** Returns the hook of DEMO_RULE; undefined if every user of the provider may sign in. */
export function signInHook(rule: DemoRule): SignInHook | undefined {
  switch (rule) {
    case "none":
      return undefined;
    case "staff":
      return ({ claims, data }) => {
        if (!isStaff({ claims }))
          return deny("Only people with a verified address of example.com may sign in.");
        // The same user's sign-in, such as a step-up, keeps the data.
        return data === null
          ? { data: { userId: userIdOf(claims.iss, claims.sub), visits: 0 } }
          : undefined;
      };
    case "deny":
      return () => deny("DEMO_RULE is set to deny, so no user may sign in.");
    case "throw":
      return () => {
        throw new Error("DEMO_RULE is set to throw.");
      };
    case "slow":
      // Longer than every hookTimeout.
      return ({ signal }) => delay(60_000, undefined, { signal });
  }
}

/** Stands for the row of a user table: the same user always has the same id. */
function userIdOf(iss: string, sub: string): string {
  return createHash("sha256")
    .update(JSON.stringify([iss, sub]))
    .digest("hex")
    .slice(0, 8);
}
