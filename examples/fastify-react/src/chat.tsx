import { openSocket } from "idpauth/client/streams";
import { useEffect, useRef, useState, type SyntheticEvent } from "react";

export function Chat() {
  const socket = useRef<WebSocket>(null);
  const [isOpen, setOpen] = useState(false);
  const [lines, setLines] = useState<readonly string[]>([]);
  const [draft, setDraft] = useState("");

  useEffect(() => {
    const opened = openSocket("/api/chat");
    opened.onopen = () => setOpen(true);
    opened.onclose = () => setOpen(false); // and opens again if the session continues
    opened.onmessage = ({ data }) => setLines((before) => [...before, data]);
    socket.current = opened;
    return () => opened.close();
  }, []);

  function say(event: SyntheticEvent) {
    event.preventDefault();
    socket.current?.send(draft);
    setDraft("");
  }

  return (
    <section>
      <ol aria-label="Chat">
        {lines.map((line, index) => (
          <li key={index}>{line}</li>
        ))}
      </ol>
      <form onSubmit={say}>
        <label htmlFor="message">Message</label>
        <input
          id="message"
          value={draft}
          required
          maxLength={500}
          onChange={({ target }) => setDraft(target.value)}
        />
        <button disabled={!isOpen}>Send</button>
      </form>
    </section>
  );
}
