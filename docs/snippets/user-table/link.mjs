import express from "express";
import { confirmPage, startPage } from "./link-pages.mjs";
import { pool } from "./pool.mjs";

export const app = express();

// #region link
import { createHash, randomBytes } from "node:crypto";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  async onSignIn({ claims }) {
    const { rows } = await pool.query(
      "select user_id from identities where iss = $1 and sub = $2",
      [claims.iss, claims.sub],
    );
    return { data: { userId: rows.length === 0 ? null : Number(rows[0].user_id) } };
  },
  async onSignOut({ reason, subject }) {
    if (reason === "replaced") return; // by the sign-in at the second provider
    const { iss, sub } = subject;
    await pool.query(
      "delete from link_intents where (from_iss, from_sub) = ($1, $2) or (to_iss, to_sub) = ($1, $2)",
      [iss, sub],
    );
  },
});
auth.mount(app);
app.use(auth.csrf);

const COOKIE = "__Host-Http-link";
const ATTRIBUTES = /** @type {const} */ ({
  path: "/",
  secure: true,
  httpOnly: true,
  sameSite: "lax",
});
/** @param {string} token */
const hashOf = (token) => createHash("sha256").update(token).digest("hex");
/** @param {express.Request} req */
const intentOf = (req) =>
  hashOf(
    /(?:^|; )__Host-Http-link=([\w-]{43})(?:;|$)/.exec(req.headers.cookie ?? "")?.[1] ?? "none",
  );

const first = auth.idpRequiredWith({ provider: "customers", maxAge: 300 });
const second = auth.idpRequiredWith({ provider: "staff", maxAge: 300 });

app.get("/account/link", first, async (req, res) => {
  const { user } = await auth.requireSession(req);
  res.send(startPage(user.email)); // a form that posts to /account/link
});

app.post("/account/link", first, async (req, res) => {
  const { claims, user } = await auth.requireSession(req);
  const token = randomBytes(32).toString("base64url");
  await pool.query(
    `insert into link_intents (from_iss, from_sub, from_email, token, expires_at) values ($1, $2, $3, $4, now() + interval '5 minutes')
     on conflict (from_iss, from_sub) do update
     set from_email = $3, token = $4, expires_at = excluded.expires_at, to_iss = null, to_sub = null`,
    [claims.iss, claims.sub, user.email, hashOf(token)],
  );
  res.cookie(COOKIE, token, ATTRIBUTES).redirect(303, "/account/link/confirm");
});

app.get("/account/link/confirm", second, async (req, res) => {
  const { claims, user } = await auth.requireSession(req);
  const { rows } = await pool.query(
    `update link_intents set to_iss = $2, to_sub = $3
     where token = $1 and expires_at > now() and (to_iss is null or (to_iss, to_sub) = ($2, $3)) returning from_email`,
    [intentOf(req), claims.iss, claims.sub],
  );
  if (rows.length === 0)
    return void res.status(409).send("Start again with your customer account.");
  // a form that posts to /account/link/confirm
  res.send(confirmPage(rows[0].from_email, user.email));
});

app.post("/account/link/confirm", second, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  const { rows } = await pool.query(
    `with intent as (
       delete from link_intents where token = $1 and (to_iss, to_sub) = ($2, $3) and expires_at > now() returning from_iss, from_sub
     )
     insert into identities (iss, sub, user_id)
     select $2, $3, user_id from intent join identities on (iss, sub) = (from_iss, from_sub)
     on conflict (iss, sub) do nothing returning user_id`,
    [intentOf(req), claims.iss, claims.sub],
  );
  res.clearCookie(COOKIE, ATTRIBUTES);
  if (rows.length === 0)
    return void res
      .status(409)
      .send("The accounts aren't linked. Start again with your customer account.");
  await auth.updateData(req, (data) => ({ ...data, userId: Number(rows[0].user_id) }));
  res.send("The accounts are linked.");
});
// #endregion

app.get("/orders", auth.idpRequired, async (req, res) => {
  const { data } = await auth.requireSession(req);
  res.json({ userId: data.userId });
});
