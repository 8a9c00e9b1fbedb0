const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/**
 * Markup that is already safe. Only the {@link html} tag creates it. Data from JSON, a claim or a query cannot forge the private field,
 * so it is never treated as markup.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** The template text unchanged, with every value escaped. Only {@link html} calls it. */
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

/** A value in a template: text (escaped), markup (unchanged), a list of values, or undefined for nothing. */
export type Interpolated = string | number | Markup | undefined | readonly Interpolated[];

/** Creates markup. It escapes every value that is not markup. */
export function html(strings: TemplateStringsArray, ...values: readonly Interpolated[]): Markup {
  return Markup.fromTemplate(strings, values);
}
