import { html, type Markup } from "./html.js";
import type { PageLogo } from "./page-options.js";

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
  /** The header with the application's name or logo. Default: none. */
  readonly brand?: Brand | undefined;
}

/** The application, as the header of its pages shows it. */
export interface Brand {
  /** The text in place of a logo. */
  readonly text: string;
  readonly logo: PageLogo | undefined;
  /** A path or an http(s) URL; undefined for no link. */
  readonly homeHref: string | undefined;
}

/**
 * In two parts, because bundlers rewrite a template with a closing script tag and import a package
 * for it.
 */
const SCRIPT = "script";

/** The document around the content of every page. It has no inline script and no inline style. */
export function layout({
  publicPath,
  title,
  main,
  script,
  language = "en",
  direction = "ltr",
  brand,
}: Layout): string {
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
        ${brand && header(brand)}
        <main>${main}</main>
      </body>
    </html> `.toString();
}

function header({ text, logo, homeHref }: Brand): Markup {
  const content = logo === undefined ? html`<bdi>${text}</bdi>` : image(logo, text);
  return html`<header class="brand">
    ${homeHref === undefined ? content : html`<a href="${homeHref}">${content}</a>`}
  </header>`;
}

function image({ src, width, height }: PageLogo, text: string): Markup {
  const size = [width && html` width="${width}"`, height && html` height="${height}"`];
  return html`<img src="${src}" alt="${text}" ${size} />`;
}
