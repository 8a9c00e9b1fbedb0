const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Markup that is already safe. Only the {@link html} tag creates it. Data from JSON, a claim or a
 * query cannot forge the private field, so it is never treated as markup.
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
      // Escaping protects text and quoted attributes; an unquoted attribute would still end at a
      // space.
      if (strings[index]?.endsWith("=") === true)
        throw new TypeError("An attribute's value must be in quotes.");
      text += Markup.#escape(value) + (strings[index + 1] ?? "");
    });
    return new Markup(text);
  }

  static #escape(value: Interpolated): string {
    if (value === undefined) return "";
    if (typeof value === "object")
      return #text in value ? value.#text : value.map((item) => Markup.#escape(item)).join("");
    return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * A value in a template: text (escaped), markup (unchanged), a list of values, or undefined for
 * nothing.
 */
export type Interpolated = string | number | Markup | undefined | readonly Interpolated[];

/** Creates markup. It escapes every value that is not markup. */
export function html(strings: TemplateStringsArray, ...values: readonly Interpolated[]): Markup {
  return Markup.fromTemplate(strings, values);
}

/**
 * Whether a link may lead to an address: a path, an http(s) URL, or empty for the current address.
 * Escaping does not stop `javascript:`. `//x` and `/\x` lead to other hosts. So do a tab or a line
 * break between the two slashes, since browsers remove them.
 */
export function isSafeAddress(href: string): boolean {
  return (
    href === "" || (!/[\s\\]/.test(href) && (/^\/(?!\/)/.test(href) || /^https?:\/\//i.test(href)))
  );
}

// Decorative, so hidden from assistive technology.
const icon = (shape: Markup) =>
  html`<svg
    viewBox="0 0 24 24"
    width="24"
    height="24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.75"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    ${shape}
  </svg>`;

export const PERSON = icon(
  html`<circle cx="12" cy="8.5" r="3.75" /><path
      d="M4.75 19.75c.9-3.6 3.6-5.5 7.25-5.5s6.35 1.9 7.25 5.5"
    />`,
);
export const CLOCK = icon(html`<circle cx="12" cy="12" r="8.25" /><path d="M12 7.5V12l3 2" />`);
export const NOTICE = icon(
  html`<circle cx="12" cy="12" r="8.25" /><path d="M12 7.75v5" /><path d="M12 16.1v.05" />`,
);
export const PAUSE = icon(
  html`<circle cx="12" cy="12" r="8.25" /><path d="M10 9v6" /><path d="M14 9v6" />`,
);
