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
    clearOldCookies(req, res); // so that a logout doesn't bring the old session back
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

function clearOldCookies(req: Request, res: Response) {
  for (const pair of req.headers.cookie?.split("; ") ?? []) {
    const name = pair.slice(0, pair.indexOf("="));
    if (/^(__Secure-|__Host-)?authjs\./.test(name)) res.clearCookie(name, { secure: true });
  }
}

app.get("/orders", signedIn, async (req, res) => {
  res.json(await userIdOf(req, res));
});

app.get("/sign-out", (req, res) => {
  clearOldCookies(req, res);
  res.redirect("/idpauth/logout/");
});
// #endregion

export { app };
