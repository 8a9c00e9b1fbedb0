import type { Language } from "./languages.js";
import type { MessageOverrides } from "./messages.js";
import type { PageDescription } from "./page-description.js";

/** The look and the language of the pages that users see. */
export interface PagesOptions {
  /**
   * The application's name, at most 100 characters: in titles, and in the header if there is no
   * logo.
   */
  readonly name?: string;
  /** The logo in the header of every page, or its address. */
  readonly logo?:
    | string
    | {
        /**
         * A path of the application, or an https URL. The pages' Content-Security-Policy allows an
         * https URL alone; for a path, it allows images of the own origin.
         */
        readonly src: string;
        /** The text for users who do not see the image. Default: `pages.name`. */
        readonly alt?: string;
        /** CSS pixels, 1 to 1000. */
        readonly width?: number;
        /** CSS pixels, 1 to 1000. */
        readonly height?: number;
      };
  /**
   * Colors as `#rrggbb`. Default: those of idpauth. Text needs a contrast of 4.5:1 (WCAG 2.2).
   * Without `dark.accent`, the pages lighten `accent` until it is legible.
   */
  readonly colors?: {
    /** Buttons, links and emblems. */
    readonly accent?: string;
    /** The page behind the card. */
    readonly background?: string;
    /** Used where the browser prefers a dark scheme. */
    readonly dark?: {
      /** As of the light scheme. */
      readonly accent?: string;
      /** As of the light scheme. */
      readonly background?: string;
    };
  };
  /**
   * The application's start page: a path or an http(s) URL. The header and the page of a signed-in
   * user link to it.
   */
  readonly homeHref?: string;
  /**
   * The language. `auto`: the one that each browser's Accept-Language header prefers. Default `en`.
   */
  readonly locale?: Language | "auto";
  /**
   * Replaces texts, by language and key. They are text, not HTML: the pages escape them after
   * substitution.
   */
  readonly messages?: Readonly<Partial<Record<Language, MessageOverrides>>>;
  /**
   * Writes a page's HTML itself. ESCAPING IS THEN THE APPLICATION'S: every value of the description
   * is plain text, and a user's name or a session's label can contain markup. The response keeps
   * its status and its policy headers, so inline scripts and inline styles do not run.
   *
   * @returns the HTML document; undefined for the page of idpauth. If it throws or returns anything
   *   else, the user gets the page of idpauth, and the log line `function_threw` says why
   */
  render?(page: PageDescription): string | undefined;
}

export type PageLogo = Exclude<NonNullable<PagesOptions["logo"]>, string>;

/** The colors of the light scheme, and of the dark one. */
export type PageColors = NonNullable<PagesOptions["colors"]>;

export type SchemeColors = NonNullable<PageColors["dark"]>;
