import type { ShownView } from "./choose-warning-view.js";
import { TEXTS, type WarningTexts } from "./warning-texts.js";

/** The keys of the heading, the explanation and the button of each view. */
const KEYS = {
  idle: ["ending", "idle", "stay"],
  limit: ["ending", "again", "signInAgain"],
  unavailable: ["unavailable", "trying", "tryAgain"],
  ended: ["ended", "again", "signIn"],
  signedOut: ["signedOut", "again", "signIn"],
} as const;

/** The texts of an element, and their language. */
export interface Words {
  readonly texts: WarningTexts;
  /** A language tag (BCP 47). */
  readonly language: string;
}

/**
 * @param lang the language that the page declares; empty if it declares none
 * @param own the application's texts, in that language
 */
export function wordsOf(lang: string, own: Partial<WarningTexts>): Words {
  const [primary = ""] = lang.toLowerCase().split("-");
  const shipped = Object.hasOwn(TEXTS, primary) ? primary : "en";
  return {
    texts: { ...(TEXTS[shipped] as WarningTexts), ...own },
    language: own.remaining ? lang : shipped,
  };
}

/** Returns the heading, the explanation and the button of a view. */
export function labelsOf({ kind }: ShownView, { texts }: Words): readonly [string, string, string] {
  const [heading, explanation, action] = KEYS[kind];
  return [texts[heading], texts[explanation], texts[action]];
}

/** Returns what screen readers say at a moment of a view. */
export function newsOf(view: ShownView, words: Words): string {
  return "seconds" in view
    ? words.texts.remaining.replace("{in}", timeLeft(view.seconds, words.language))
    : `${labelsOf(view, words)[0]}.`;
}

/** Returns the time that is left, such as "in 30 seconds". */
function timeLeft(seconds: number, language: string): string {
  // 110 to 120 seconds are two minutes.
  const isLong = seconds >= 110;
  return relativeTime(language).format(
    isLong ? Math.floor((seconds + 10) / 60) : seconds,
    isLong ? "minute" : "second",
  );
}

/** In the browser's language if the page declares one that doesn't exist. */
function relativeTime(language: string): Intl.RelativeTimeFormat {
  try {
    return new Intl.RelativeTimeFormat(language);
  } catch {
    return new Intl.RelativeTimeFormat();
  }
}
