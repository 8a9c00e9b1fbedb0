import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../../src/errors.js";
import {
  isLanguage,
  LANGUAGES,
  preferredLanguage,
  type Language,
} from "../../src/pages/languages.js";
import { en } from "../../src/pages/locales/en.js";
import type { Message } from "../../src/pages/locales/message.js";
import { placeholdersOf, type MessageKey } from "../../src/pages/messages.js";
import { createTexts } from "../../src/pages/texts.js";
import { languages, MESSAGES, textsIn } from "./texts-in.js";

const keys = Object.keys(en) as MessageKey[];
const formsOf = (message: Message): readonly string[] =>
  typeof message === "string" ? [message] : Object.values(message);

/** Words of durations, times past and dates. Versions of ICU differ in the rest. */
const WORDS: Readonly<Record<Language, readonly [RegExp, RegExp, RegExp]>> = {
  en: [/1 day.*1 hour.*1 minute.*1 second/, /2 hours ago/, /22 Nov 2026, 12:00 UTC/],
  de: [/1 Tag.*1 Stunde.*1 Minute.*1 Sekunde/, /vor 2 Stunden/, /22\. Nov.*2026.*12:00 UTC/],
  fr: [/1 jour.*1 heure.*1 minute.*1 seconde/, /il y a 2 heures/, /22 nov.*2026.*12:00 UTC/],
  es: [/1 día.*1 hora.*1 minuto.*1 segundo/, /hace 2 horas/, /22 nov.*2026.*12:00 UTC/],
  ja: [/1 日.*1 時間.*1 分.*1 秒/, /2 時間前/, /2026年11月22日 12:00 UTC/],
  ar: [/يوم.*ساعة.*دقيقة.*ثانية/, /ساعتين/, /22 نوفمبر.*2026.*12:00 UTC/],
};

/**
 * The codes without a page of their own among the errors: exceptions, responses that are always
 * JSON, and the page of two users.
 */
const WITHOUT_PAGE: readonly ErrorCode[] = [
  "other_user_signed_in",
  "sign_in_unconfirmed",
  "configuration_invalid",
  "login_required",
  "guard_missing",
  "origin_unknown",
  "session_ended",
  "shutting_down",
  "insufficient_user_authentication",
  "api_path_invalid",
  "api_sign_in_required",
  "api_token_refused",
  "api_token_missing",
  "api_provider_mismatch",
  "api_framing_invalid",
  "api_body_consumed",
  "api_unreachable",
  "api_response_invalid",
  "api_redirect_refused",
  "api_token_rejected",
  "api_nonce_demanded",
  "api_timeout",
];

