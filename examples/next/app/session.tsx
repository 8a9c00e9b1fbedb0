"use client";

import type { ClientState } from "idpauth/client";
import {
  pageClient,
  ServerContent,
  SessionProvider,
  SignedIn,
  SignedOut,
  useSession,
  useSessionClient,
} from "idpauth/react";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";

// If a different user signs in, a reload removes the previous user's data from modules and from the
// router's cache.
const onUserChange = () => window.location.reload();

interface Props {
  /** Null in an outage. */
  initialState: ClientState | null;
  children: ReactNode;
}

export function Session({ initialState, children }: Props) {
  const { refresh } = useRouter();
  return (
    <SessionProvider client={pageClient({ initialState, onUserChange })}>
      <header>
        <Greeting />{" "}
        <SignedIn>
          <SignOut />
        </SignedIn>
      </header>
      <ServerContent account={initialState?.account ?? null} refresh={refresh}>
        {children}
      </ServerContent>
      <SignedOut>
        <SignInAgain />
      </SignedOut>
    </SessionProvider>
  );
}

/** Follows the session, for example when the user signs out in another tab. */
function Greeting() {
  const { status, user } = useSession();
  if (status === "loading") return "Loading …";
  if (status === "signed-out") return "You are signed out.";
  if (user === null) return "The server isn't responding."; // since the page loaded
  return `Hello, ${user.name ?? user.email}.`;
}

/** Signs out through the client, so that the other tabs follow at once. */
function SignOut() {
  const { signOut } = useSessionClient();
  return <button onClick={() => void signOut()}>Sign out</button>;
}

/** Opens a new window for the login, so that a form on this page keeps its text. */
function SignInAgain() {
  const { signIn } = useSessionClient();
  // A user who closes the window stays signed out.
  const signInAgain = () => signIn({ popup: true }).catch(() => undefined);
  return <button onClick={() => void signInAgain()}>Sign in</button>;
}
