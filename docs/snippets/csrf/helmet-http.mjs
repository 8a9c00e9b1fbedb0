import express from "express";
import helmet from "helmet";
import { idpAuth } from "idpauth/express";

const app = express();
// #region helmet
app.use(
  helmet({
    contentSecurityPolicy: { directives: { "upgrade-insecure-requests": null } },
    referrerPolicy: { policy: "same-origin" },
  }),
);
// #endregion

const auth = idpAuth();
auth.mount(app);
app.use(auth.csrf);

export { app };
