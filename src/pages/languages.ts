import { preferences } from "../http/accept.js";
import { lazily } from "../work/lazily.js";
import { en } from "./locales/en.js";
import type { Messages } from "./messages.js";

/** The languages of the pages, by their tag (BCP 47). */
export type Language = "en" | "de" | "fr" | "es" | "ja" | "ar";

/** The direction of writing, the locale of dates and numbers, and the texts. */
interface LanguageFacts {
  readonly direction: "ltr" | "rtl";
  readonly formats: string;
  readonly load: () => Promise<Messages>;
}

/** Arabic uses the digits of the settings that pages show. */
export const LANGUAGES: Readonly<Record<Language, LanguageFacts>> = {
  en: { direction: "ltr", formats: "en-GB", load: () => Promise.resolve(en) },
  de: {
    direction: "ltr",
    formats: "de",
    load: lazily(() => import("./locales/de.js").then(({ de }) => de)),
  },
  fr: {
    direction: "ltr",
    formats: "fr",
    load: lazily(() => import("./locales/fr.js").then(({ fr }) => fr)),
  },
  es: {
    direction: "ltr",
    formats: "es",
    load: lazily(() => import("./locales/es.js").then(({ es }) => es)),
  },
  ja: {
    direction: "ltr",
    formats: "ja",
    load: lazily(() => import("./locales/ja.js").then(({ ja }) => ja)),
  },
  ar: {
    direction: "rtl",
    formats: "ar-u-ca-gregory-nu-latn",
    load: lazily(() => import("./locales/ar.js").then(({ ar }) => ar)),
  },
};

export const DEFAULT_LANGUAGE: Language = "en";

/** Returns the texts of a language. */
export type LoadMessages = (language: Language) => Promise<Messages>;

/**
 * Loads a language's file at its first use. English is there already: its texts are also the
 * fallback and the list of keys.
 */
export const loadMessages: LoadMessages = (language) => LANGUAGES[language].load();

/** Whether a text is the tag of a language of the pages. */
export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag);
}

/**
 * Returns the language that an Accept-Language header prefers (RFC 9110 section 12.5.4), matched by
 * its primary subtag: `de-AT` is German. Of languages with the same quality, the first one wins.
 * English if none matches.
 */
export function preferredLanguage(header: string | undefined): Language {
  let best: Language = DEFAULT_LANGUAGE;
  let highest = 0;
  for (const [tag, weight] of preferences(header)) {
    const primary = tag === "*" ? DEFAULT_LANGUAGE : (tag.split("-", 1)[0] ?? "");
    if (weight > highest && isLanguage(primary)) {
      best = primary;
      highest = weight;
    }
  }
  return best;
}
