"use client";

import {
  pageClient,
  ServerContent,
  SessionProvider,
  SignedOut,
  useSession,
  useSessionClient,
} from "idpauth/react";
import { useRouter } from "next/navigation";

// If a different user signs in, a reload removes the previous user's data from modules and from the
// router's cache.
const onUserChange = () => window.location.reload();

export function Session({ initialState, children }) {
  const { refresh } = useRouter();
  return (
    <SessionProvider client={pageClient({ initialState, onUserChange })}>
      <header>
        Hello, <UserName />. <SignOut />
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

/** Shows the change when the user signs out in another tab. */
function UserName() {
  const { user } = useSession();
  return user === null ? "you are signed out" : (user.name ?? user.email);
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
