import { idpAuth } from "idpauth/fetch";

const auth = idpAuth({
  apis: { orders: { url: "https://orders.internal/v2/", path: "/api/orders/" } },
});
auth.start();

// #region proxy
const app = auth.proxyApi("orders")(() => new Response("Welcome."));

export async function handle(request: Request): Promise<Response> {
  return (await auth.fetch(request)) ?? app(request);
}
// #endregion

export { handle as app };
