/**
 * `signIn` in a new window rejects with it if the login ends without a sign-in. Its message is a
 * code: `cancelled` if the user refused at the provider or closed the window, `blocked` if the
 * browser did not open it, else the code of idpauth's error, such as `step_up_failed`, or the
 * provider's, such as `server_error`.
 */
export class SignInError extends Error {
  /** Minifiers don't change it. */
  override readonly name = "SignInError";
}
