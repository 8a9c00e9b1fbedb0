import { describe, expect, it } from "vitest";
import { en } from "../../src/pages/locales/en.js";
import { SIGN_IN_ERRORS, signInErrorCode } from "../../src/record/sign-in-errors.js";

const CODES = [
  "access_denied",
  "login_required",
  "consent_required",
  "interaction_required",
  "account_selection_required",
  "invalid_request",
  "unauthorized_client",
  "unsupported_response_type",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
  "provider_error",
] as const;

describe("the error code of a sign-in", () => {
  it("the fixed list holds the errors of OAuth and OpenID Connect and one for the rest", () => {
    expect(SIGN_IN_ERRORS).toEqual(CODES);
  });

  it.each(CODES)("%s stays as it is and has words of its own", (code) => {
    expect(signInErrorCode(code)).toBe(code);
    const sentences = CODES.map((each) => en[`signIn.${each}`]);
    expect(sentences.filter((words) => words === en[`signIn.${code}`])).toHaveLength(1);
  });

  it.each([
    "",
    "failed",
    "ACCESS_DENIED",
    "access_denied ",
    "<script>alert(1)</script>",
    "__proto__",
    "constructor",
    "toString",
    "a".repeat(100_000),
  ])("%j becomes provider_error", (raw) => {
    expect(signInErrorCode(raw)).toBe("provider_error");
  });
});
