import { auth } from "../../lib/auth";
import { OrderForm } from "./order-form";

interface Order {
  readonly id: number;
  readonly article: string;
  readonly by: string;
}

export default async function Orders() {
  const response = await auth.fetchApi("orders", "items");
  const orders = (await response.json()) as readonly Order[];
  return (
    <>
      <h1>Orders</h1>
      <ul>
        {orders.map(({ id, article, by }) => (
          <li key={id}>
            {article}, by {by}
          </li>
        ))}
      </ul>
      <OrderForm />
    </>
  );
}
