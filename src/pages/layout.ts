import { html, type Markup } from "./html.js";

export interface Layout {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly title: string;
  readonly main: Markup;
}

/** The document around the content of every page. It has no script and no inline style. */
export function layout({ publicPath, title, main }: Layout): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="${publicPath}style.css" />
      </head>
      <body>
        <main>${main}</main>
      </body>
    </html> `.toString();
}
