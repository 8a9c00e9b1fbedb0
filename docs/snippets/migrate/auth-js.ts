import { pool } from "../user-table/pool.mjs";
import { old } from "./old.js";

// #region both
import express, { type Request, type RequestHandler, type Response } from "express";
import { deny } from "idpauth";
import { idpAuth } from "idpauth/express";

const app = express();
const auth = idpAuth({
  async onSignIn({ claims }) {
    const { rows } = await pool.query(
      `select "userId" from accounts where provider = 'company' and "providerAccountId" = $1`,
      [claims.sub],
    );
    return rows.length === 0 ? deny() : { data: { userId: String(rows[0].userId) } };
  },
});
auth.mount(app);

const signedIn: RequestHandler = async (req, res, next) => {
  if ((await auth.getSession(req)) !== null) {
    await endOldSession(req, res); // so that a logout doesn't bring the old session back
    return auth.idpRequired(req, res, next);
  }
  res.locals["oldUserId"] = await old.userId(req);
  if (res.locals["oldUserId"] !== undefined) return next();
  if (process.env["SIGN_IN_WITH"] === "idpauth") return auth.idpRequired(req, res, next);
  res.redirect("/auth/signin");
};

async function userIdOf(req: Request, res: Response): Promise<string | undefined> {
  const oldUserId = res.locals["oldUserId"] as string | undefined;
  return oldUserId ?? (await auth.requireSession(req)).data.userId;
}

async function endOldSession(req: Request, res: Response) {
  const pairs = (req.headers.cookie ?? "").split("; ");
  const names = pairs.map((pair) => pair.slice(0, pair.indexOf("=")));
  const own = names.filter((name) => /^(__Secure-|__Host-)?authjs\./.test(name));
  if (own.length > 0) await old.endSession(req);
  for (const name of own) res.clearCookie(name, { secure: true });
}

app.get("/orders", signedIn, async (req, res) => {
  res.json(await userIdOf(req, res));
});

app.get("/sign-out", async (req, res) => {
  await endOldSession(req, res);
  res.redirect("/idpauth/logout/");
});
// #endregion

export { app };
