import { idpAuth } from "idpauth/next";

export const auth = idpAuth({
  authLogoutRedirectUrl: "/",
  onSignIn: ({ claims }) => ({ data: { userId: claims.sub } }), // the id in your own tables
});
