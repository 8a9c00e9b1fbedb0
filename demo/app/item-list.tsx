import { useSession, useSessionClient } from "idpauth/react";
import { useEffect, useState, type SyntheticEvent } from "react";

interface Item {
  readonly id: number;
  readonly text: string;
}

interface ItemListProps {
  readonly draft: string;
  readonly setDraft: (draft: string) => void;
}

/** The user's items, and the form that adds one. */
export function ItemList({ draft, setDraft }: ItemListProps) {
  const { status, account } = useSession();
  const auth = useSessionClient();
  const [items, setItems] = useState<readonly Item[]>();
  const [message, setMessage] = useState("");
  const [isSending, setSending] = useState(false);

  useEffect(() => {
    if (status !== "signed-in") return;
    const unmounted = new AbortController();
    void loadItems(auth.fetch, unmounted.signal).then((loaded) => {
      if (loaded !== undefined && !unmounted.signal.aborted) setItems(loaded);
    });
    return () => {
      unmounted.abort();
    };
  }, [auth, status, account]);

  const send = async (event: SyntheticEvent) => {
    event.preventDefault();
    setSending(true);
    setMessage("");
    try {
      const headers = { "Content-Type": "application/json" };
      const response = await auth.fetch("/app/api/items", {
        method: "POST",
        headers,
        body: JSON.stringify({ text: draft }),
      });
      if (!response.ok) {
        setMessage(
          response.status === 503
            ? "The server does not respond. Your text is kept; try again in a moment."
            : await detailOf(response),
        );
        return;
      }
      const added = (await response.json()) as Item;
      setItems((before = []) => [...before, added]);
      setDraft("");
      setMessage(`Added: ${added.text}`);
    } catch {
      setMessage("The request failed. Your text is kept; try again.");
    } finally {
      setSending(false);
    }
  };

  return (
    <>
      <p>
        The list and the form are behind the guard. If the session ends while you write, sign in
        again: the form is sent once.
      </p>
      {status === "signed-out" && <p>Sign in to see your items.</p>}
      {status !== "signed-out" && items === undefined && <p>Loading …</p>}
      {status !== "signed-out" && items !== undefined && (
        <ul className="links" aria-label="Your items">
          {items.map(({ id, text }) => (
            <li key={id}>{text}</li>
          ))}
        </ul>
      )}
      <form className="add" onSubmit={(event) => void send(event)}>
        <label htmlFor="text">New item</label>
        <div className="actions">
          <input
            id="text"
            value={draft}
            maxLength={100}
            required
            autoComplete="off"
            onChange={({ target }) => setDraft(target.value)}
          />
          <button className="button" disabled={isSending}>
            Add
          </button>
        </div>
        <p role="status">
          {isSending && status === "signed-out"
            ? "Waiting for your sign-in. Your text is kept."
            : message}
        </p>
      </form>
    </>
  );
}

/** Returns undefined if the server does not respond, or if the request was given up. */
async function loadItems(
  send: typeof fetch,
  signal: AbortSignal,
): Promise<readonly Item[] | undefined> {
  try {
    const response = await send("/app/api/items", { signal });
    return response.ok ? ((await response.json()) as { items: readonly Item[] }).items : undefined;
  } catch {
    return undefined;
  }
}

async function detailOf(response: Response): Promise<string> {
  const { detail = `Status ${response.status}` } = (await response.json()) as { detail?: string };
  return detail;
}
