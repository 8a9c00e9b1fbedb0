import { SignInError, type SessionState } from "idpauth/client";
import { SignedIn, SignedOut, useSession, useSessionClient } from "idpauth/react";
import { useState } from "react";

/** Why a session has ended. */
const REASONS: Partial<Record<NonNullable<SessionState["reason"]>, string>> = {
  no_credentials: "",
  logout: "",
  idle: "You were inactive for too long.",
  max_age: "The session has reached its maximum age.",
  session_expiry: "The provider's limit has passed.",
  ended_everywhere: "The session was ended on the server or on another device.",
  too_many_sessions: "You signed in on too many devices.",
  logged_out_at_provider: "The session was ended at the provider.",
};

/** Who is signed in, with the way in and out. */
export function Account() {
  const state = useSession();
  const { signIn, signOut } = useSessionClient();
  const [problem, setProblem] = useState("");
  const name = state.user?.name ?? state.user?.email ?? "A user without a name";

  const signInHere = () => {
    setProblem("");
    signIn({ popup: true }).catch((error: unknown) =>
      setProblem(
        error instanceof SignInError && error.message !== "blocked"
          ? `The sign-in was not completed: ${error.message}.`
          : "The browser did not open a window. Use “Sign in” instead.",
      ),
    );
  };

  return (
    <section className="who account" aria-label="Account">
      <SignedIn>
        <span className="initials" aria-hidden="true">
          {initials(name)}
        </span>
      </SignedIn>
      <div className="text">
        <p role="status" className={`state ${state.status}`}>
          {statusText(state, name)}
        </p>
        {state.user !== null && <span className="mail">{state.user.email}</span>}
        {problem !== "" && <span role="alert">{problem}</span>}
      </div>
      <SignedIn>
        <button className="button plain" onClick={() => void signOut()}>
          Sign out
        </button>
      </SignedIn>
      <SignedOut>
        <button className="button" onClick={() => void signIn()}>
          Sign in
        </button>
        <button className="button plain" onClick={signInHere}>
          Sign in in a new window
        </button>
      </SignedOut>
    </section>
  );
}

function statusText({ status, user, reason }: SessionState, name: string): string {
  switch (status) {
    case "loading":
      return "Finding out who is signed in …";
    case "signed-in":
      return `Signed in as ${name}`;
    case "signed-out":
      return `You are signed out. ${REASONS[reason] ?? `Your session has ended (${reason}).`}`;
    case "unavailable":
      return user === null
        ? "The server does not respond. Trying again …"
        : `${name}: the server does not respond. You are still signed in.`;
  }
}

function initials(name: string): string {
  return name
    .split(/[\s@]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("");
}
