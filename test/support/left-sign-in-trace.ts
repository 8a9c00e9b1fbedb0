import type { Regeneration } from "../../src/ports/user-session.js";

/** What the sign-in of a test leaves under the key that it replaces. */
export const LEAVING: Regeneration = {
  trace: {
    stateHash: "the hash of a state",
    target: {
      final_redirect: "/reports",
      redirect_uri: "http://app.example/idpauth/login-callback",
    },
  },
};
