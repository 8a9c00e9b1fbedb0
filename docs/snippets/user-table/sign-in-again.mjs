import express from "express";
import { idpAuth } from "idpauth/express";
import { pool } from "./pool.mjs";

export const app = express();

// #region sign-in-again
const auth = idpAuth({
  async onSignIn({ claims }) {
    const { rows } = await pool.query("select id from users where iss = $1 and sub = $2", [
      claims.iss,
      claims.sub,
    ]);
    return { data: (current) => ({ theme: "light", ...current, userId: Number(rows[0].id) }) };
  },
});
auth.mount(app);
// #endregion
