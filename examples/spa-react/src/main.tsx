import { createClient } from "idpauth/client";
import { SessionProvider, SessionWarning, useSession } from "idpauth/react";
import "idpauth/react/session-warning.css";
import { useEffect, useState, type SyntheticEvent } from "react";
import { createRoot } from "react-dom/client";

// Another user must not see the items and the draft of the earlier one.
const auth = createClient({ trackActivity: true, onUserChange: () => location.reload() });

type Item = { readonly id: number; readonly text: string };

function App() {
  const { status, user } = useSession();
  const [items, setItems] = useState<readonly Item[]>([]);
  const [draft, setDraft] = useState("");
  const [message, setMessage] = useState("");

  useEffect(() => {
    // Before the sign-in, this waits for it.
    void auth.fetch("/api/items").then(async (response) => {
      if (response.ok) setItems(await response.json());
    });
  }, []);

  async function add(event: SyntheticEvent) {
    event.preventDefault();
    const body = JSON.stringify({ text: draft });
    // If the session has ended, this waits until the user has signed in again. The form keeps its text.
    const response = await auth.fetch("/api/items", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    setMessage(response.ok ? "Added." : "That did not work. Try again.");
    if (!response.ok) return;
    setItems(await response.json());
    setDraft("");
  }

  return (
    <>
      <p role="status">{status === "unavailable" ? "The server does not respond. Trying again …" : (user?.name ?? status)}</p>
      {user !== null && <button onClick={() => void auth.signOut()}>Sign out</button>}
      {status === "signed-out" && <button onClick={() => void auth.signIn()}>Sign in</button>}
      <ul>
        {items.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
      <form onSubmit={(event) => void add(event)}>
        <label htmlFor="text">New item</label>
        <input id="text" value={draft} required maxLength={100} onChange={({ target }) => setDraft(target.value)} />
        <button>Add</button>
        <p role="status">{message}</p>
      </form>
    </>
  );
}

createRoot(document.querySelector("main") ?? document.body).render(
  <SessionProvider client={auth}>
    <App />
    <SessionWarning />
  </SessionProvider>,
);
