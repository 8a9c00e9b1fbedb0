import type { Interpolated } from "./html.js";
import { LANGUAGES, type Language } from "./languages.js";
import { en } from "./locales/en.js";
import type { Message } from "./locales/message.js";
import {
  PLACEHOLDER,
  type MessageKey,
  type MessageOverrides,
  type Messages,
  type ValuesOf,
} from "./messages.js";

/** The texts of one language, with the application's own lines. */
export interface Texts {
  readonly language: Language;
  readonly direction: "ltr" | "rtl";
  /** Returns a text with its placeholders substituted. It is text, not markup. */
  say<Key extends MessageKey>(key: Key, ...values: ValuesOf<Key, string | number>): string;
  /** As `say`, for a template: values may be markup. */
  parts<Key extends MessageKey>(key: Key, ...values: ValuesOf<Key, Interpolated>): Interpolated;
  /** A number of seconds in words: "8 hours", "1 hour 30 minutes". */
  duration(seconds: number): string;
  /**
   * The time since a moment, in its largest unit, rounded down: "2 hours ago".
   * @param seconds at least 0
   */
  ago(seconds: number): string;
  /** A moment in UTC: "22 Nov 2026, 12:10 UTC". @param at epoch seconds */
  time(at: number): string;
  /** The locale of dates and numbers, as a language tag (BCP 47). */
  readonly formats: string;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** The form of a time, here in UTC and in the script that writes it in the reader's zone. */
export const TIME_FORMAT = {
  day: "2-digit",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
} as const;

/** @param overrides the application's own lines */
export function createTexts(
  language: Language,
  messages: Messages,
  overrides: MessageOverrides = {},
): Texts {
  const { direction, formats } = LANGUAGES[language];
  const plurals = new Intl.PluralRules(formats);
  const list = new Intl.ListFormat(formats, { type: "unit", style: "narrow" });
  const time = new Intl.DateTimeFormat(formats, { ...TIME_FORMAT, timeZone: "UTC" });
  const past = new Intl.RelativeTimeFormat(formats);
  const counted = (count: number, unit: (typeof UNITS)[number][0]) =>
    new Intl.NumberFormat(formats, {
      style: "unit",
      unit,
      unitDisplay: "long",
      useGrouping: false,
    }).format(count);

  function parts(
    key: MessageKey,
    values: Readonly<Record<string, Interpolated>> = {},
  ): Interpolated[] {
    const message: Message = overrides[key] ?? messages[key] ?? en[key];
    const text =
      typeof message === "string"
        ? message
        : (message[plurals.select(Number(values["count"]))] ?? message.other);
    return text
      .split(PLACEHOLDER)
      .map((part, index) =>
        index % 2 === 0 ? part : Object.hasOwn(values, part) ? values[part] : `{${part}}`,
      );
  }
  const say: Texts["say"] = (key, ...[values]) => parts(key, values).join("");

  return {
    language,
    direction,
    say,
    parts: (key, ...[values]) => parts(key, values),
    duration(seconds) {
      let rest = Math.max(0, Math.floor(seconds));
      const spoken: string[] = [];
      for (const [unit, size] of UNITS) {
        const count = Math.floor(rest / size);
        rest -= count * size;
        if (count > 0) spoken.push(counted(count, unit));
      }
      return spoken.length === 0 ? counted(0, "second") : list.format(spoken);
    },
    ago(seconds) {
      const [unit, size] = UNITS.find(([, length]) => length <= seconds) ?? UNITS[3];
      return size < 60 ? say("time.justNow") : past.format(-Math.floor(seconds / size), unit);
    },
    time: (at) => time.format(at * 1000),
    formats,
  };
}

/** The text of a key without placeholders; undefined if there is none. */
export function ownText(key: string, texts: Texts): string | undefined {
  return Object.hasOwn(en, key) ? texts.say(key as "nav.home") : undefined;
}
