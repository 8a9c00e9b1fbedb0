// @ts-check
import express from "express";
import { idpAuth } from "idpauth/express";

/**
 * @param {import("idpauth").IdpAuthOptions} [options] settings that do not come from the
 *   environment
 */
export function createApp(options) {
  const app = express();
  const auth = idpAuth(options);
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) => {
    const { user } = await auth.requireSession(req);
    res.json({ for: user.email });
  });
  return { app, auth };
}
