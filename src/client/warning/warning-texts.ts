/** The texts of `<idpauth-warning>`. */
export interface WarningTexts {
  /** The heading before the end. */
  readonly ending: string;
  /** What screen readers say. `{in}` becomes the time that is left, such as "in 30 seconds". */
  readonly remaining: string;
  /** Why the session ends: the idle timeout. */
  readonly idle: string;
  /** The button that restarts the idle timeout. */
  readonly stay: string;
  /** What the user can do about another limit, and after the end. */
  readonly again: string;
  /** The button that opens the login in a new window before the end. */
  readonly signInAgain: string;
  /** The heading after the end. */
  readonly ended: string;
  /** The heading after the user has signed out in another tab. */
  readonly signedOut: string;
  /** The button that opens the login in a new window after the end. */
  readonly signIn: string;
  /** The heading while the server doesn't respond. */
  readonly unavailable: string;
  /** What an outage means for the user. */
  readonly trying: string;
  /** The button that asks the server again. */
  readonly tryAgain: string;
  /** The button that hides the warning. */
  readonly hide: string;
  /** Shown if the browser doesn't open the window. */
  readonly blocked: string;
  /** Shown if the login ends without a sign-in. */
  readonly failed: string;
}

/** By language. */
export const TEXTS: Readonly<Record<string, WarningTexts>> = {
  en: {
    ending: "Your session is about to end",
    remaining: "Your session ends {in}.",
    idle: "You haven't been active for a while.",
    stay: "Stay signed in",
    again: "Sign in again in a new window. This page stays open.",
    signInAgain: "Sign in again",
    ended: "Your session has ended",
    signedOut: "You are signed out",
    signIn: "Sign in",
    unavailable: "The server isn't responding",
    trying: "You are probably still signed in. This page keeps trying.",
    tryAgain: "Try again",
    hide: "Hide",
    blocked: "Your browser blocked the window. Allow pop-ups for this site, and try again.",
    failed: "You weren't signed in. Try again.",
  },
  de: {
    ending: "Ihre Sitzung endet bald",
    remaining: "Ihre Sitzung endet {in}.",
    idle: "Sie waren eine Weile nicht aktiv.",
    stay: "Angemeldet bleiben",
    again: "Melden Sie sich in einem neuen Fenster erneut an. Diese Seite bleibt geöffnet.",
    signInAgain: "Erneut anmelden",
    ended: "Ihre Sitzung ist beendet",
    signedOut: "Sie sind abgemeldet",
    signIn: "Anmelden",
    unavailable: "Der Server antwortet nicht",
    trying: "Vermutlich sind Sie noch angemeldet. Diese Seite versucht es weiter.",
    tryAgain: "Erneut versuchen",
    hide: "Ausblenden",
    blocked:
      "Ihr Browser hat das Fenster blockiert. Erlauben Sie Pop-ups für diese Website und versuchen Sie es erneut.",
    failed: "Sie wurden nicht angemeldet. Versuchen Sie es erneut.",
  },
};
