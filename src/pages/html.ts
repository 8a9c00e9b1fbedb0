const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * Markup that is already safe. Only the {@link html} tag makes one: the private field cannot be forged by data, so nothing
 * that came out of JSON, a claim or a query is ever taken for markup.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Template text as it is, every value escaped. Called by {@link html} only. */
  static fromTemplate(strings: TemplateStringsArray, values: readonly Interpolated[]): Markup {
    let text = strings[0] ?? "";
    values.forEach((value, index) => {
      // Escaping protects text and quoted attributes; an unquoted attribute would still end at a space.
      if (strings[index]?.endsWith("=") === true) throw new TypeError("An attribute's value must stand in quotes.");
      text += Markup.#escape(value) + (strings[index + 1] ?? "");
    });
    return new Markup(text);
  }

  static #escape(value: Interpolated): string {
    if (value === undefined) return "";
    if (typeof value === "object") return #text in value ? value.#text : value.map((item) => Markup.#escape(item)).join("");
    return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
  }

  toString(): string {
    return this.#text;
  }
}

/** What a template takes: text (escaped), markup (as it is), a list of these, or undefined for nothing. */
export type Interpolated = string | number | Markup | undefined | readonly Interpolated[];

/** The only way to write markup: every interpolation is escaped, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...values: readonly Interpolated[]): Markup {
  return Markup.fromTemplate(strings, values);
}
