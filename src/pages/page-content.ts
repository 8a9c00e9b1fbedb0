import type { Markup } from "./html.js";
import type { PageDescription } from "./page-description.js";
import type { Picture } from "./picture.js";

type Described = "code" | "reason" | "user" | "action" | "sessions" | "alert";

/** The content of one page: what it says, and its HTML without the document around it. */
export interface PageContent
  extends Pick<PageDescription, "kind" | "status" | "title" | "heading" | "texts">, Partial<Pick<PageDescription, Described>> {
  readonly main: Markup;
  /** The user's picture, which the Content-Security-Policy must allow. */
  readonly picture?: Picture | undefined;
  /** Whether the page has a form. */
  readonly forms?: boolean;
  /** The name of its script file below the mount path. */
  readonly script?: string;
}
