import { LANGUAGES, loadMessages, type Language } from "../../src/pages/languages.js";
import type { MessageOverrides, Messages } from "../../src/pages/messages.js";
import { createTexts, type Texts } from "../../src/pages/texts.js";

export const languages = Object.keys(LANGUAGES) as Language[];

/** The texts of every language, loaded. */
export const MESSAGES = Object.fromEntries(
  await Promise.all(
    languages.map(async (language) => [language, await loadMessages(language)] as const),
  ),
) as Readonly<Record<Language, Messages>>;

export function textsIn(language: Language, overrides?: MessageOverrides): Texts {
  return createTexts(language, MESSAGES[language], overrides);
}
