import { openStream } from "idpauth/client/streams";
import { useEffect, useState } from "react";
import { post } from "./post";

type Order = { readonly id: number; readonly text: string; readonly isPaid: boolean };

export function Orders() {
  const [orders, setOrders] = useState<readonly Order[]>([]);
  const [message, setMessage] = useState("");

  useEffect(() => {
    const stream = openStream("/api/stream", { closeWhenHidden: true });
    stream.onmessage = ({ data }) => setOrders(JSON.parse(data));
    return () => stream.close();
  }, []);

  async function pay(order: number) {
    // If the API requires it, the user authenticates again in a new window.
    const isPaid = await post("/api/payments", { order }, { stepUp: true });
    setMessage(isPaid ? "Paid." : "Not paid. Confirm that it's you, and try again.");
  }

  return (
    <section>
      <ul aria-label="Orders">
        {orders.map(({ id, text, isPaid }) => (
          <li key={id}>
            {text} {isPaid ? "(paid)" : <button onClick={() => void pay(id)}>Pay</button>}
          </li>
        ))}
      </ul>
      <p role="status">{message}</p>
    </section>
  );
}
