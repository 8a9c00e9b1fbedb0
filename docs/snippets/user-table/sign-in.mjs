import express from "express";
import { pool } from "./pool.mjs";

export const app = express();

// #region sign-in
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  async onSignIn({ claims, user }) {
    const { rows } = await pool.query(
      `insert into users (iss, sub, email) values ($1, $2, $3)
       on conflict (iss, sub) do update set email = excluded.email returning id`,
      [claims.iss, claims.sub, user.email],
    );
    return { data: { userId: Number(rows[0].id), theme: "light" } };
  },
});
auth.mount(app);

app.get("/orders", auth.idpRequired, async (req, res) => {
  const { data } = await auth.requireSession(req);
  res.json(data.userId);
});
// #endregion