describe.each(languages)("the language %s", (language) => {
  const messages: Readonly<Record<string, Message>> = MESSAGES[language];

  it("has no text that English lacks; those that it lacks are listed here", () => {
    expect(Object.keys(messages).filter((key) => !Object.hasOwn(en, key))).toEqual([]);
    const missing = keys.filter((key) => messages[key] === undefined);
    if (missing.length > 0) console.info(`${language} lacks ${missing.join(", ")}`);
  });

  it.each(keys.filter((key) => messages[key] !== undefined))(
    "%s has the placeholders of the English text, no markup and no space at its ends",
    (key) => {
      const [english = ""] = formsOf(en[key]).slice(-1);
      for (const text of formsOf(messages[key] ?? "")) {
        expect(placeholdersOf(text)).toEqual(placeholdersOf(english));
        expect(text).not.toMatch(/[<>]|&[a-z#]|^\s|\s$|^$/);
        // A brace that is no placeholder is a mistake of the translator.
        expect(text.replace(/\{[a-zA-Z]+\}/g, "")).not.toMatch(/[{}]/);
      }
    },
  );

  it("has a form for each plural category of its language", () => {
    const categories = new Intl.PluralRules(LANGUAGES[language].formats).resolvedOptions()
      .pluralCategories;
    for (const message of Object.values(messages)) {
      if (typeof message !== "string")
        expect(Object.keys(message).sort()).toEqual([...categories].sort());
    }
  });

  it("says no text in English", () => {
    const own = ["title.named", "rule.duration", "error.code"];
    const same = keys.filter(
      (key) => !own.includes(key) && JSON.stringify(messages[key]) === JSON.stringify(en[key]),
    );
    expect(same).toEqual(language === "en" ? keys.filter((key) => !own.includes(key)) : []);
  });

  it("writes durations, dates and times past in its own words, with Western digits", () => {
    const texts = textsIn(language);
    const [units, past, date] = WORDS[language];
    // Some languages write a no-break space.
    const plain = (text: string) => text.replace(/\s/g, " ");
    expect(plain(texts.duration(90_061))).toMatch(units);
    expect(plain(texts.ago(7_200))).toMatch(past);
    expect(plain(texts.time(1_795_348_800))).toMatch(date);
    const written = [texts.duration(90_061), texts.ago(7_200), texts.time(1_795_348_800)].join("");
    expect(written).not.toMatch(/(?![0-9])\p{Nd}/u);
  });
});

/** Their titles in the table of errors name what only developers know. */
const FOR_DEVELOPERS = ["host_invalid", "store_unavailable", "session_missing"];

it("has a title for each error that a page shows: the English one is that of the table of errors, without developers' words", () => {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !WITHOUT_PAGE.includes(code));
  const titles = Object.fromEntries(
    codes.map((code) => [code, (en as Readonly<Record<string, unknown>>)[`error.${code}`]]),
  );
  const listed = Object.fromEntries(codes.map((code) => [code, ERRORS[code].title]));
  expect(codes.filter((code) => titles[code] !== listed[code]).sort()).toEqual(
    FOR_DEVELOPERS.toSorted(),
  );
});

it.each([
  [1, "لا تظهر هنا جلسة واحدة أقدم (1)."],
  [2, "لا تظهر هنا جلستان أقدم (2)."],
  [5, "لا تظهر هنا 5 جلسات أقدم."],
  [11, "لا تظهر هنا 11 جلسة أقدم."],
  [100, "لا تظهر هنا 100 جلسة أقدم."],
])("Arabic has a form of its own for %i", (count, words) => {
  expect(textsIn("ar").say("sessions.hidden", { count })).toBe(words);
});

it("a text that a language lacks is English, with its values", () => {
  const { "action.signIn": _one, "error.code": _other, ...rest } = MESSAGES.de;
  const { say } = createTexts("de", rest);
  expect(say("action.signIn")).toBe("Sign in");
  expect(say("error.code", { status: 404 })).toBe("Error 404");
  expect(say("action.signOut")).toBe("Abmelden");
  expect(createTexts("de", rest, { "action.signIn": "Los" }).say("action.signIn")).toBe("Los");
});

describe("the language of a request", () => {
  it.each<[string | undefined, Language]>([
    [undefined, "en"],
    ["", "en"],
    ["de", "de"],
    ["DE-at", "de"],
    ["fr-CA,fr;q=0.9,en;q=0.8", "fr"],
    ["en;q=0.5, ja;q=0.8", "ja"],
    ["nl, pl;q=0.9, es;q=0.2", "es"],
    ["nl,pt-BR", "en"],
    ["ar-EG", "ar"],
    ["es;q=1.0, de", "es"],
    ["de;q=0, es;q=0.1", "es"],
    ["de;q=0", "en"],
    ["*", "en"],
    ["*;q=0.1, ja;q=0.5", "ja"],
    ["de;q=abc, fr;q=0.1", "fr"],
    ["de;q=2, fr;q=0.1", "fr"],
    ["__proto__, constructor, toString, de", "de"],
    [`${"nl,".repeat(40)}de`, "en"],
    [" ; , ;;q=1, de ; q=0.3 , fr ; q=0.4", "fr"],
  ])("%j gets %s", (header, language) => {
    expect(preferredLanguage(header)).toBe(language);
  });

  it("is found in a megabyte of header within a moment", () => {
    expect(preferredLanguage(`${" ".repeat(500_000)};${"-".repeat(500_000)}, de`)).toBe("de");
  });

  it.each(["", "EN", "de-AT", "constructor", "hasOwnProperty"])(
    "%j is no language of the pages",
    (tag) => {
      expect(isLanguage(tag)).toBe(false);
    },
  );
});

it("a placeholder without a value stays as it is, and a value is never read as a placeholder", () => {
  const texts = textsIn("en", { "rule.duration": "{duration} {nothing} {__proto__} {rule}" });
  expect(texts.say("rule.duration", { rule: "{duration}", duration: "8 hours" })).toBe(
    "8 hours {nothing} {__proto__} {duration}",
  );
});
