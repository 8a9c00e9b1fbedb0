/** Text that is HTML already; anything else is escaped when it comes into a template. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * A template whose values are escaped, whatever they are; lists are joined. Attribute values stand
 * in quotes.
 */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[])[]
): Html {
  return new Html(parts.reduce((text, part, index) => text + insert(values[index - 1]) + part));
}

function insert(value: string | Html | readonly Html[] | undefined): string {
  if (typeof value === "string")
    return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
  return value instanceof Html ? value.toString() : (value ?? []).join("");
}

/**
 * One page of the demo: the same frame and stylesheet for the application and the provider.
 *
 * @param script the address of a script file
 */
export function page(title: string, body: Html, script?: string): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="/demo.css" />
        ${script === undefined ? [] : html`<script src="${script}" defer></script>`}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`.toString();
}
