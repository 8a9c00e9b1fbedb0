"use client";

import { pageClient } from "idpauth/react";
import { useRouter } from "next/navigation";
import { useState, type SyntheticEvent } from "react";

/** Sends an order. If the session has ended, the request waits until the user has signed in again. */
export function OrderForm() {
  const { refresh } = useRouter();
  const [article, setArticle] = useState("");
  const [message, setMessage] = useState("");

  async function order(event: SyntheticEvent) {
    event.preventDefault();
    setMessage("Sending …");
    const response = await pageClient().fetch("/api/orders/items", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ article }),
    });
    setMessage(response.ok ? "Ordered." : "That didn't work. Try again.");
    if (!response.ok) return;
    setArticle("");
    refresh();
  }

  return (
    <form onSubmit={(event) => void order(event)}>
      <label>
        Article{" "}
        <input value={article} required onChange={({ target }) => setArticle(target.value)} />
      </label>
      <button>Order</button>
      <p role="status">{message}</p>
    </form>
  );
}
