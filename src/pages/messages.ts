import type { en } from "./locales/en.js";
import type { PluralForms } from "./locales/message.js";

type English = typeof en;

/** The name of a text of the pages. docs/reference/page-texts.md lists them. */
export type MessageKey = keyof English;

/** The texts of one language. A missing one is English. */
export type Messages = {
  readonly [Key in MessageKey]?: English[Key] extends string ? string : PluralForms;
};

/**
 * The application's own texts of one language, by key. docs/reference/page-texts.md lists the keys.
 */
export type MessageOverrides = {
  readonly [Key in keyof English]?: English[Key] extends string ? string : string | PluralForms;
};

type TextOf<Key extends MessageKey> = English[Key] extends { readonly other: infer Text }
  ? Text
  : English[Key];
type PlaceholderIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderIn<Rest>
  : never;

/** The names of a message's placeholders. */
export type Placeholder<Key extends MessageKey> = PlaceholderIn<TextOf<Key>>;

/** The values that a message needs: none, or one object with a value for each placeholder. */
export type ValuesOf<Key extends MessageKey, Value> = [Placeholder<Key>] extends [never]
  ? []
  : [values: Readonly<Record<Placeholder<Key>, Value>>];

/** Matches a placeholder. Used with `split`, it gives text and names in turn. */
export const PLACEHOLDER = /\{([a-zA-Z]+)\}/;

/** The names of the placeholders of a text, sorted, each once. */
export function placeholdersOf(text: string): string[] {
  return [...new Set(text.split(PLACEHOLDER).filter((_, index) => index % 2 === 1))].sort();
}
