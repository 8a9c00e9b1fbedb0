import express from "express";
import { pool } from "../user-table/pool.mjs";

export const app = express();

// #region lock-out
import { deny, hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

/** @param {{ claims: { iss: string, sub: string } }} user */
const isBlocked = async ({ claims: { iss, sub } }) => {
  const { rows } = await pool.query("select blocked from users where iss = $1 and sub = $2", [
    iss,
    sub,
  ]);
  return rows[0]?.blocked === true;
};

const auth = idpAuth({
  async onSignIn(user) {
    if (await isBlocked(user)) return deny("This account is blocked.");
  },
});
auth.mount(app);
app.use(auth.csrf);

const notBlocked = auth.idpRequiredWith({ allow: async (session) => !(await isBlocked(session)) });
const adminOnly = auth.idpRequiredWith({ allow: hasClaim("groups", "admin") });

app.post("/admin/block", adminOnly, express.json(), async (req, res) => {
  const { iss, sub } = req.body; // of the user to block
  await pool.query("update users set blocked = true where iss = $1 and sub = $2", [iss, sub]);
  res.json({ ended: await auth.endAllSessions({ iss, sub }) });
});

app.get("/orders", notBlocked, (req, res) => {
  res.json([]);
});
// #endregion
