import type { Markup } from "./html.js";
import type { Picture } from "./picture.js";

/** The content of one page, without the document around it. */
export interface PageContent {
  readonly status: number;
  readonly title: string;
  readonly main: Markup;
  /** The user's picture, which the Content-Security-Policy must allow. */
  readonly picture?: Picture | undefined;
  /** Whether the page has a form. */
  readonly forms?: boolean;
  /** The name of its script file below the mount path. */
  readonly script?: string;
}
