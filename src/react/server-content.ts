import { createElement, useEffect, useState, type ReactNode } from "react";
import { useSession, useSessionClient } from "./session-provider.js";

/** Props of `ServerContent`. */
export interface ServerContentProps {
  /**
   * The account that the server rendered the children for: `account` of `auth.clientState()`. Null:
   * for a signed-out user.
   */
  readonly account: string | null;
  /** Renders the page on the server again: `refresh` of Next.js's `useRouter()`. */
  readonly refresh: () => void;
  /** What the server rendered for `account`. */
  readonly children?: ReactNode;
}

/**
 * Shows what a server rendered for a user, as long as that user is signed in. It hides the children
 * instead of removing them, so that their forms keep their text if the same user signs in again.
 *
 * @example
 * function Content() {
 *   const { refresh } = useRouter();
 *   return (
 *     <ServerContent account={account} refresh={refresh}>
 *       {children}
 *     </ServerContent>
 *   );
 * }
 */
export function ServerContent({ account, refresh, children }: ServerContentProps): ReactNode {
  const client = useSessionClient();
  const current = useSession().account;
  const [last, setLast] = useState(account);

  useEffect(() => {
    // A signed-out user gets no refresh, because a guarded page would navigate to the login.
    if (current && current !== last) refresh();
    setLast(current);
  }, [current]);
  useEffect(() => {
    // The server knows more than the client.
    if (current !== account) void client.refresh();
  }, [account]);

  // The key removes the forms of another user.
  return createElement(
    "div",
    { key: account, style: { display: current === account ? "" : "none" } },
    children,
  );
}
