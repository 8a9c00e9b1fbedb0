import express from "express";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();

// #region log
import type { Request } from "express";
import morgan from "morgan";

morgan.token("user", (req: Request) => auth.seenSession(req)?.user.id ?? "-");
morgan.token("path", (req: Request) => req.originalUrl.split("?")[0]);

app.use(morgan(":date[iso] :method :path :status :response-time ms user=:user"));
auth.mount(app);
// #endregion

app.get("/reports", auth.idpRequired, (_req, res) => {
  res.send("passed");
});
app.get("/broken", auth.idpRequired, () => {
  throw new Error("This route is broken.");
});
