import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";

export const app = express();
const auth = idpAuth();

// #region log
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Request } from "express";
import { pinoHttp } from "pino-http";

const withUser = (req: IncomingMessage, _res: ServerResponse, line: object) => ({
  ...line,
  user: auth.seenSession(req as Request)?.user.id ?? null,
});

app.use(
  pinoHttp({
    serializers: {
      req: ({ id, method, url }) => ({ id, method, path: url.split("?")[0] }),
      res: ({ statusCode }) => ({ statusCode }),
    },
    customSuccessObject: withUser,
    customErrorObject: (req, res, _error, line) => withUser(req, res, line),
  }),
);
auth.mount(app);
// #endregion

app.get("/reports", auth.idpRequired, (_req, res) => {
  res.send("passed");
});
app.get("/admin", auth.idpRequiredWith({ allow: hasClaim("groups", "admin") }), (_req, res) => {
  res.send("passed");
});
app.get("/transfer", auth.idpRequiredWith({ maxAge: 60 }), (_req, res) => {
  res.send("passed");
});
app.get("/broken", auth.idpRequired, () => {
  throw new Error("This route is broken.");
});
