// The application's session, which has the cart. All stages use this file.
import session from "express-session";
import { SqliteSessions } from "./session-store.mjs";

export const appSession = session({
  store: new SqliteSessions(),
  secret: process.env.SECRET, // not SECRET_KEY, which is idpauth's
  resave: false,
  saveUninitialized: false,
  cookie: { maxAge: 8 * 60 * 60 * 1000, sameSite: "lax" }, // with https, also `secure: true`
});
