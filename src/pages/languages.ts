import { quality } from "../http/request-and-replies.js";
import { ar } from "./locales/ar.js";
import { de } from "./locales/de.js";
import { en } from "./locales/en.js";
import { es } from "./locales/es.js";
import { fr } from "./locales/fr.js";
import { ja } from "./locales/ja.js";
import type { Messages } from "./messages.js";

interface LanguageRow {
  /** The writing direction of the page. */
  readonly direction: "ltr" | "rtl";
  /** The locale of its dates and numbers. Arabic uses the digits of the settings that pages show. */
  readonly formats: string;
  readonly messages: Messages;
}

/** The languages of the pages, by their tag (BCP 47). */
export const LANGUAGES = {
  en: { direction: "ltr", formats: "en-GB", messages: en },
  de: { direction: "ltr", formats: "de", messages: de },
  fr: { direction: "ltr", formats: "fr", messages: fr },
  es: { direction: "ltr", formats: "es", messages: es },
  ja: { direction: "ltr", formats: "ja", messages: ja },
  ar: { direction: "rtl", formats: "ar-u-ca-gregory-nu-latn", messages: ar },
} as const satisfies Readonly<Record<string, LanguageRow>>;

export type Language = keyof typeof LANGUAGES;

export const DEFAULT_LANGUAGE = "en" satisfies Language;

/** Ranges of an Accept-Language header that are read; browsers send fewer than ten. */
const MAX_RANGES = 32;

/** Whether a text is the tag of a language of the pages. */
export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag);
}

/**
 * Returns the language that an Accept-Language header prefers (RFC 9110 section 12.5.4), matched by its primary subtag: `de-AT` is German.
 * Of languages with the same quality, the first one wins. English if none matches.
 */
export function preferredLanguage(header: string | undefined): Language {
  let best: Language = DEFAULT_LANGUAGE;
  let highest = 0;
  for (const range of (header ?? "").split(",", MAX_RANGES)) {
    const [tag = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const primary = tag === "*" ? DEFAULT_LANGUAGE : (tag.split("-", 1)[0] ?? "");
    const weight = quality(parameters);
    if (weight > highest && isLanguage(primary)) {
      best = primary;
      highest = weight;
    }
  }
  return best;
}
