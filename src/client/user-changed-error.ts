/**
 * `fetch` rejects with it if another user has signed in while the request was waiting. The client
 * hasn't sent the request again.
 */
export class UserChangedError extends Error {
  /** Minifiers don't change it. */
  override readonly name = "UserChangedError";
}
