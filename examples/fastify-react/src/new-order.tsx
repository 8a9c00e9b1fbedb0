import { useState, type SyntheticEvent } from "react";
import { post } from "./post";

export function NewOrder() {
  const [text, setText] = useState("");
  const [message, setMessage] = useState("");
  const [isSending, setSending] = useState(false);

  async function add(event: SyntheticEvent) {
    event.preventDefault();
    setSending(true);
    const isAdded = await post("/api/orders", { text });
    setSending(false);
    setMessage(isAdded ? "Added." : "That didn't work. Try again.");
    if (isAdded) setText("");
  }

  return (
    <form onSubmit={(event) => void add(event)}>
      <label htmlFor="text">New order</label>
      <input
        id="text"
        value={text}
        required
        maxLength={100}
        readOnly={isSending}
        onChange={({ target }) => setText(target.value)}
      />
      <button disabled={isSending}>Add</button>
      <p role="status">
        {isSending ? "Sending … If your session has ended, sign in to continue." : message}
      </p>
    </form>
  );
}
