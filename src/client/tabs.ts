import type { Channel, Environment } from "./environment.js";

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
   * `signed-in`: a user has signed in in a popup window. `received`: the page that opened it knows,
   * so the window may close.
   */
  readonly type?: "signed-in" | "received";
  /** The attempt with which the popup window was opened. */
  readonly attempt?: string;
}

/**
 * Connects this tab with the others of the same mount path.
 * @returns undefined if the browser has no channel
 */
export function openChannel(
  env: Environment,
  mountPath: string,
  hear: (hint: Hint) => void,
): Channel | undefined {
  if (!env.BroadcastChannel) return undefined;
  const channel = new env.BroadcastChannel(`idpauth:${mountPath}`);
  channel.onmessage = ({ data }) => {
    if (data) hear(data);
  };
  return channel;
}
