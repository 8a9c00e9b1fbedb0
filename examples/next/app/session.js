"use client";

import { createClient } from "idpauth/client";
import { SessionProvider, SessionWarning, useSession } from "idpauth/react";
import "idpauth/react/session-warning.css";

let browserClient;

/** One client for each page of the browser; on the server, one for each request. */
function clientFor(initialState) {
  if (typeof window === "undefined") return createClient({ initialState });
  return (browserClient ??= createClient({ initialState }));
}

export function Session({ initialState, children }) {
  return (
    <SessionProvider client={clientFor(initialState)}>
      {children}
      <SessionWarning />
    </SessionProvider>
  );
}

/** Follows the session: a sign-out in another tab shows here, too. */
export function UserName() {
  const { user } = useSession();
  return user === null ? "you are signed out" : (user.name ?? user.email);
}
