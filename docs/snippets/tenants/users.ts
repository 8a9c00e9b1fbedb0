import express from "express";
import { providerSource } from "idpauth";
import { idpAuth } from "idpauth/express";
import { pool } from "../user-table/pool.mjs";
import { customers } from "./database.js";

export const app = express();
const source = providerSource({ find: (key) => customers.provider(key) });

// #region users
const auth = idpAuth({
  providers: source,
  async onSignIn({ claims, user }) {
    const { rows } = await pool.query(
      `insert into users (provider, iss, sub, email) values ($1, $2, $3, $4)
       on conflict (provider, iss, sub) do update set email = excluded.email returning id`,
      [user.provider, claims.iss, claims.sub, user.email],
    );
    return { data: { userId: Number(rows[0].id) } };
  },
});
auth.mount(app);
// #endregion

app.get("/t/:org/me", auth.idpRequired, async (req, res) => {
  res.json((await auth.requireSession(req)).data);
});
