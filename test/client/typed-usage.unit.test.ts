import { describe, expectTypeOf, it } from "vitest";
import { createClient, type SessionState } from "idpauth/client";
import { useSession } from "idpauth/react";

// What a page writes. tsc checks it: the functions are never called.

describe("a page writes", () => {
  it("the session of all its tabs", () => {
    const sample = async () => {
      const auth = createClient();
      const stop = auth.subscribe(({ status, user, deadlines }) => {
        expectTypeOf(status).toEqualTypeOf<
          "loading" | "signed-in" | "signed-out" | "unavailable"
        >();
        expectTypeOf(user).toBeNullable();
        expectTypeOf(deadlines).toBeNullable();
      });
      expectTypeOf(await auth.signIn()).toEqualTypeOf<SessionState>();
      await auth.signIn({ popup: true });
      expectTypeOf(await auth.signOut()).toEqualTypeOf<never>();
      expectTypeOf(await auth.fetch("/api/items")).toEqualTypeOf<Response>();
      stop();
    };
    expectTypeOf(sample).toBeFunction();
  });

  it("React's hook", () => {
    const sample = () => useSession().status;
    expectTypeOf(sample).returns.toEqualTypeOf<SessionState["status"]>();
  });
});
