import express from "express";
import { idpAuth } from "idpauth/express";
import { pool } from "./pool.mjs";

export const app = express();

// #region sign-out
const auth = idpAuth({
  async onSignOut({ reason, subject, session }) {
    await pool.query("insert into audit (iss, sub, reason, user_id) values ($1, $2, $3, $4)", [
      subject.iss,
      subject.sub,
      reason,
      session?.data["userId"],
    ]);
  },
});
auth.mount(app);
// #endregion
