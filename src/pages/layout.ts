import { html, type Markup } from "./html.js";

export interface Layout {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly title: string;
  readonly main: Markup;
  /** The name of the page's script file below `publicPath`. Default: no script. */
  readonly script?: string | undefined;
  /** The tag of the language (BCP 47). Default: English. */
  readonly language?: string;
  /** Default: from left to right. */
  readonly direction?: "ltr" | "rtl";
}

/** In two parts, because bundlers rewrite a template with a closing script tag and import a package for it. */
const SCRIPT = "script";

/** The document around the content of every page. It has no inline script and no inline style. */
export function layout({ publicPath, title, main, script, language = "en", direction = "ltr" }: Layout): string {
  return html`<!doctype html>
    <html lang="${language}" dir="${direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="${publicPath}style.css" />
        ${script === undefined ? undefined : html`<script src="${publicPath}${script}" defer></${SCRIPT}>`}
      </head>
      <body>
        <main>${main}</main>
      </body>
    </html> `.toString();
}
