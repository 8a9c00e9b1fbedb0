import "idpauth/client/warning";
import { SessionProvider, SignedIn, SignedOut, useSession } from "idpauth/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { auth } from "./auth";
import { Chat } from "./chat";
import { NewOrder } from "./new-order";
import { Orders } from "./orders";

function App() {
  return (
    <>
      <idpauth-warning client={auth} />
      <Header />
      <main>
        <SignedIn>
          <Orders />
          <Chat />
        </SignedIn>
        {/* Outside of SignedIn, so that it keeps its text when the session ends. */}
        <NewOrder />
      </main>
    </>
  );
}

function Header() {
  const { status, user } = useSession();
  const [message, setMessage] = useState("");

  // In a new window, so that the page keeps what the user has typed.
  async function signIn() {
    await auth.signIn({ popup: true }).then(
      () => setMessage(""),
      () => setMessage("You weren't signed in. Allow pop-ups for this site, and try again."),
    );
  }

  return (
    <header>
      <h1>Orders</h1>
      <SignedIn>
        <p>{user?.name}</p>
        <a href="/idpauth/sessions/">Your sessions</a>
        <button onClick={() => void auth.signOut()}>Sign out</button>
      </SignedIn>
      <SignedOut>
        <button onClick={() => void signIn()}>Sign in</button>
      </SignedOut>
      <p role="status">
        {status === "unavailable" ? "The server isn't responding. Trying again …" : message}
      </p>
    </header>
  );
}

createRoot(document.body).render(
  <SessionProvider client={auth}>
    <App />
  </SessionProvider>,
);
