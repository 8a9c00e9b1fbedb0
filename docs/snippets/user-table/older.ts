import express from "express";

// #region older
import type { Request } from "express";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({ onSignIn: () => ({ data: { userId: 7 } }) });

async function userIdOf(req: Request): Promise<number> {
  const { data } = await auth.requireSession(req); // data.userId: number | undefined
  if (data.userId === undefined) throw new Error("This session is older than the hook.");
  return data.userId;
}
// #endregion

export { auth };
export const app = express();
auth.mount(app);
app.get("/orders", auth.idpRequired, async (req, res) => {
  res.json(await userIdOf(req).catch(String));
});
