import { idpAuth } from "idpauth/next";

export const auth = idpAuth({
  authFinalRedirectUrl: "/",
  authLogoutRedirectUrl: "/",
  apis: { orders: { url: process.env["ORDERS_URL"] ?? "http://localhost:4000/" } },
  onSignIn: ({ claims }) => ({ data: { userId: claims.sub } }), // the id in your own tables
});
