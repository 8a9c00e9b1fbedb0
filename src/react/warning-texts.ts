/** Every text of the `SessionWarning`. */
export interface WarningTexts {
  /** The title until the session ends. `{seconds}` becomes the number. */
  readonly ends: string;
  /** Says that only a new sign-in helps, and explains the button `signIn`. */
  readonly again: string;
  /** The title after the session has ended. */
  readonly ended: string;
  /** The title after the user has signed out (the reason `logout`), in this tab or in another. */
  readonly logout: string;
  /** Shown if the server did not respond, or if the browser opened no window. */
  readonly failed: string;
  /** A button: extends the session. */
  readonly stay: string;
  /** A button: opens the sign-in in a window of its own. */
  readonly signIn: string;
  /** A button. */
  readonly signOut: string;
  /** A button: closes the dialog. */
  readonly close: string;
}

/** The default texts. */
export const ENGLISH: WarningTexts = {
  ends: "Your session ends in {seconds} s",
  again: "To continue, you have to sign in again. This page stays open.",
  ended: "Your session has ended",
  logout: "You signed out",
  failed: "That failed. Try again.",
  stay: "Stay signed in",
  signIn: "Sign in again",
  signOut: "Sign out",
  close: "Close",
};
