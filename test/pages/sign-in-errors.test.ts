import { expect, it } from "vitest";
import { signInErrorCode } from "../../src/pages/sign-in-errors.js";
import { SIGN_IN_ERRORS } from "./sign-in-sentences.js";

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

it("the fixed list holds the errors of OAuth and OpenID Connect and one for the rest", () => {
  expect(Object.keys(SIGN_IN_ERRORS).sort()).toEqual([...CODES].sort());
});

it.each(CODES)("%s stays as it is and has words of its own", (code) => {
  expect(signInErrorCode(code)).toBe(code);
  expect(Object.values(SIGN_IN_ERRORS).filter((words) => words === SIGN_IN_ERRORS[code])).toHaveLength(1);
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
