import { idpAuth } from "idpauth/next";

/** The API with the orders. It checks each request's access token. */
const url = process.env["ORDERS_URL"] ?? "http://127.0.0.1:4000/";

export const auth = idpAuth({ apis: { orders: { url, path: "/api/orders/" } } });
