"use client";

import { createClient } from "idpauth/client";
import { ServerContent, SessionProvider, SessionWarning, SignedOut, useSession, useSessionClient } from "idpauth/react";
import "idpauth/react/session-warning.css";
import { useRouter } from "next/navigation";

let browserClient;

/** One client for each page of the browser; on the server, one for each request. */
function clientFor(initialState) {
  if (typeof window === "undefined") return createClient({ initialState });
  // A different user starts with a new page, so that no module and no cache of the router keeps anything of the earlier user.
  return (browserClient ??= createClient({ initialState, onUserChange: () => window.location.reload() }));
}

export function Session({ initialState, children }) {
  const { refresh } = useRouter();
  return (
    <SessionProvider client={clientFor(initialState)}>
      <header>
        Hello, <UserName />. <a href="/idpauth/logout/">Sign out</a>
      </header>
      <ServerContent account={initialState.account} refresh={refresh}>
        {children}
      </ServerContent>
      <SignedOut>
        <SignInAgain />
      </SignedOut>
      <SessionWarning />
    </SessionProvider>
  );
}

/** Follows the session: a sign-out in another tab shows here, too. */
function UserName() {
  const { user } = useSession();
  return user === null ? "you are signed out" : (user.name ?? user.email);
}

/** Signs in in a new window, so that an open form of this page keeps its text. */
function SignInAgain() {
  const { signIn } = useSessionClient();
  return <button onClick={() => void signIn({ popup: true })}>Sign in</button>;
}
