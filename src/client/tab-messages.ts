/**
 * What one page tells the others. It carries no authority: a tab that hears of a change asks the
 * server itself.
 */
export interface Hint {
  /** The account whose state the tab knows; null: signed out. */
  readonly account?: string | null;
  /** Whether more than the account has changed. Undefined: the tab does not know. */
  readonly changed?: boolean | undefined;
  /** Whether the user has signed out in one of the tabs. Tabs of older versions do not say. */
  readonly left?: boolean | undefined;
  /**
   * How a login in a window of its own has ended. `received`: the page that opened it knows, so the
   * window may close.
   */
  readonly type?: "signed-in" | "failed" | "received";
  /** The attempt with which the window was opened. */
  readonly attempt?: string;
  /** Why a login failed: `cancelled`, or the code of an error. */
  readonly failure?: string;
}
