import type { HTMLAttributes, RefAttributes } from "react";
import type { Client } from "../client/client.js";
import type { IdpauthWarning, WarningTexts } from "../client/warning/warning.js";

/** Props of `<idpauth-warning>` in JSX. */
export interface WarningProps
  extends HTMLAttributes<IdpauthWarning>, RefAttributes<IdpauthWarning> {
  /** The page's client. Default: the last one that `createClient` returned. */
  readonly client?: Client<object> | undefined;
  /** Seconds before the end of the session. Default 120. */
  readonly seconds?: number;
  /** The key of the provider that "Sign in again" leads to. Default: that of the page's last session. */
  readonly provider?: string;
  /** Texts in place of those that the element has in English and German. With React 19. */
  readonly texts?: Partial<WarningTexts>;
}
