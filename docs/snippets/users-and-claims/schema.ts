import express from "express";

export const app = express();

// #region schema
import { z } from "zod";
import { idpAuth } from "idpauth/express";

const auth = idpAuth({
  claims: z.object({ groups: z.array(z.string()).default([]) }),
});
auth.mount(app);

app.get("/groups", auth.idpRequired, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.json(claims.groups); // string[]
});
// #endregion
