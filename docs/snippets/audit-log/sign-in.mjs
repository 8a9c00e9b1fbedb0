import express from "express";
import { pool } from "../user-table/pool.mjs";

// #region sign-in
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  async onSignIn({ claims, request }) {
    await pool.query(
      "insert into audit (at, action, issuer, subject, detail) values (now(), 'signing in', $1, $2, $3)",
      [claims.iss, claims.sub, request.header("user-agent") ?? null],
    );
  },
});
// #endregion

export const app = express();
auth.mount(app);
