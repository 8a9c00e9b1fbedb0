import { useSession } from "idpauth/react";
import { useEffect, useState, type SyntheticEvent } from "react";
import { auth } from "./auth";

type Item = { readonly id: number; readonly text: string };

export function App() {
  const { status, user } = useSession();
  const [items, setItems] = useState<readonly Item[]>([]);
  const [draft, setDraft] = useState("");
  const [message, setMessage] = useState("");
  const [isSending, setSending] = useState(false);

  useEffect(() => {
    // If the user is signed out, this request waits until they sign in.
    void auth.fetch("/api/items").then(
      async (response) => setItems(response.ok ? await response.json() : []),
      () => setMessage("The list didn't load. Reload the page."),
    );
  }, []);

  async function signIn() {
    // If there is a draft, sign in in a new window, so that this page keeps it.
    await auth
      .signIn({ popup: draft !== "" })
      .catch(() => setMessage("The sign-in wasn't completed."));
  }

  async function add(event: SyntheticEvent) {
    event.preventDefault();
    setSending(true);
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text: draft }),
    };
    // If the session has ended, this waits until the user has signed in again. It rejects if the
    // network fails.
    const response = await auth.fetch("/api/items", init).catch(() => undefined);
    setSending(false);
    setMessage(response?.ok ? "Added." : "That didn't work. Try again.");
    if (!response?.ok) return;
    setItems(await response.json());
    setDraft("");
  }

  return (
    <>
      <p role="status">
        {status === "unavailable"
          ? "The server doesn't respond. Trying again …"
          : (user?.name ?? status)}
      </p>
      {user !== null && <button onClick={() => void auth.signOut()}>Sign out</button>}
      {status === "signed-out" && <button onClick={() => void signIn()}>Sign in</button>}
      <ul>{user !== null && items.map(({ id, text }) => <li key={id}>{text}</li>)}</ul>
      <form onSubmit={(event) => void add(event)}>
        <label htmlFor="text">New item</label>
        <input
          id="text"
          value={draft}
          required
          maxLength={100}
          readOnly={isSending}
          onChange={({ target }) => setDraft(target.value)}
        />
        <button disabled={isSending}>Add</button>
        <p role="status">
          {isSending ? "Sending … If your session has ended, sign in to continue." : message}
        </p>
      </form>
    </>
  );
}
